"""Telling a worker that a run waits for it; a lost message is found by the sweeper."""

from __future__ import annotations

from engines.models import TaskRun
from projects import wakes
from projects.db import after_commit


def wake(run: TaskRun) -> None:
    """Let a worker go on with the run once this transaction is committed."""
    from engines.tasks import drive_run

    after_commit(lambda: wakes.wake(drive_run, str(run.pk)))
