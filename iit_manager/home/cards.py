"""Cards of the first page: findings and runs, the audit trail, whether the house is well."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import CharField, Count, F, Min, Q, QuerySet, Sum, Value
from django.utils.timezone import now
from django.utils.translation import gettext

from core.house import clock, machine
from core.house.models import Heartbeat
from core.llm.asking import midnight_of
from core.llm.models import LlmUsage
from engines import redcap_asks
from engines.models import PendingAction, TaskRun
from iit_manager import health
from iit_manager.health import STALE
from projects import audit
from projects.models import AuditEntry, Project
from projects.scoping import User, held
from wechat.models import Alert, InboxMessage, OutboxMessage

SHOWN = 6
DAYS = 7
_AT_WORK = (TaskRun.Status.RUNNING, TaskRun.Status.SUSPENDED)
_COLOURS = {"violation": "danger", "warning": "warning", "review_required": "info"}


def findings(user: User, study: Project | None) -> dict[str, Any]:
    """Open findings by kind, and those due: the person's own, past their day, within a week.

    `study`: of this one only.
    """
    rows = PendingAction.objects.for_user(user).unclosed().order_by()
    rows = rows.filter(project=study) if study else rows
    today = clock.today(settings.TIME_ZONE)
    kinds = {kind.value: Count("pk", filter=Q(action_type=kind)) for kind in PendingAction.Kind}
    me = {member.identity for member in held(user)}
    counts = rows.aggregate(
        **kinds,
        mine=Count("pk", filter=Q(assignee__in=me)),
        past=Count("pk", filter=Q(due_on__lt=today)),
        week=Count("pk", filter=Q(due_on__gte=today, due_on__lte=today + timedelta(days=DAYS))),
    )
    asked = redcap_asks.asked_of(user) if redcap_asks.are_read(user) else None
    if asked is not None and study:
        asked = [one for one in asked if one[0] == study.pk]
    return counts | {
        "redcap": len(asked) if asked is not None else None,
        "kinds": [
            {
                "value": kind.value,
                "label": kind.label,
                "count": counts[kind.value],
                "colour": _COLOURS[kind],
            }
            for kind in PendingAction.Kind
        ],
    }


def runs(user: User, study: Project | None) -> dict[str, Any]:
    """Runs of the last days by status; `study`: of this one only."""
    since = now() - timedelta(days=DAYS)
    rows = TaskRun.objects.for_user(user).filter(created_at__gte=since).order_by()
    rows = rows.filter(project=study) if study else rows
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


def trail(user: User) -> dict[str, Any]:
    """The newest entries in the reader's scope, how many of the last days, and the fault that stands."""
    rows = AuditEntry.objects.for_user(user)
    labels = audit.actions()
    return {
        "count": rows.filter(at__gte=now() - timedelta(days=DAYS)).count(),
        "rows": [
            (row, gettext(labels.get(row.action, row.action)))
            for row in rows.order_by("-at")[:SHOWN]
        ],
        "fault": Alert.objects.filter(code=Alert.Code.AUDIT, cleared_at=None).first(),
    }


_DAY = timedelta(days=1)


def house() -> dict[str, Any]:
    """Which mode runs, when its processes were last seen, and what WeCom wants mended."""
    beats = Heartbeat.objects.values_list(Value("beat", CharField()), "name", "at")
    alerts = Alert.objects.filter(cleared_at=None).order_by()
    told = [
        *beats.union(alerts.values_list(Value("alert", CharField()), "code", "last_at"), all=True)
    ]
    known = {label: at for kind, label, at in told if kind == "beat"}
    moment = now()
    skew, left = machine.clock_skew_s(), machine.disk_left()
    return {
        "skew_s": round(skew) if abs(skew) > machine.SKEW_TOLD_S else 0,
        "disk_low": left if left < machine.DISK_LOW else None,
        "embedded": settings.EMBEDDED,
        "version": settings.VERSION,
        "alerts": sum(kind == "alert" for kind, *_what in told),
        "beats": [
            {
                "name": name,
                "at": known.get(name),
                "ok": name in known and moment - known[name] < STALE,
            }
            for name in health.processes()
        ],
    }


def operation(project: Project) -> dict[str, Any]:
    """A study's queues with the age of what waits longest, its tokens of today, its model's failures."""
    unfinished = InboxMessage.objects.filter(status__in=InboxMessage.UNFINISHED)
    letters = _by_status(project, OutboxMessage.objects.all(), "letters", "created_at")
    told = [*letters.union(_by_status(project, unfinished, "questions", "received_at"))]
    dead = [row for row in told if row[0] == "letters" and row[1] in OutboxMessage.DEAD_LETTERS]
    unsent = [row for row in told if row[0] == "letters" and row[1] in OutboxMessage.UNSENT]
    return {
        "letters": _sum(unsent) | {"dead": sum(count for *_of, count, _at in dead)},
        "questions": _sum(row for row in told if row[0] == "questions"),
        "model": _model(project),
        "cap": project.llm_daily_token_cap,
    }


def _by_status(project: Project, rows: QuerySet[Any], queue: str, at: str) -> QuerySet[Any, Any]:
    """(queue, status, how many, the oldest): both queues are read in one statement."""
    mine = rows.filter(project=project).order_by().annotate(queue=Value(queue, CharField()))
    told: QuerySet[Any, Any] = mine.values_list("queue", "status").annotate(Count("pk"), Min(at))
    return told


def _sum(rows: Iterable[tuple[str, str, int, datetime]]) -> dict[str, Any]:
    found = [*rows]
    oldest = min((at for *_of, at in found), default=None)
    return {"waiting": sum(count for *_of, count, _at in found), "oldest": oldest}


def _model(project: Project) -> dict[str, Any]:
    """Tokens since midnight; calls and failures of the last day."""
    today, since = midnight_of(project), now() - _DAY
    tokens = F("input_tokens") + F("output_tokens")
    rows = LlmUsage.objects.filter(project=project, at__gte=min(today, since))
    told: dict[str, Any] = rows.aggregate(
        tokens=Sum(tokens, filter=Q(at__gte=today), default=0),
        calls=Count("pk", filter=Q(at__gte=since)),
        failed=Count("pk", filter=Q(at__gte=since, ok=False)),
    )
    return told
