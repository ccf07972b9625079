"""Review nodes: a person is asked (seed 001, 4.3)."""

from __future__ import annotations

from engines.sop.nodes.base import NodeType, Question, Skipped, Visit
from skills.graph import Node


def _ask(visit: Visit) -> Question:
    return Question(visit.node.description, ("on_approve", "on_reject"))


def _rehearse(node: Node, _asks_llm: bool) -> Skipped:
    return Skipped("would_ask_person", node.description)


TYPE = NodeType(_ask, rehearse=_rehearse)
