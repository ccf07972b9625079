"""What a user said since: a field has one value, and the newest word is theirs.

The line of one's own profile in hot memory, and a statement kept word for word, give way to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from language import clock_times
from memory.models import UserMemory
from memory.people import clauses, fact_store
from memory.people.grounding import plain
from memory.people.schemas import (
    Slot,
    current,
    load,
    pattern,
)

_LABEL = re.compile("[:\uff1a]")
# "不对", "改一下": says nothing besides.
_FEW = 3


def slot_of(line: str) -> Slot | None:
    """The field that a line of a profile gives, by its label: `- **偏好**: 简洁`."""
    schema = current()
    return schema.slot(_field_of(schema.name, line))


@lru_cache(maxsize=2048)
def _field_of(schema: str, line: str) -> str:
    """By the line itself: those of a profile come with every message."""
    label, _colon, value = _LABEL.sub(":", line, count=1).partition(":")
    said = plain(label)
    named = (slot.name for slot in load(schema).said if said in map(plain, _names(slot)))
    return next(named, "") if value.strip("* ") else ""


def single(line: str) -> Slot | None:
    """The same where the field has one value only."""
    slot = slot_of(line)
    return slot if slot and not slot.many else None


def is_outdated(line: str, rows: Sequence[UserMemory]) -> bool:
    """Whether a line of the user's profile gives a field of one value that the user gave themselves."""
    slot = single(line)
    return slot is not None and any(slot.name in fact_store.details(row) for row in rows)


def holding(rows: Sequence[UserMemory]) -> list[UserMemory]:
    """Rows without the statements of nothing but a time, where a newer row says another one."""
    slots = [slot for slot in current().said if slot.kind == "time" and not slot.many]
    return [row for row in rows if not any(_overruled(slot, row, rows) for slot in slots)]


def _overruled(slot: Slot, row: UserMemory, rows: Sequence[UserMemory]) -> bool:
    if row.field != fact_store.STATEMENT or not (said := time_said(slot, row.content)):
        return False
    cue = pattern(slot.cue)
    parts = clauses.split(clauses.folded(row.content))
    if not all(cue.search(part.text) or len(plain(part.text)) <= _FEW for part in parts):
        return False
    newer = (other for other in rows if other.created_at > row.created_at)
    return any(_told(slot, other) not in ("", said) for other in newer)


def _told(slot: Slot, row: UserMemory) -> str:
    if row.category == fact_store.PROPOSAL:
        return ""
    if row.field == fact_store.STATEMENT:
        return time_said(slot, row.content)
    detail = fact_store.details(row).get(slot.name)
    return _clock(str(detail["value"])) if detail else ""


def time_said(slot: Slot, statement: str) -> str:
    """ "16:00" of "以后下午四点通知我"; "" of a statement that does not speak of it."""
    text = clauses.folded(statement)
    cued = slot.kind == "time" and pattern(slot.cue).search(text)
    barred = slot.bars and pattern(slot.bars).search(text)
    return _clock(text) if cued and not barred else ""


def _clock(text: str) -> str:
    found = clock_times.parse(text)
    return f"{found:%H:%M}" if found else ""


def _names(slot: Slot) -> tuple[str, ...]:
    return slot.name, slot.label, *slot.words
