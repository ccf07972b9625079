"""Wording a week's conversations for the weekly report (memory.reports.narrator owns the registry).

The one request that may carry text of the flow log (design.md 9.2), de-identified like every other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from engines.assistant.chat.turn import resolve
from engines.assistant.context import marked
from integrations.llm import LlmProtocolError, Message
from llm import prompts
from llm.job_llm import lent, valid_rows
from memory.reports.narrator import (
    Brief,
    Claim,
    Line,
    NarratorDown,
    Said,
)
from privacy.gate import Gate
from projects.endpoints import Purpose
from study import identities
from study.request_cache import Reader

MAX_TOKENS = 2000
# An answer of the assistant is context only, nobody may cite it.
_ANSWER = 200
_ENTRY = {
    "type": "object",
    "properties": {
        "section": {"type": "string", "enum": ["decision", "progress", "pitfall", "todo"]},
        "text": {"type": "string"},
        "row": {"type": "integer"},
        "quote": {"type": "string"},
    },
    "required": ["section", "text", "row", "quote"],
    "additionalProperties": False,
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"entries": {"type": "array", "items": _ENTRY}},
    "required": ["entries"],
    "additionalProperties": False,
}


class _Entry(BaseModel):
    section: str
    text: str
    row: int
    quote: str


def narrate(brief: Brief) -> Said:
    """The model's claims about one part of a week. Raises NarratorDown when it gives no usable answer."""
    reader = Reader(brief.project)
    with lent(reader, NarratorDown, purpose=Purpose.ENGINES) as (llm, gate):
        shown = _shown(brief, gate, reader)
        prompt = prompts.load("weekly", lines=marked(_numbered(brief.lines, shown)))
        done = llm.ask(
            [Message("user", gate.text(prompt.text))],
            purpose="weekly",
            version=prompt.version,
            schema=SCHEMA,
            temperature=0,
            max_tokens=MAX_TOKENS,
        )
        entries = done.json().get("entries")
        if not isinstance(entries, list):
            raise LlmProtocolError(200, "no entries")
    claims = [Claim(e.section, e.text, e.row, e.quote) for e in valid_rows(_Entry, entries)]
    return Said(claims, shown, llm.save)


def _shown(brief: Brief, gate: Gate, reader: Reader) -> Mapping[int, str]:
    """Every line as it goes out: names as record ids, identifiers masked."""
    names = identities.names_in(reader, "\n".join(line.text for line in brief.lines))
    texts = (resolve(line.text, names) for line in brief.lines)
    return {n: str(gate.text(text)) for n, text in enumerate(texts, 1)}


def _numbered(lines: Sequence[Line], shown: Mapping[int, str]) -> str:
    """`[3] 用户2: …`: who is who stays here, the model gets numbers."""
    people = {user: n for n, user in enumerate(dict.fromkeys(line.user_id for line in lines), 1)}
    rows = (
        f"[{n}] 用户{people[line.user_id]}: {shown[n]}"
        if line.is_user
        else f"[{n}] 助手: {shown[n][:_ANSWER]}"
        for n, line in enumerate(lines, 1)
    )
    return "\n".join(rows)
