"""Claiming runs by conditional UPDATE (reference/agents_memory.md 1.4; design.md 4)."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.timezone import now

from engines.models import TaskRun

LEASE = timedelta(seconds=180)
"""Longer than one LLM call with its retries; a slow node renews it with every call."""

Status = TaskRun.Status


def due() -> QuerySet[TaskRun]:
    """Runs that wait for a worker: no living lease, and their waiting time is over."""
    at = now()
    return TaskRun.objects.filter(
        Q(lease_until__isnull=True) | Q(lease_until__lt=at),
        Q(available_at__isnull=True) | Q(available_at__lte=at),
        status=Status.RUNNING,
    )


def claim(run_id: UUID) -> TaskRun | None:
    """The run with a fresh lease and the next fencing number; None when it is not ours to take."""
    run = due().select_related("project", "skill").filter(pk=run_id).first()
    if run is None:
        return None
    until = now() + LEASE
    # The old fencing number in the condition: of two workers that read the same row one gets it.
    taken = due().filter(pk=run_id, fence=run.fence, seq=run.seq)
    if taken.update(fence=run.fence + 1, lease_until=until) != 1:
        return None
    run.fence += 1
    run.lease_until = until
    return run


def still_ours(run: TaskRun) -> QuerySet[TaskRun]:
    """The run, if nobody took it over or moved it since we claimed it."""
    return TaskRun.objects.filter(pk=run.pk, fence=run.fence, seq=run.seq, status=Status.RUNNING)


def renew(run: TaskRun) -> bool:
    """Prolong the lease; False: another worker has the run, stop."""
    return still_ours(run).update(lease_until=now() + LEASE) == 1
