"""What members set for themselves on purpose, told with what held before, and taken back.

What somebody says in passing changes no setting: of a message that the house reads by itself, fields that steer
it (`Slot.setting`) are never kept (`turns`).
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from datetime import time
from uuid import UUID

from django.utils.timezone import now

from core.language import clock_times
from memory.hot import injection
from memory.hot.tombstones import Guard
from memory.models import MemoryTurn, UserMemory
from memory.people import clauses, fact_store
from projects import audit
from projects.models import Member

FIELD = "最佳通知时间"
NAMES = (FIELD, "通知时间", "best_notification_time")
_LABEL = re.compile("|".join(NAMES), re.IGNORECASE)
_NOTICE = r"通知|提醒|推送|消息"
# Beside the time and the notice nothing else stands in such an order, word for word.
_ORDER = re.compile(
    rf"(?:{_NOTICE}|以后|今后|往后|从现在起|从今天起|每天|每日|每次|有事|都|就|请|麻烦|帮我|把|将|给|我|你|您|的|最佳|时间|希望"
    r"|改[到成为]|设[为成置]|设定|调[到整]|放[到在]|定在|固定|统一|默认|一律|发|到|在|于|为|是|成|左右|再|最好|吧|好|行"
    r"|[,，:：。.!！、\s])+"
)
_REMINDS = re.compile(
    r"提醒(?:一[下声])?(?:我|咱|大家|一[下声]|[他她]|[\u4e00-\u9fff]{1,3}(?:护士|医生|主任|老师|PI))|(?<![到的收看条次])提醒[^,，。的]{0,6}$"
    r"|(?:设|定|加|建|弄)(?:置|定)?(?:一?个)?[^,，。]{0,4}(?:提醒|闹钟)|\bremind (?:me|us)\b",
    re.IGNORECASE,
)
# Said of how answers are to be given, not of a time: 以后每次提醒我先看结论.
_LASTING = re.compile(r"以后|今后|往后|每次|别|不要|不用|勿")
_IN_FUTURE = r"以后|今后|往后|每天|每日|每次|默认|一律|改|设|调|固定|统一|定在|放"
_MEANS = re.compile(rf"(?=.*(?:{_NOTICE}))(?=.*(?:{_IN_FUTURE}))", re.DOTALL)
_MINE = re.compile(rf"我|(?:{_NOTICE})时间")


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


def notice_time(text: str) -> time | None:
    """The time of the day at which a text orders notices from now on; None where it says anything else."""
    folded = unicodedata.normalize("NFKC", text)
    clock, rest = clock_times.exact(folded), clock_times.without(folded)
    is_order = bool(_ORDER.fullmatch(rest)) and bool(_MEANS.match(rest))
    return clock if is_order and clock_times.exact(rest) is None else None


def may_set_notice_time(text: str) -> bool:
    """Whether a text may be meant to say when notices are to come."""
    told = re.search(_NOTICE, text) and _MINE.search(text) and not clauses.denies(text)
    return bool(told) and clock_times.exact(text) is not None


def asks_reminder(text: str) -> bool:
    """Whether a text asks to be reminded of something later; not when notices are to come."""
    told = _REMINDS.search(text) and not _LASTING.search(text)
    return bool(told) and notice_time(text) is None


def set_notice_time(member: Member, clock: time, quote: str) -> Changed:
    """Keep the member's 最佳通知时间; inside the caller's transaction."""
    fact_store.claim(member.project_id, member.identity)
    old, shown = best_time(member), f"{clock:%H:%M}"
    detail = {"value": shown, "said": shown, "plain": shown, "quote": quote, "context": quote}
    [row] = fact_store.keep_fields(member, [(FIELD, detail)], now())
    return Changed(old, clock, row)


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
    for row in chain:
        row.delete()
    for row in again:
        mine.filter(pk=row.pk).update(superseded_by=None, active_key=keys.pop(row.field, None))
    # A message that waits to be read would teach the same again.
    MemoryTurn.objects.filter(project_id=member.project_id, user_id=member.identity).delete()
    audit.record(
        "memory.take_back", actor=member, project=member.project, new={"fields": [first.field]}
    )
    return first
