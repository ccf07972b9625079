"""Review nodes: a person is asked (seed 001, 4.3)."""

from __future__ import annotations

from engines.sop.nodes.base import NodeType, Question, Skipped

TYPE = NodeType(
    lambda visit: Question(visit.node.description, ("on_approve", "on_reject")),
    rehearse=lambda node, _asks_llm: Skipped("would_ask_person", node.description),
)
