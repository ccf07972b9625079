"""What the daily distillation reads: the day's stored statements and feedback counts, never the raw log."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Q

from memory.hot import asked
from memory.hot.distiller import Item
from memory.hot.proposals import FEEDBACK
from memory.log import flow_log
from memory.models import UserMemory
from memory.people import fact_store
from projects.models import Project

# Lines of a profile that a user's own words fill (seed 002, 3.4); one value, or several lines.
SINGLE = ("最佳通知时间",)
LABELS = ("偏好", "关注点", "禁令", *SINGLE)
_MOST = 200


def bounds(project: Project, day: date) -> tuple[datetime, datetime]:
    """Midnight to midnight in the project's zone."""
    zone = ZoneInfo(project.timezone)
    first = datetime.combine(day, time.min, zone)
    return first, datetime.combine(day + timedelta(days=1), time.min, zone)


def statements(project: Project, day: date) -> list[Item]:
    """What users said about themselves (their preferences) and what they proposed, oldest first.

    Without what already stands before the editors (`asked`).
    """
    since, until = bounds(project, day)
    rows = UserMemory.objects.for_all(project).filter(
        created_at__gte=since, created_at__lt=until, superseded_by=None
    )
    durable = Q(memory_type=UserMemory.Kind.PREFERENCE) | Q(field__in=LABELS)
    rows = rows.filter(Q(category=fact_store.PROPOSAL) | durable, expires_at=None)
    found = [
        Item(
            id=str(row.pk),
            user_id=row.user_id,
            text=row.content,
            field=row.field,
            is_own=row.category != fact_store.PROPOSAL,
            at=row.created_at,
        )
        for row in rows.order_by("created_at")[:_MOST]
    ]
    return asked.without_proposed(project, found)


def feedback(project: Project, day: date) -> list[Item]:
    """The day's 👍/👎 of each user, as counts."""
    since, until = bounds(project, day)
    counted: dict[str, list[str]] = defaultdict(list)
    for user_id, value, reason, times in flow_log.feedback_counts(project, since, until):
        sign = "👍" if value == flow_log.Feedback.UP else "👎"
        counted[user_id].append(f"{sign}{f' {reason}' if reason else ''} {times}")
    return list(_as_items(counted, until))


def _as_items(counted: dict[str, list[str]], at: datetime) -> Iterator[Item]:
    for user_id, shown in counted.items():
        yield Item(f"{FEEDBACK}{user_id}", user_id, " / ".join(shown), "feedback", False, at)
