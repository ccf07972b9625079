"""Background jobs of the memories."""

from __future__ import annotations

from datetime import date, timedelta

from celery import shared_task
from django.utils.timezone import now

from memory import distill, partitions, prune
from memory.models import MemoryTurn
from projects.models import Project
from projects.windows import today_in

KEPT = timedelta(hours=24)
# Days a house that was switched off catches up with.
CATCH_UP = 3


@shared_task
def forget_turns() -> None:
    """Delete turns that nobody used within 24 hours (decisions.md, Memory)."""
    MemoryTurn.objects.filter(created_at__lt=now() - KEPT).delete()


@shared_task
def prepare_partitions() -> None:
    """Make the flow log's months ahead of time (PostgreSQL)."""
    partitions.prepare()


@shared_task
def distil_days() -> None:
    """Queue the days that are over and not distilled yet; each study's days end in its own zone."""
    for project in Project.objects.filter(status=Project.Status.ACTIVE):
        today = today_in(project.timezone)
        for back in range(CATCH_UP, 0, -1):
            day = today - timedelta(days=back)
            if not distill.is_done(project, day):
                distil_day.delay(str(project.pk), day.isoformat())


@shared_task
def distil_day(project_id: str, day: str) -> None:
    """Distil one day of a study into hot memory, then see whether it has grown too long."""
    project = Project.objects.filter(pk=project_id).first()
    if project is not None:
        distill.distil(project, date.fromisoformat(day))
        prune.prune(project)


@shared_task
def prune_memories() -> None:
    """Propose a shorter text where hot memory exceeds its 2000 tokens."""
    for project in Project.objects.filter(status=Project.Status.ACTIVE):
        prune.prune(project)
