"""The reader's 最佳通知时间: as they said it themselves, else of their profile in hot memory."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import time

from language.clock_times import parse
from memory.hot import injection
from memory.hot.tombstones import Guard
from memory.people import fact_store
from projects.models import Member

FIELD = "最佳通知时间"
NAMES = (FIELD, "通知时间", "best_notification_time")
_LABEL = re.compile("|".join(NAMES), re.IGNORECASE)


def best_time(member: Member) -> time | None:
    """When the member likes to be told; None where nobody said so.

    A line that an editor removed from hot memory counts no more, whoever said it.
    """
    return next((found for text in _said(member) if (found := parse(text))), None)


def _said(member: Member) -> Iterator[str]:
    rows = fact_store.active(member).filter(field__in=NAMES)
    guard = Guard(member.project)
    for row in rows.order_by("-created_at"):
        if not guard.blocks(row.content, profile=member.identity):
            yield f"{row.value or ''} {row.content}"
    for line in injection.profile_of(injection.read(member.project), member.identity):
        if label := _LABEL.search(line):
            yield line[label.end() :]
