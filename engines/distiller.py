"""Wording the daily distillation of hot memory with the small model (memory.distiller owns the registry)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from engines import prompts
from engines.context import marked
from engines.lent import lent, valid_rows
from integrations.llm import Message
from integrations.privacy import PLACEHOLDER, Gate
from memory.distiller import Brief, DistillerDown, Said
from memory.hot_proposals import Change
from memory.hot_text import Kind, Line, lines
from projects.reader import Reader

MAX_TOKENS = 1000
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "changes": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ["add", "change", "retire"]},
                    "section": {"type": "string", "enum": ["profiles", "current", "faq", "rules"]},
                    "user_id": {"type": "string"},
                    "line": {"type": "integer"},
                    "new": {"type": "string"},
                    "evidence": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["action", "section", "user_id", "line", "new", "evidence"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["changes"],
    "additionalProperties": False,
}


class _Proposed(BaseModel):
    """One change as the model writes it: numbers for lines and evidence."""

    action: str
    section: str
    user_id: str = ""
    line: int = 0
    new: str = ""
    evidence: list[int] = Field(default_factory=list)


def distil(brief: Brief) -> Said:
    """The model's changes. Raises memory.distiller.DistillerDown when it gives no usable answer."""
    with lent(Reader(brief.project), DistillerDown) as (llm, gate):
        prompt = _prompt(brief, gate)
        done = llm.ask(
            [Message("user", gate.text(prompt.text))],
            purpose="distil",
            version=prompt.version,
            schema=SCHEMA,
            temperature=0,
            max_tokens=MAX_TOKENS,
        )
        said = done.json()
    return Said(changes(said, brief), llm.save)


def _prompt(brief: Brief, gate: Gate) -> prompts.Prompt:
    memory = "\n".join(f"{n}: {line.text}" for n, line in enumerate(lines(brief.content), 1))
    items = "\n".join(
        f"[{n}] {item.user_id}({'本人' if item.is_own else '提议'}): {item.text}"
        for n, item in enumerate(brief.items, 1)
    )
    return prompts.load("distill", memory=marked(gate.text(memory)), items=marked(gate.text(items)))


def changes(said: Mapping[str, Any], brief: Brief) -> list[Change]:
    """The well-formed changes of an answer; line and evidence numbers resolved, others left out."""
    there = lines(brief.content)
    made = (_change(item, brief, there) for item in valid_rows(_Proposed, said.get("changes")))
    return [change for change in made if change]


def _change(item: _Proposed, brief: Brief, there: Sequence[Line]) -> Change | None:
    numbers = range(1, len(brief.items) + 1)
    # A masked identifier means nothing in a text that stays.
    if PLACEHOLDER.search(item.new) or any(n not in numbers for n in item.evidence):
        return None
    old = there[item.line - 1] if 0 < item.line <= len(there) else None
    kind = old.kind if old and item.action != "add" else _kind(item.section)
    profile = old.profile if old and item.action != "add" else item.user_id.strip()
    return Change(
        action=item.action,
        kind=kind,
        old=old.text if old and item.action != "add" else "",
        new="" if item.action == "retire" else item.new,
        profile=profile if kind is Kind.PROFILES else "",
        evidence=tuple(dict.fromkeys(brief.items[n - 1].id for n in item.evidence)),
    )


def _kind(section: str) -> Kind:
    return Kind(section) if section in set(Kind) else Kind.OTHER
