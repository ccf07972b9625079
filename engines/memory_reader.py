"""Reading a message for the Memory Manager with the small model (memory.people owns the registry)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from engines.assistant.context import marked
from integrations.llm import LlmProtocolError, Message
from llm import prompts
from llm.asking import Llm
from llm.job_llm import lent, valid_rows
from memory.people.extraction import (
    MAX_TOKENS,
    TEMPERATURE,
    TURNS,
    Brief,
    ExtractorDown,
    Heard,
    Item,
)
from memory.people.schemas import Schema
from privacy.gate import Gate
from study.request_cache import Reader


class _Read(BaseModel):
    """One field as the model writes it."""

    field: str
    value: str | int | float | bool | None = None
    quote: str = ""


def read(brief: Brief) -> Heard:
    """What the model points at in the user's words; at most two turns, the second for a broken answer.

    Raises memory.people.extraction.ExtractorDown when no model answers.
    """
    member = brief.member
    reader = Reader(member.project, member)
    with lent(reader, ExtractorDown, user_id=member.identity) as (llm, gate):
        said = gate.text(brief.message, own=True)
        items = _asked(llm, gate, _messages(brief, gate), brief.schema)
    return Heard(str(said), items, llm.save)


def _messages(brief: Brief, gate: Gate) -> tuple[str, list[Message]]:
    prompt = prompts.load("extract", fields=_fields(brief.schema), known=_known(brief.known, gate))
    words = marked(gate.text(brief.message, own=True))
    return prompt.version, [
        Message("system", gate.text(prompt.text)),
        Message("user", gate.text(words)),
    ]


def _fields(schema: Schema) -> str:
    """`- age: 年龄`, with the values where a field has a closed list."""
    rows = []
    for slot in schema.said:
        values = " / ".join(slot.choices) or ("true / false" if slot.kind == "boolean" else "")
        rows.append(f"- {slot.name}: {slot.label}{f' ({values})' if values else ''}")
    return "\n".join(rows)


def _known(known: Mapping[str, Any], gate: Gate) -> str:
    """What is kept, or 无; the gate is passed here too, since older rows may name a hidden subject."""
    return str(gate.text(json.dumps(known, ensure_ascii=False))) if known else "无"


def _asked(
    llm: Llm, gate: Gate, given: tuple[str, list[Message]], schema: Schema
) -> Sequence[Item]:
    version, messages = given
    for turn in range(TURNS):
        done = llm.ask(
            messages,
            purpose="remember",
            version=version,
            schema=_form(schema),
            temperature=TEMPERATURE,
            top_p=1.0,
            max_tokens=MAX_TOKENS,
        )
        try:
            return _items(done.json())
        except LlmProtocolError:
            if turn + 1 == TURNS:
                break
            again = prompts.load("extract_again")
            said = Message("assistant", gate.text(done.content or "-"))
            messages = [*messages, said, Message("user", gate.text(again.text))]
    return []


def _form(schema: Schema) -> dict[str, Any]:
    item = {
        "type": "object",
        "properties": {
            "field": {"type": "string", "enum": [slot.name for slot in schema.said]},
            "value": {"type": "string"},
            "quote": {"type": "string"},
        },
        "required": ["field", "value", "quote"],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"items": {"type": "array", "items": item}},
        "required": ["items"],
        "additionalProperties": False,
    }


def _items(said: Mapping[str, Any]) -> list[Item]:
    """The well-formed items. Raises LlmProtocolError where there is no list."""
    given = said.get("items")
    if not isinstance(given, list):
        raise LlmProtocolError(200, "no items")
    return [Item(one.field, one.value, one.quote) for one in valid_rows(_Read, given)]
