"""Findings and runs in the reader's scope, all studies together."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, Min, Q
from django.utils.timezone import now

from engines.models import PendingAction, TaskRun
from house import clock
from projects.scoping import User, held

DAYS = 7
_AT_WORK = (TaskRun.Status.RUNNING, TaskRun.Status.SUSPENDED)
_COLOURS = {"violation": "danger", "warning": "warning", "review_required": "info"}


def findings(user: User) -> dict[str, Any]:
    """Open findings by kind, and those due: the person's own, past their day, within a week."""
    rows = PendingAction.objects.for_user(user).filter(open_key__isnull=False).order_by()
    today = clock.today(settings.TIME_ZONE)
    kinds = {kind.value: Count("pk", filter=Q(action_type=kind)) for kind in PendingAction.Kind}
    me = {member.identity for member in held(user)}
    counts = rows.aggregate(
        **kinds,
        mine=Count("pk", filter=Q(assignee__in=me)),
        past=Count("pk", filter=Q(due_on__lt=today)),
        week=Count("pk", filter=Q(due_on__gte=today, due_on__lte=today + timedelta(days=DAYS))),
    )
    return counts | {
        "kinds": [
            {
                "value": kind.value,
                "label": kind.label,
                "count": counts[kind.value],
                "colour": _COLOURS[kind],
            }
            for kind in PendingAction.Kind
        ]
    }


def runs(user: User) -> dict[str, Any]:
    """Runs of the last days by status."""
    since = now() - timedelta(days=DAYS)
    rows = TaskRun.objects.for_user(user).filter(created_at__gte=since).order_by()
    told = rows.values_list("status").annotate(Count("pk"), Min("created_at"))
    counts = {status: count for status, count, _oldest in told}
    oldest = {status: at for status, _count, at in told}
    parts = [
        {
            "value": status.value,
            "label": status.label,
            "count": counts[status],
            "colour": TaskRun.COLOURS[status] or "none",
            "oldest": oldest[status] if status in _AT_WORK else None,
        }
        for status in TaskRun.Status
        if status in counts
    ]
    return {"total": sum(counts.values()), "parts": parts}
