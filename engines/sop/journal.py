"""The journal and the trace of a run (seed 001, SopResult; decisions.md, "SopResult")."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.utils.timezone import now

from engines.models import SopStep, TaskRun
from house.db import later


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
