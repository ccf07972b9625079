"""Wording changes of hot memory with the small model: the day's distillation, and a shorter text.

`memory.hot.distiller` owns the registry.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, Field

from engines.assistant.context import marked
from integrations.llm import Message
from language.values import PLACEHOLDER
from llm import prompts
from llm.asking import Llm
from llm.job_llm import lent, valid_rows
from memory.hot.distiller import (
    Brief,
    DistillerDown,
    Said,
    Shortened,
    Summary,
)
from memory.hot.proposals import Change
from memory.hot.text import Kind, Line, lines
from privacy.gate import Gate
from projects.models import Project
from study.request_cache import Reader

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


SHORTER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "summaries": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "text": {"type": "string"},
                    "of": {"type": "array", "items": {"type": "integer"}},
                },
                "required": ["text", "of"],
                "additionalProperties": False,
            },
        }
    },
    "required": ["summaries"],
    "additionalProperties": False,
}


class _Summary(BaseModel):
    """One line of a shorter text as the model writes it."""

    text: str
    of: list[int]


class _Proposed(BaseModel):
    """One change as the model writes it: numbers for lines and evidence."""

    action: str
    section: str
    user_id: str = ""
    line: int = 0
    new: str = ""
    evidence: list[int] = Field(default_factory=list)


def distil(brief: Brief) -> Said:
    """The model's changes. Raises memory.hot.distiller.DistillerDown when it gives no usable answer."""
    with lent(Reader(brief.project), DistillerDown) as (llm, gate):
        said = _asked(llm, gate, _prompt(brief, gate), "distil", SCHEMA)
    return Said(changes(said, brief), llm.save)


def shorten(project: Project, texts: Sequence[str]) -> Shortened:
    """The model's summaries of these lines. Raises memory.hot.distiller.DistillerDown."""
    with lent(Reader(project), DistillerDown) as (llm, gate):
        numbered = "\n".join(f"{n}: {text}" for n, text in enumerate(texts, 1))
        prompt = prompts.load("shorten", lines=marked(gate.text(numbered)))
        said = _asked(llm, gate, prompt, "shorten", SHORTER)
    rows = valid_rows(_Summary, said.get("summaries"))
    made = [Summary(row.text, row.of) for row in rows if not PLACEHOLDER.search(row.text)]
    return Shortened(made, llm.save)


def _asked(
    llm: Llm, gate: Gate, prompt: prompts.Prompt, purpose: str, schema: dict[str, Any]
) -> Mapping[str, Any]:
    done = llm.ask(
        [Message("user", gate.text(prompt.text))],
        purpose=purpose,
        version=prompt.version,
        schema=schema,
        temperature=0,
        max_tokens=MAX_TOKENS,
    )
    return done.json()


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
