"""Background jobs of the memories."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task
from django.utils.timezone import now

from memory import partitions
from memory.models import MemoryTurn

KEPT = timedelta(hours=24)


@shared_task
def forget_turns() -> None:
    """Delete turns that nobody used within 24 hours (decisions.md, Memory)."""
    MemoryTurn.objects.filter(created_at__lt=now() - KEPT).delete()


@shared_task
def prepare_partitions() -> None:
    """Make the flow log's months ahead of time (PostgreSQL)."""
    partitions.prepare()
