"""Reading a message for the Memory Manager with the small model (seed 004, 7).

The model points: field, value, quote, of whom it is said and how. What holds is decided by `grounding`
against the user's words.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.integrations.llm import LlmProtocolError, Message
from core.llm import prompts
from core.llm.job_llm import form_of, llm_session, valid_rows
from core.llm.prompts import marked
from memory.people.grounding import Grounded, Item, accept
from memory.people.schemas import Schema
from projects.models import Member
from study.request_cache import Reader

# Turns of the inner loop of save_info, the second for a broken answer; the other actions need no model.
TURNS = 2
MAX_TOKENS = 1000
TEMPERATURE = 0.0


@dataclass(frozen=True)
class Heard:
    """The message as it went out (identifiers masked), what the model points at, and its usage to write."""

    said: str
    items: Sequence[Item]
    save: Callable[[], None]


def read_message(member: Member, schema: Schema, message: str, known: Mapping[str, Any]) -> Heard:
    """What the model points at in the user's own words; it never gets the assistant's. Raises ModelDown.

    `known`: what is kept; the gate is passed here too, since older rows may name a hidden subject.
    """
    form = form_of(
        "items",
        field={"type": "string", "enum": [slot.name for slot in schema.said]},
        value={"type": "string"},
        quote={"type": "string"},
        of_speaker={"type": "boolean"},
        stated={"type": "boolean"},
    )
    with llm_session(Reader(member.project, member), user_id=member.identity) as (llm, gate):
        said = gate.text(message, own=True)
        held = str(gate.text(json.dumps(known, ensure_ascii=False))) if known else "无"
        prompt = prompts.load_prompt("extract", fields=_fields(schema), known=held)
        words = gate.text(marked(said))
        messages = [Message("system", gate.text(prompt.text)), Message("user", words)]
        for _turn in range(TURNS):
            done = llm.ask(
                messages,
                purpose="remember",
                version=prompt.version,
                schema=form,
                temperature=TEMPERATURE,
                top_p=1.0,
                max_tokens=MAX_TOKENS,
            )
            try:
                rows = done.json().get("items")
            except LlmProtocolError:
                rows = None
            if isinstance(rows, list):
                return Heard(str(said), [*valid_rows(Item, rows)], llm.save)
            again = gate.text(prompts.load_prompt("extract_again").text)
            answer = Message("assistant", gate.text(done.content or "-"))
            messages = [*messages, answer, Message("user", again)]
    return Heard(str(said), [], llm.save)


def _fields(schema: Schema) -> str:
    """`- age: 年龄`, with the values where a field has a closed list."""
    rows = []
    for slot in schema.said:
        values = " / ".join(slot.choices) or ("true / false" if slot.kind == "boolean" else "")
        rows.append(f"- {slot.name}: {slot.label}{f' ({values})' if values else ''}")
    return "\n".join(rows)


def grounded(heard: Heard, schema: Schema) -> list[Grounded]:
    """The items that hold against the user's words, in the order of the schema, each once."""
    found: dict[tuple[str, str], Grounded] = {}
    for item in heard.items:
        slot = schema.slot(item.field)
        if slot is None or slot.source != "said":
            continue
        one = accept(slot, item, heard.said)
        if one is not None:
            found.setdefault((slot.name, one.plain), one)
    order = {slot.name: at for at, slot in enumerate(schema.fields)}
    return sorted(found.values(), key=lambda one: order[one.slot.name])
