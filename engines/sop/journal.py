"""The journal and trace of a run (decisions.md, "trace"), and what the trail keeps of engine rows."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils.timezone import now

from core.house.db import later
from engines.models import (
    Batch,
    FindingEvent,
    PendingAction,
    Review,
    SopStep,
    TaskRun,
    VisitReminder,
)
from projects import audit


class Journal:
    """Rows of one chain, written together at its end; each has the next `seq` of the run."""

    def __init__(self, run: TaskRun) -> None:
        """Continue where the run stands."""
        self.run = run
        self.rows: list[SopStep] = []

    def add(
        self,
        node: str,
        kind: str,
        outcome: str,
        result: Any = None,
        started: datetime | None = None,
    ) -> None:
        """Note one node visit."""
        ended = now()
        step = SopStep(
            task_run_id=self.run.pk,
            seq=self.run.seq,
            node=node,
            kind=kind,
            outcome=outcome,
            result=result,
            fence=self.run.fence,
            started_at=started or ended,
            ended_at=ended,
        )
        self.rows.append(step)
        self.run.seq += 1
        said = {"outcome": outcome} if result is None else {"outcome": outcome, "detail": result}
        item = {"node": node, "timestamp": ended.isoformat(), "result": said}
        self.run.trace = [*(self.run.trace or []), item]

    def save(self) -> None:
        """Insert the rows with the transaction's end; a second writer of the same `seq` fails there."""
        for row in self.rows:
            later(row)
        self.rows = []


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
