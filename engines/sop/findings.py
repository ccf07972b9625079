"""Findings: opened once, observed again, resolved by data change, closed by a person.

Source: decisions.md, "severity", "findings doubled", "closing by data change".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils.timezone import now

from engines.models import FindingEvent, PendingAction, Review, TaskRun
from engines.sop import run_events, snapshot
from projects import audit

Kind, State = PendingAction.Kind, PendingAction.State
GOOD = {"PASS", "NOT_APPLICABLE"}
RESOLVED = "resolved by data change"
OBSERVED = "observed"
REOPENED = "reopened"
CONFIRMED = "confirmed"
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

    def place(self) -> tuple[str, str, str, str]:
        """Which rule at which place of the subject's data."""
        return self.rule_key, self.event, self.instrument, self.instance

    def action_type(self) -> str:
        """violation, warning or review_required."""
        if self.kind:
            return self.kind
        if self.outcome != "FAIL":
            return Kind.REVIEW_REQUIRED
        return Kind.VIOLATION if self.severity == "error" else Kind.WARNING


@dataclass(frozen=True)
class Noted:
    """What was observed at a node, as step `seq` of a run."""

    node: str
    seq: int
    observations: Sequence[Observation]


def open_key(run: TaskRun, node: str, seen: Observation) -> str:
    """The place of a finding, as a hash."""
    rule, *where = seen.place()
    return _hash(run.project_id, run.skill.skill_type, node, rule, run.record_id, where)


def key_of(row: PendingAction) -> str:
    """The key that a finding has while it is open."""
    where = [row.event, row.instrument, row.instance]
    return _hash(row.project_id, row.skill_type, row.node, row.rule_key, row.record_id, where)


def _hash(
    project: UUID, skill: str, node: str, rule: str, record_id: str | None, where: Sequence[str]
) -> str:
    place = [str(project), skill, node, rule, record_id or "", *where]
    return hashlib.sha256(json.dumps(place).encode()).hexdigest()


def record(run: TaskRun, noted: Noted, known: dict[str, PendingAction]) -> None:
    """Open, observe again or resolve findings.

    `known` are the subject's open findings by their keys (`open_of`); what is opened joins them. What was
    approved on these very values is only observed again. Where all passed and nothing is known nothing is
    written.
    """
    if not known and all(seen.outcome in GOOD for seen in noted.observations):
        return
    by_key = {open_key(run, noted.node, seen): seen for seen in noted.observations}
    here = {key: row for key, row in known.items() if key in by_key}
    bad = {key: seen for key, seen in by_key.items() if seen.outcome not in GOOD}
    new = {key: seen for key, seen in bad.items() if key not in here}
    approved = _approved(run, new)
    _note([_noted(run, row, OBSERVED) for row in approved.values()])
    new = {key: seen for key, seen in new.items() if key not in approved}
    if new:
        stored, mine = _open(run, noted, new)
        known |= stored
        here |= {key: row for key, row in stored.items() if row.pk not in mine}
    _observe(run, {key: (here[key], seen) for key, seen in bad.items() if key in here})
    if run.is_complete:
        _resolve(run, [row for key, row in here.items() if key not in bad])


def _approved(run: TaskRun, new: dict[str, Observation]) -> dict[str, PendingAction]:
    """What a review closed that approved the same outcomes of the same workflow on the values of the run.

    So is what a person rejected as a false alarm, as long as the value found is the same.
    """
    if not (new and run.record_id):
        return {}
    rows = PendingAction.objects.filter(
        project=run.project_id,
        skill_type=run.skill.skill_type,
        skill_version=run.skill_version,
        record_id=run.record_id,
    ).filter(Q(review__isnull=False) | Q(state=State.REJECTED))
    closed = [(key_of(row), row) for row in rows.select_related("review").defer("review__values")]
    same = [(key, row) for key, row in closed if key in new and row.outcome == new[key].outcome]
    digest = snapshot.digest(run) if any(row.review for _key, row in same) else ""
    return {
        key: row
        for key, row in same
        if (row.review and row.review.digest == digest)
        or (row.state == State.REJECTED and row.value == _words(new[key].value))
    }


def _open(
    run: TaskRun, noted: Noted, new: dict[str, Observation]
) -> tuple[dict[str, PendingAction], set[UUID]]:
    """Open findings; what is stored then, some of it perhaps by another run, and which are ours."""
    rows = [_row(run, noted.node, key, seen) for key, seen in new.items()]
    PendingAction.objects.bulk_create(rows, ignore_conflicts=True)
    mine = {row.pk for row in rows}
    stored = {row.open_key or "": row for row in PendingAction.objects.filter(open_key__in=[*new])}
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
        about = {"findings": [str(row.pk) for row in opened], "seq": noted.seq}
        run_events.keep(run_events.Kind.FINDINGS_OPENED, run, payload=about)
    return stored, mine


def _words(value: Any) -> str:
    """A value as a person reads it: the ticked codes of a checkbox are several."""
    several = value if isinstance(value, list | tuple) else [value]
    return ", ".join(str(one) for one in several if one is not None)


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
        value=_words(seen.value),
        detail=json.dumps(seen.detail, ensure_ascii=False, default=str) if seen.detail else "",
        unblinds=run.unblinds,
    )


def _observe(run: TaskRun, again: dict[str, tuple[PendingAction, Observation]]) -> None:
    """Note that findings still hold; one that had been resolved by a data change is open again."""
    if not again:
        return
    notes = [_noted(run, row, OBSERVED, _refresh(run, row, seen)) for row, seen in again.values()]
    reopened = [row for row, _seen in again.values() if row.state == State.DATA_CHANGED]
    if reopened:
        _still(reopened, State.DATA_CHANGED).update(state=State.OPEN)
    for row in reopened:
        row.state = State.OPEN
        notes.append(_noted(run, row, REOPENED))
    _note(notes)


def _refresh(run: TaskRun, row: PendingAction, seen: Observation) -> str:
    """Let the finding say what was seen last; returns "UNKNOWN → FAIL" where the outcome changed."""
    newer = _row(run, row.node, row.open_key or "", seen)
    changed = {
        name: getattr(newer, name) for name in SEEN if getattr(row, name) != getattr(newer, name)
    }
    before = row.outcome
    if changed:
        _still([row], row.state).update(**changed)
    for name, value in changed.items():
        setattr(row, name, value)
    return f"{before} → {seen.outcome}" if before != seen.outcome else ""


def _resolve(run: TaskRun, rows: list[PendingAction]) -> None:
    good = [row for row in rows if row.state != State.DATA_CHANGED]
    keys = [row.pk for row in good]
    still = PendingAction.objects.filter(pk__in=keys, open_key__isnull=False)
    if good and still.update(state=State.DATA_CHANGED):
        _note([_noted(run, row, RESOLVED) for row in good])
    for row in good:
        row.state = State.DATA_CHANGED


def _still(rows: list[PendingAction], state: str) -> QuerySet[PendingAction]:
    """The rows, unless a person closed them meanwhile."""
    keys = [row.pk for row in rows]
    return PendingAction.objects.filter(pk__in=keys, open_key__isnull=False, state=state)


def _noted(run: TaskRun, row: PendingAction, what: str, note: str = "") -> FindingEvent:
    return FindingEvent(finding=row, task_run=run, what=what, by="system", note=note)


def _note(events: list[FindingEvent]) -> None:
    if events:
        FindingEvent.objects.bulk_create(events, ignore_conflicts=True)


def _of_workflow(project: UUID, skill_type: str) -> QuerySet[PendingAction]:
    rows = PendingAction.objects.filter(project=project, skill_type=skill_type)
    return rows.unclosed().order_by("created_at")


def open_of(run: TaskRun) -> list[PendingAction]:
    """Open findings of the run's subject that its workflow made: what a reviewer is shown."""
    rows = _of_workflow(run.project_id, run.skill.skill_type).filter(record_id=run.record_id)
    # What came of it when it read a blinded field is not touched, nor shown, by a run that does not.
    return [*rows.filter(unblinds=run.unblinds)] if run.project.blinded_since else [*rows]


def open_now(run: TaskRun) -> list[PendingAction]:
    """What is open of the run's subject and workflow now, old and new; of a run about no subject, its own."""
    if run.record_id is None:
        return [row for row in seen_in(run) if row.open_key]
    return open_of(run)


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


def confirm(run: TaskRun, rows: Sequence[PendingAction], *, actor: object, note: str) -> None:
    """Note that a person holds findings to be right: they stay open."""
    name = audit.actor_name(actor)
    _note(
        [
            FindingEvent(finding=row, task_run=run, what=CONFIRMED, by=name, note=note)
            for row in rows
        ]
    )


def close(
    finding: PendingAction, *, actor: object, resolution: str, review: Review | None = None
) -> bool:
    """Close an open finding, by the approval of a `review` if any; False when somebody else did.

    Call inside a transaction.
    """
    name = audit.actor_name(actor)
    closed = PendingAction.objects.filter(pk=finding.pk, open_key__isnull=False).update(
        state=State.CLOSED,
        open_key=None,
        resolved_by=name,
        resolved_at=now(),
        resolution=resolution,
        review=review,
    )
    if not closed:
        return False
    FindingEvent.objects.create(finding=finding, what="closed", by=name, note=resolution)
    if finding.state == State.QUERIED:
        about = {"finding": str(finding.pk)}
        run_events.keep(run_events.Kind.FINDING_SETTLED, finding.task_run, payload=about)
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
