"""Raw messages are forgotten after a while: they speak of patients (issue 5, "Retention")."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, OuterRef, QuerySet, Value
from django.db.models.functions import Concat
from django.utils.timezone import now

from core.house.db import atomic
from wechat.models import Answer, Card, InboxMessage, OutboxMessage

# A repeated delivery can come late: its key is kept for a day whatever the setting says (wecom.md 1.6, 4).
LEAST = timedelta(hours=24)
AT_ONCE = 200  # short writes: SQLite has one writer


def kept_for() -> timedelta:
    """`WECOM_RETENTION_DAYS`, at least a day."""
    return max(timedelta(days=settings.WECOM_RETENTION_DAYS), LEAST)


def forget() -> int:
    """Delete finished rows that are old enough; how many. What still waits is never touched."""
    before = now() - kept_for()
    inbox = InboxMessage.objects.exclude(status__in=InboxMessage.UNFINISHED)
    outbox = OutboxMessage.objects.exclude(
        status__in=(*OutboxMessage.UNSENT, OutboxMessage.Status.HELD)
    )
    old: list[QuerySet[Any]] = [
        inbox.filter(received_at__lt=before),
        outbox.filter(~_still_needed(), created_at__lt=before),
        Card.objects.filter(created_at__lt=before).exclude(kind="review", state=Card.State.OPEN),
        Answer.objects.filter(created_at__lt=before),
    ]
    return sum(_delete(rows) for rows in old)


def _still_needed() -> Exists:
    """An open review's card: its outbox row says whether it ever arrived."""
    named = Card.objects.annotate(key=Concat(Value("card:"), F("task_id"), Value("#1")))
    return Exists(named.filter(key=OuterRef("key"), kind="review", state=Card.State.OPEN))


def _delete(rows: QuerySet[Any]) -> int:
    deleted = 0
    while pks := list(rows.order_by("pk").values_list("pk", flat=True)[:AT_ONCE]):
        with atomic():
            rows.model._default_manager.filter(pk__in=pks).delete()
        deleted += len(pks)
    return deleted
