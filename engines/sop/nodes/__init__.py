"""What the nodes of a workflow do: a folder a type, found in this table."""

from __future__ import annotations

from collections.abc import Callable

from engines.models import TaskRun
from engines.sop.errors import Fault, Postponed
from engines.sop.nodes import hard_rule, human_review, notify, soft_instruction
from engines.sop.nodes.base import NodeType, Outcome, Visit
from engines.sop.study import Study
from skills.graph import Node

NODES: dict[str, NodeType] = {
    "hard_rule": hard_rule.TYPE,
    "human_review": human_review.TYPE,
    "notify": notify.TYPE,
    "soft_instruction": soft_instruction.TYPE,
}


def execute(
    node: Node, run: TaskRun, study: Study | None, keep_alive: Callable[[], None] = lambda: None
) -> Outcome:
    """What came of a node; nothing is stored. `keep_alive` may raise to stop slow work."""
    try:
        return NODES[node.type].work(Visit(node, run, study, keep_alive))
    except (Fault, Postponed) as problem:
        return problem
