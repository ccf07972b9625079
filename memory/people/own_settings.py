"""What members set for themselves on purpose, told with what held before, and taken back.

What somebody says in passing changes no setting: of a message that the house reads by itself, fields that steer
it (`Slot.setting`) and how long replies may be are never kept (`turns`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import time
from uuid import UUID

from django.utils.timezone import now

from core.language import clock_times
from memory.hot import injection
from memory.hot.tombstones import Guard
from memory.models import MemoryTurn, UserMemory
from memory.people import fact_store
from memory.people.quotes import letters_of
from projects import audit
from projects.models import Member

FIELD = "最佳通知时间"
NAMES = (FIELD, "通知时间", "best_notification_time")
_LABEL = re.compile("|".join(NAMES), re.IGNORECASE)
# Instead of an identifier or a name: [电话], the id of a subject.
_PUT_IN = re.compile(r"\[[^\[\]]*\]|[A-Za-z]*-?\d+")


@dataclass(frozen=True)
class Changed:
    """A setting before and after; `row` is what `take_back` takes."""

    old: time | None
    new: time
    row: UserMemory


def best_time(member: Member) -> time | None:
    """When the member likes to be told; None where nobody said so.

    A line that an editor removed from hot memory counts no more, whoever said it.
    """
    guard = Guard(member.project)
    rows = fact_store.active(member).filter(field__in=NAMES).order_by("-created_at")
    said = [
        f"{row.value or ''} {row.content}"
        for row in rows
        if not guard.blocks(row.content, profile=member.identity)
    ]
    profile = injection.profile_of(injection.hot_text(member.project), member.identity)
    said += [line[label.end() :] for line in profile if (label := _LABEL.search(line))]
    return next((found for text in said if (found := clock_times.parse(text))), None)


def set_notice_time(member: Member, clock: time, quote: str) -> Changed:
    """Keep the member's 最佳通知时间; inside the caller's transaction."""
    fact_store.claim(member.project_id, member.identity)
    old, shown = best_time(member), f"{clock:%H:%M}"
    detail = {"value": shown, "said": shown, "plain": shown, "quote": quote, "context": quote}
    [row] = fact_store.keep_fields(member, [(FIELD, detail)], now())
    return Changed(old, clock, row)


def _holds(message: str, told: str) -> bool:
    """Whether a message may be what told it; what the gate put in stands for anything."""
    said = letters_of(message)
    return all(letters_of(piece) in said for piece in _PUT_IN.split(told))


def take_back(member: Member, pk: UUID | str) -> UserMemory | None:
    """Undo what was kept, and what was read out of it since; what held before holds again.

    None where it is gone already. Inside the caller's transaction.
    """
    fact_store.claim(member.project_id, member.identity)
    mine = fact_store.rows_of(member)
    first = found = mine.filter(pk=pk).first()
    if first is None:
        return None
    chain: list[UserMemory] = []
    while found is not None:
        chain.append(found)
        found = mine.filter(pk=found.superseded_by_id).first() if found.superseded_by_id else None
    before = mine.filter(superseded_by__in=chain).exclude(pk__in=[row.pk for row in chain])
    keys = {row.field: row.active_key for row in chain if row.active_key}
    again = [*before]
    told = [one for row in chain for one in row.evidence.split("\n")]
    for row in chain:
        row.delete()
    for row in again:
        mine.filter(pk=row.pk).update(superseded_by=None, active_key=keys.pop(row.field, None))
    # A message that waits to be read would teach the same again.
    for turn in MemoryTurn.objects.filter(project_id=member.project_id, user_id=member.identity):
        if any(_holds(turn.user_message, one) for one in told):
            turn.delete()
    audit.record(
        "memory.take_back", actor=member, project=member.project, new={"fields": [first.field]}
    )
    return first
