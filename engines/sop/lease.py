"""Waking a worker for a run, and claiming runs by conditional UPDATE (reference/agents_memory.md 1.4)."""

from __future__ import annotations

from datetime import timedelta

from django.db.models import F, Q, QuerySet
from django.utils.timezone import now

from core.house import task_queue
from core.house.db import after_commit
from engines.models import TaskRun

LEASE = timedelta(seconds=180)
"""Longer than one LLM call with its retries; a slow node renews it before every call."""
LEFT_BEHIND = timedelta(seconds=20)
"""So long the message that wakes a worker may be on its way."""

Status = TaskRun.Status


def wake(run: TaskRun) -> None:
    """Let a worker go on with the run once this transaction is committed; the sweeper finds what is lost."""
    after_commit(lambda: task_queue.wake("engines.tasks.drive_run", str(run.pk)))


def due_runs() -> QuerySet[TaskRun]:
    """Runs that wait for a worker: no living lease, and their waiting time is over."""
    at = now()
    return TaskRun.objects.filter(
        Q(lease_until__isnull=True) | Q(lease_until__lt=at),
        Q(available_at__isnull=True) | Q(available_at__lte=at),
        status=Status.RUNNING,
    )


def claim_run(run: TaskRun) -> bool:
    """Take the run: a fresh lease, the next fencing number, one more trial. False: not ours to take.

    Fencing number and `seq` in the condition name the very state that was read: of two workers that read
    the same row one gets it, and nobody works on an outdated copy.
    """
    until = now() + LEASE
    mine = due_runs().filter(pk=run.pk, fence=run.fence, seq=run.seq)
    if mine.update(fence=F("fence") + 1, attempts=F("attempts") + 1, lease_until=until) != 1:
        return False
    run.fence += 1
    run.attempts += 1
    run.lease_until = until
    return True


def still_ours(run: TaskRun) -> QuerySet[TaskRun]:
    """The run, if nobody took it over or moved it since we claimed it."""
    return TaskRun.objects.filter(pk=run.pk, fence=run.fence, seq=run.seq, status=Status.RUNNING)


def renew(run: TaskRun) -> bool:
    """Prolong the lease; False: another worker has the run, stop."""
    return still_ours(run).update(lease_until=now() + LEASE) == 1


def release(run: TaskRun, wait: timedelta) -> None:
    """Give the run back after a trial that broke, not to be tried again before `wait` is over."""
    mine = TaskRun.objects.filter(pk=run.pk, fence=run.fence, status=Status.RUNNING)
    mine.update(lease_until=None, available_at=now() + wait)


def left_behind(limit: int = 200) -> list[str]:
    """Ids of due runs that nobody has touched for a while: a lost message, a dead worker, a timer.

    A run that was never claimed is marked: its next trial is counted (see `drive`).
    """
    old = due_runs().filter(updated_at__lt=now() - LEFT_BEHIND)
    ids = [*old.order_by("updated_at").values_list("pk", flat=True)[:limit]]
    due_runs().filter(pk__in=ids, fence=0).update(fence=1)
    return [str(pk) for pk in ids]
