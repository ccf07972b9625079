"""Findings: opened once, observed again, resolved by data change, closed by a person.

Source: decisions.md, "severity", "findings doubled", "closing by data change".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Q, QuerySet
from django.utils.timezone import now

from engines.models import FindingEvent, PendingAction, TaskRun
from projects import audit

Kind, State = PendingAction.Kind, PendingAction.State
GOOD = {"PASS", "NOT_APPLICABLE"}
RESOLVED = "resolved by data change"
OBSERVED = "observed"
REOPENED = "reopened"
SEEN = ("action_type", "message", "severity", "outcome", "reason", "value", "detail")
"""What a finding says about the last observation."""


@dataclass(frozen=True)
class Observation:
    """What a node says about one rule at one place of a subject's data."""

    rule_key: str
    outcome: str
    field: str = ""
    message: str = ""
    severity: str = "error"
    reason: str = ""
    value: Any = None
    detail: Any = None
    event: str = ""
    instrument: str = ""
    instance: str = ""
    kind: str = ""

    def action_type(self) -> str:
        """violation, warning or review_required."""
        if self.kind:
            return self.kind
        if self.outcome != "FAIL":
            return Kind.REVIEW_REQUIRED
        return Kind.VIOLATION if self.severity == "error" else Kind.WARNING


def open_key(run: TaskRun, node: str, seen: Observation) -> str:
    """The place of a finding, as a hash."""
    place = [
        str(run.project_id),
        run.skill.skill_type,
        node,
        seen.rule_key,
        run.record_id or "",
        seen.event,
        seen.instrument,
        seen.instance,
    ]
    return hashlib.sha256(json.dumps(place).encode()).hexdigest()


def record(run: TaskRun, node: str, observations: Iterable[Observation]) -> int:
    """Open, observe again or resolve findings; returns how many observations were no pass.

    One query to find what is known, one bulk insert for what is new.
    """
    by_key = {open_key(run, node, seen): seen for seen in observations}
    known = _known(by_key)
    bad = {key: seen for key, seen in by_key.items() if seen.outcome not in GOOD}
    new = {key: seen for key, seen in bad.items() if key not in known}
    if new:
        known |= _open(run, node, new)
    _observe(run, {key: (known[key], seen) for key, seen in bad.items() if key in known})
    if run.is_complete:
        _resolve(run, [row for key, row in known.items() if key not in bad])
    return len(bad)


def _known(keys: Iterable[str]) -> dict[str, PendingAction]:
    rows = PendingAction.objects.filter(open_key__in=[*keys])
    return {row.open_key or "": row for row in rows}


def _open(run: TaskRun, node: str, new: dict[str, Observation]) -> dict[str, PendingAction]:
    """Open findings; returns those that another run opened in this same instant."""
    rows = [_row(run, node, key, seen) for key, seen in new.items()]
    PendingAction.objects.bulk_create(rows, ignore_conflicts=True)
    mine = {row.pk for row in rows}
    stored = _known(new)
    opened = [stored[key] for key in new if key in stored and stored[key].pk in mine]
    for row in opened:
        audit.record(
            "finding.open",
            actor="system",
            project=run.project,
            subject=row,
            record_id=run.record_id or "",
            new={"rule": row.rule_key, "kind": row.action_type, "version": row.skill_version},
        )
    if opened:
        from engines.sop import events

        events.finding_opened(run, opened)
    return {key: row for key, row in stored.items() if row.pk not in mine}


def _row(run: TaskRun, node: str, key: str, seen: Observation) -> PendingAction:
    return PendingAction(
        project=run.project,
        task_run=run,
        record_id=run.record_id,
        action_type=seen.action_type(),
        field=seen.field,
        message=seen.message,
        severity=seen.severity,
        open_key=key,
        skill_type=run.skill.skill_type,
        skill_version=run.skill_version,
        node=node,
        rule_key=seen.rule_key,
        event=seen.event,
        instrument=seen.instrument,
        instance=seen.instance,
        outcome=seen.outcome,
        reason=seen.reason,
        value="" if seen.value is None else str(seen.value),
        detail=json.dumps(seen.detail, ensure_ascii=False, default=str) if seen.detail else "",
    )


def _observe(run: TaskRun, again: dict[str, tuple[PendingAction, Observation]]) -> None:
    """Note that findings still hold; one that had been resolved by a data change is open again."""
    notes = [_noted(run, row, OBSERVED, _refresh(run, row, seen)) for row, seen in again.values()]
    reopened = [row for row, _seen in again.values() if row.state == State.DATA_CHANGED]
    if reopened:
        _still(reopened, State.DATA_CHANGED).update(state=State.OPEN)
    notes += [_noted(run, row, REOPENED) for row in reopened]
    _note(notes)


def _refresh(run: TaskRun, row: PendingAction, seen: Observation) -> str:
    """Let the finding say what was seen last; returns "UNKNOWN → FAIL" where the outcome changed."""
    newer = _row(run, row.node, row.open_key or "", seen)
    changed = {
        name: getattr(newer, name) for name in SEEN if getattr(row, name) != getattr(newer, name)
    }
    if changed:
        _still([row], row.state).update(**changed)
    return f"{row.outcome} → {seen.outcome}" if row.outcome != seen.outcome else ""


def _resolve(run: TaskRun, rows: list[PendingAction]) -> None:
    good = [row for row in rows if row.state == State.OPEN]
    if good and _still(good, State.OPEN).update(state=State.DATA_CHANGED):
        _note([_noted(run, row, RESOLVED) for row in good])


def _still(rows: list[PendingAction], state: str) -> QuerySet[PendingAction]:
    """The rows, unless a person closed them meanwhile."""
    keys = [row.pk for row in rows]
    return PendingAction.objects.filter(pk__in=keys, open_key__isnull=False, state=state)


def _noted(run: TaskRun, row: PendingAction, what: str, note: str = "") -> FindingEvent:
    return FindingEvent(finding=row, task_run=run, what=what, by="system", note=note)


def _note(events: list[FindingEvent]) -> None:
    FindingEvent.objects.bulk_create(events, ignore_conflicts=True)


def open_of(run: TaskRun) -> list[PendingAction]:
    """Open findings of the run's subject that its workflow made: what a reviewer is shown."""
    rows = PendingAction.objects.filter(
        project_id=run.project_id,
        record_id=run.record_id,
        skill_type=run.skill.skill_type,
        open_key__isnull=False,
    )
    return [*rows.order_by("created_at")]


def seen_in(run: TaskRun) -> list[PendingAction]:
    """Findings that the run opened or observed again."""
    again = FindingEvent.objects.filter(task_run=run, what=OBSERVED).values("finding_id")
    rows = PendingAction.objects.filter(Q(task_run=run) | Q(pk__in=again))
    return [*rows.order_by("created_at", "rule_key")]


def finding_line(row: PendingAction) -> dict[str, Any]:
    """JSON of a finding in the output of commands."""
    return {
        "id": str(row.pk),
        "action_type": row.action_type,
        "rule": row.rule_key,
        "field": row.field,
        "event": row.event,
        "instrument": row.instrument,
        "instance": row.instance,
        "outcome": row.outcome,
        "reason": row.reason,
        "value": row.value,
        "message": row.message,
        "severity": row.severity,
    }


def close(finding: PendingAction, *, actor: object, resolution: str) -> bool:
    """Close an open finding; False when somebody else did. Call inside a transaction."""
    name = audit.actor_name(actor)
    closed = PendingAction.objects.filter(pk=finding.pk, open_key__isnull=False).update(
        state=State.CLOSED,
        open_key=None,
        resolved_by=name,
        resolved_at=now(),
        resolution=resolution,
    )
    if not closed:
        return False
    FindingEvent.objects.create(finding=finding, what="closed", by=name, note=resolution)
    audit.record(
        "finding.close",
        actor=actor,
        project=finding.project,
        subject=finding,
        record_id=finding.record_id or "",
        old={"state": finding.state},
        new={"state": State.CLOSED},
        reason=resolution,
    )
    return True
