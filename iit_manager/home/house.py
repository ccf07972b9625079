"""Whether the house is well: its processes, and of a study the queues, the model, WeCom."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Count, F, Min, Q, Sum
from django.utils.timezone import now

from house.models import Heartbeat
from iit_manager.health import STALE
from llm.asking import midnight_of
from llm.models import LlmUsage
from projects.models import Project
from wechat.models import Alert, InboxMessage, OutboxMessage

_DAY = timedelta(days=1)


def state() -> dict[str, Any]:
    """Which mode runs, when its processes were last seen, and what WeCom wants mended."""
    known = {row.name: row.at for row in Heartbeat.objects.all()}
    moment = now()
    return {
        "embedded": settings.EMBEDDED,
        "version": settings.VERSION,
        "alerts": Alert.objects.filter(cleared_at=None).count(),
        "beats": [
            {
                "name": name,
                "at": known.get(name),
                "ok": name in known and moment - known[name] < STALE,
            }
            for name in ("worker", "beat")
        ],
    }


def operation(project: Project) -> dict[str, Any]:
    """A study's queues with the age of what waits longest, its tokens of today, its model's failures."""
    letters = OutboxMessage.objects.filter(project=project).aggregate(
        dead=Count("pk", filter=Q(status__in=OutboxMessage.DEAD_LETTERS)),
        waiting=Count("pk", filter=Q(status__in=OutboxMessage.UNSENT)),
        oldest=Min("created_at", filter=Q(status__in=OutboxMessage.UNSENT)),
    )
    questions = InboxMessage.objects.filter(
        project=project, status__in=InboxMessage.UNFINISHED
    ).aggregate(waiting=Count("pk"), oldest=Min("received_at"))
    return {
        "letters": letters,
        "questions": questions,
        "model": _model(project),
        "cap": project.llm_daily_token_cap,
    }


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
