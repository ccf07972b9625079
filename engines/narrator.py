"""Wording a week's conversations for the weekly report (memory.weekly.narrator owns the registry).

The one request that may carry text of the flow log (design.md 9.2), de-identified like every other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from engines import prompts
from engines.chat.turn import resolve
from engines.context import marked
from engines.llm import Llm
from engines.outgoing import gate_for
from integrations.llm import LlmError, LlmProtocolError, Message
from integrations.privacy import Gate, PrivacyError
from integrations.redcap import RedcapError
from memory.weekly.narrator import Brief, Claim, Line, NarratorDown, Said
from projects import identities, roster
from projects.client import NotConfiguredError
from projects.models import Subject
from projects.reader import Reader

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
    llm = Llm(brief.project)
    try:
        roster.ensure_fresh(brief.project)
        reader = Reader(brief.project)
        gate = llm.gate = gate_for(brief.project, None, reader)
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
    except (LlmError, PrivacyError, RedcapError, NotConfiguredError) as error:
        raise NarratorDown(type(error).__name__, llm.save) from error
    return Said(list(_claims(entries)), shown, llm.save)


def _shown(brief: Brief, gate: Gate, reader: Reader) -> Mapping[int, str]:
    """Every line as it goes out: names as record ids, identifiers masked."""
    names = _names(reader, "\n".join(line.text for line in brief.lines))
    texts = (resolve(line.text, names) for line in brief.lines)
    return {n: str(gate.text(text)) for n, text in enumerate(texts, 1)}


def _names(reader: Reader, text: str) -> dict[str, list[str]]:
    """{name of a subject in the text: records}, of the whole study."""
    ids = identities.resolve_name(reader.project, None, text, reader)
    fields = identities.name_fields(reader.metadata) if ids else frozenset()
    found: dict[str, list[str]] = {}
    for subject in Subject.objects.filter(project=reader.project, record_id__in=ids):
        stored: dict[str, str] = json.loads(subject.identifiers)
        for key, value in stored.items():
            if key.partition("#")[0] in fields and value.strip() and value.strip() in text:
                found.setdefault(value.strip(), []).append(subject.record_id)
    return found


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


def _claims(entries: Sequence[object]) -> Iterator[Claim]:
    for given in entries:
        try:
            entry = _Entry.model_validate(given)
        except ValidationError:
            continue
        yield Claim(entry.section, entry.text, entry.row, entry.quote)
