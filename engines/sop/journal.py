"""What findings and the audit trail keep of what happened."""

from __future__ import annotations

from typing import Any

from core.house.db import later
from engines.models import (
    Batch,
    FindingEvent,
    PendingAction,
    Review,
    TaskRun,
    VisitReminder,
)
from projects import audit


def note_event(
    finding: PendingAction,
    what: str,
    *,
    run: TaskRun | None = None,
    by: str = "system",
    note: str = "",
) -> None:
    """Keep what happened to a finding, with the transaction's end; of one run the same is kept once."""
    later(FindingEvent(finding=finding, task_run=run, what=what, by=by, note=note), ignore=True)


def audited(
    action: str,
    about: TaskRun | Review | Batch | PendingAction | VisitReminder,
    *,
    actor: object = "system",
    **said: Any,
) -> None:
    """An entry of the audit trail `about` a row, in its study; `said`: old, new, reason."""
    audit.record(
        action,
        actor=actor,
        project=about.project,
        subject=about,
        record_id=getattr(about, "record_id", None) or "",
        **said,
    )
