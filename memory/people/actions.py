"""The Memory Manager as documented (seed 004, 3 and 5 to 7): actions with inputs and outputs, and tools.

The actions are load_context, save_info and summarize. No model calls the tools: what is saved, and of whom,
is decided by the code around them. No model words a summary either: a worded one would be kept and read back
as if the user had said it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal

from django.utils.timezone import now
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from core.house.db import atomic
from memory.log import flow_log
from memory.models import UserMemory
from memory.people import extraction, fact_store, forgotten, length
from memory.people.extraction import Heard
from memory.people.grounding import Grounded
from memory.people.schemas import Schema, current
from projects.models import Member

Kind = Literal["FACT", "PREFERENCE", "INTENT"]
# Memories of which a summary is told when a session begins.
_ENOUGH = 3
_OPENING = "用户"


class _Shape(BaseModel):
    model_config = ConfigDict(extra="forbid", populate_by_name=True)


class LoadInput(_Shape):
    """`query`: the user's question."""

    action: Literal["load_context"] = "load_context"
    query: str


class SaveInput(_Shape):
    """`assistantMessage` is part of the contract and never a source: it is neither sent nor stored."""

    action: Literal["save_info"] = "save_info"
    user_message: str = Field(alias="userMessage")
    assistant_message: str | None = Field(default=None, alias="assistantMessage")
    existing_info: dict[str, Any] | None = Field(default=None, alias="existingInfo")


class SummarizeInput(_Shape):
    """No more than its name."""

    action: Literal["summarize"] = "summarize"


class Memory(_Shape):
    """One memory as `load_context` gives it; `createdAt` a date."""

    type: Kind
    content: str
    importance: int
    category: str | None = None
    created_at: str | None = Field(default=None, alias="createdAt")


class LoadOutput(_Shape):
    """The user's memories, most important first, and a summary where there is enough of them."""

    action: Literal["load_context"] = "load_context"
    memories: list[Memory]
    user_profile_summary: str | None = None
    total_memories: int


class SavedMemory(_Shape):
    """A row that was saved; `field` joins several by "+"."""

    memory_type: Kind = Field(alias="memoryType")
    content: str
    field: str


class SaveOutput(_Shape):
    """What was extracted and kept; `saved_count` = rows saved (decisions.md)."""

    action: Literal["save_info"] = "save_info"
    extracted_info: dict[str, Any]
    saved_count: int
    saved_memories: list[SavedMemory]
    skipped_fields: list[str]


class Completeness(_Shape):
    """score = round(100 · filled / (filled + missing)) (decisions.md)."""

    score: int
    filled_fields: list[str]
    missing_fields: list[str]


class SummarizeOutput(_Shape):
    """The profile by groups of the schema; unknown = null."""

    action: Literal["summarize"] = "summarize"
    user_profile: dict[str, dict[str, Any]]
    completeness: Completeness
    narrative_summary: str


Output = LoadOutput | SaveOutput | SummarizeOutput
_INPUT: TypeAdapter[LoadInput | SaveInput | SummarizeInput] = TypeAdapter(
    Annotated[LoadInput | SaveInput | SummarizeInput, Field(discriminator="action")]
)


def tool_definitions(schema: Schema) -> list[dict[str, Any]]:
    """The documented tools with their inputs; categories are those of the schema."""
    saved: dict[str, Any] = {
        "memoryType": {"type": "string", "enum": ["FACT", "PREFERENCE", "INTENT"]},
        "content": {"type": "string"},
    }
    if schema.categories:
        saved["category"] = {"type": "string", "enum": list(schema.categories)}
    return [
        {
            "name": "save_user_memory",
            "description": "将用户信息保存到长期记忆存储。每条记忆包含类型、内容和相关类别。",
            "input_schema": {
                "type": "object",
                "properties": saved,
                "required": ["memoryType", "content"],
            },
        },
        {
            "name": "get_user_context",
            "description": "获取用户的历史记忆和背景信息。返回按重要性和相关性排序的记忆列表。",
            "input_schema": {
                "type": "object",
                "properties": {"query": {"type": "string"}},
                "required": ["query"],
            },
        },
    ]


def invoke(member: Member, given: object) -> Output:
    """Run an action by its documented input. Raises pydantic.ValidationError, core.llm.job_llm.ModelDown."""
    asked = _INPUT.validate_python(given)
    if isinstance(asked, LoadInput):
        return load_context(member, asked.query)
    if isinstance(asked, SaveInput):
        return save_info(member, asked, at=now())
    return summarize(member)


def load_context(member: Member, query: str) -> LoadOutput:
    """What is known about the member; one turn, one tool call, no model."""
    rows = fact_store.get_user_context(member, query)
    memories = [
        Memory.model_validate(
            {
                "type": row.memory_type,
                "content": row.content,
                "importance": row.importance,
                "category": row.category or None,
                "createdAt": row.created_at.date().isoformat(),
            }
        )
        for row in rows
    ]
    summary = narrate(current(), rows, ()) if len(rows) >= _ENOUGH else None
    return LoadOutput(memories=memories, user_profile_summary=summary, total_memories=len(memories))


def save_info(member: Member, given: SaveInput, *, at: datetime) -> SaveOutput:
    """Read a message with the model and keep what holds. Raises ModelDown.

    `given.assistant_message` is no source: the model does not get it.
    """
    heard = hear(member, given)
    with atomic():
        fact_store.claim(member.project_id, member.identity)
        return keep_heard(member, given, heard, at=at)


def hear(member: Member, given: SaveInput) -> Heard:
    """What the model points at in the user's words; outside of any transaction. Raises ModelDown."""
    known = {**fact_store.known(member), **(given.existing_info or {})}
    return extraction.read_message(member, current(), given.user_message, known)


def keep_heard(
    member: Member, given: SaveInput, heard: Heard, *, at: datetime, in_passing: bool = False
) -> SaveOutput:
    """Store what holds of it; inside the caller's transaction and `fact_store.claim`.

    `at`: when the message came. `in_passing`: nobody asked to keep anything, so no setting changes.
    """
    heard.save()
    schema = current()
    by_field: dict[str, list[Grounded]] = defaultdict(list)
    for one in extraction.grounded(heard, schema):
        sets = one.slot.setting or length.limit(one.said) is not None or length.lifts(one.said)
        if not (in_passing and sets):
            by_field[one.slot.name].append(one)
    torn = {name for name, found in by_field.items() if len(found) > 1 and not found[0].slot.many}
    fresh: list[Grounded] = []
    skipped: list[str] = []
    for one in (one for name, found in by_field.items() if name not in torn for one in found):
        line = fact_store.as_line(schema, one.slot.name, one.detail)
        if fact_store.is_known(member, one, given.existing_info or {}, at):
            skipped.append(one.slot.name)
        elif not forgotten.holds(member, line, one, at):
            fresh.append(one)
    kept = fact_store.add_new(member, fresh, at)
    info: dict[str, Any] = {}
    for one in fresh:
        if one.slot.many:
            info.setdefault(one.slot.name, []).append(one.value)
        else:
            info[one.slot.name] = one.value
    for name in torn:
        fact_store.ask_about(member, name, by_field[name])
    saved = [
        SavedMemory.model_validate(
            {"memoryType": row.memory_type, "content": row.content, "field": row.field}
        )
        for row in kept
    ]
    return SaveOutput(
        extracted_info=info,
        saved_count=len(saved),
        saved_memories=saved,
        skipped_fields=list(dict.fromkeys(skipped)),
    )


def summarize(member: Member) -> SummarizeOutput:
    """The profile, how complete it is, and one paragraph; only what is kept, without a model."""
    schema = current()
    rows = fact_store.get_user_context(member, "")
    known = fact_store.known(member)
    counted = [slot for slot in schema.fields if slot.counted]
    filled = [slot.counted for slot in counted if known.get(slot.name) is not None]
    missing = [slot.counted for slot in counted if known.get(slot.name) is None]
    score = round(100 * len(filled) / len(counted)) if counted else 0
    return SummarizeOutput(
        user_profile=_profile(schema, rows, flow_log.feedback_of(member)),
        completeness=Completeness(score=score, filled_fields=filled, missing_fields=missing),
        narrative_summary=narrate(schema, rows, missing),
    )


def _profile(
    schema: Schema, rows: Sequence[UserMemory], feedback: str | None
) -> dict[str, dict[str, Any]]:
    """The values by groups of the schema as they are said ("32岁"); unknown = null."""
    said: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        for name, detail in fact_store.details(row).items():
            said[name].append(detail)
    found: dict[str, dict[str, Any]] = {}
    for slot in schema.fields:
        group, _dot, name = slot.out.partition(".")
        kind = "value" if slot.kind in ("boolean", "choice") else "said"
        values: Any = [detail[kind] for detail in said[slot.name]]
        if not slot.many or not values:
            values = values[0] if values else None
        if slot.out:
            value = feedback if slot.source == "feedback" else values
            found.setdefault(group, {})[name] = value
    return found


def narrate(schema: Schema, rows: Sequence[UserMemory], missing: Sequence[str]) -> str:
    """One paragraph: what is known, in the order of the schema, and what is not; "" for nothing."""
    if not rows:
        return ""
    order = {slot.name: at for at, slot in enumerate(schema.fields)}
    ranked = sorted(rows, key=lambda row: order.get(row.field.split("+")[0], len(order)))
    known = ",".join(dict.fromkeys(_clause(schema, row) for row in ranked))
    labels = [slot.label for slot in schema.fields if slot.counted and slot.counted in missing]
    unknown = f"尚未了解:{'、'.join(labels)}。" if labels else ""
    return f"{_OPENING}{known}。{unknown}"


def _clause(schema: Schema, row: UserMemory) -> str:
    slot = schema.slot(row.field)
    plain = row.content.removeprefix(_OPENING).rstrip("。.")
    # Kept before its memory had a wording: the value alone.
    is_value = row.content in (str(row.value), row.details.get(row.field, {}).get("said"))
    is_bare = slot is not None and (is_value or not schema.row(slot.name).parts)
    return f"{slot.label}:{plain}" if slot and is_bare else plain
