"""Telling a worker that a run or a batch waits for it; a lost message is found by the sweeper."""

from __future__ import annotations

from uuid import UUID

from engines.models import TaskRun
from house import wakes
from house.db import after_commit


def wake(run: TaskRun) -> None:
    """Let a worker go on with the run once this transaction is committed."""
    after_commit(lambda: wakes.wake("engines.tasks.drive_run", str(run.pk)))


def wake_batch(batch_id: UUID) -> None:
    """Let a worker start what a batch has room for once this transaction is committed."""
    after_commit(lambda: wakes.wake("engines.tasks.advance_batch", str(batch_id)))
