"""The figures of a week that REDCap and our own tables hold (memory.reports.metrics owns the registry).

Counted as of the week's last day, also when a missed week is made up for later. What the token does not
show leaves a figure unknown (design.md 9.8).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from pydantic import ValidationError

from engines.models import PendingAction, TaskRun
from integrations.redcap import RedcapError
from memory.reports.metrics import SourceDown, register
from memory.reports.weeks import Period
from projects.models import Project
from study import readings
from study.client import NotConfiguredError
from study.dictionary import load
from study.records import RecordData
from study.standing import enrolled_between
from study.visits.calendar import State
from study.visits.window import VisitState, plan_of, visit_states

QC = "qc_process"
NONE = "-"


def register_sources() -> None:
    """Tell the weekly report what this app can count."""
    register("enrolment", ("enrolled", "enrolled_total", "target", "completion"), enrolment)
    register("visits", ("visits_done", "visits_due", "visits_overdue"), visits)
    register("findings", ("findings_opened", "findings_closed", "queries", "qc_runs"), findings)


def enrolment(project: Project, period: Period) -> Mapping[str, Any]:
    """New in the week, in all by its end, against the target."""
    target = project.target_enrolment
    try:
        _read(project, [project.enrolment_field])
    except SourceDown:
        # The target is ours and known.
        return {"target": target}
    spans = [(None, period.last), (period.week.first, period.last)]
    total, new = enrolled_between(project, spans)
    return {
        "enrolled": new,
        "enrolled_total": total,
        "target": target,
        "completion": _percent(total, target),
    }


def _percent(total: int, target: int) -> float | int | str:
    if not target:
        return NONE
    share = round(100 * total / target, 1)
    return int(share) if share == int(share) else share


def _read(project: Project, fields: Sequence[str]) -> list[RecordData]:
    """Every subject's fields. Raises SourceDown, also when one of the fields is not shown to us."""
    try:
        readings.refresh(project)
        records = readings.of_members(project, load(project), None, None)
    except (RedcapError, NotConfiguredError) as error:
        raise SourceDown from error
    columns = {name for record in records for row in record.rows for name in row}
    if any(not record.complete for record in records):
        raise SourceDown
    if records and not set(fields) <= columns:
        raise SourceDown
    return records


def visits(project: Project, period: Period) -> Mapping[str, Any]:
    """Done in the week; open in their window, or missed, at its end."""
    try:
        plan = plan_of(project)
    except ValidationError as error:
        raise SourceDown from error
    named = {plan.withdraw_field or ""}
    named |= {name for visit in plan.visits for name in (visit.anchor_field, visit.date_field)}
    records = _read(project, sorted(named - {""})) if plan.visits else []
    states = [
        state
        for record in records
        for state in visit_states(project, record, period.last, plan)
        if state.state is not State.NOT_APPLICABLE
    ]
    waiting = [state for state in states if not _is_done(state, period.last) and state.open]
    return {
        "visits_done": sum(_is_done(s, period.last, period.week.first) for s in states),
        "visits_due": sum(s.open <= period.last <= s.close for s in waiting if s.open and s.close),
        "visits_overdue": sum(s.close < period.last for s in waiting if s.close),
    }


def _is_done(state: VisitState, last: date, first: date = date.min) -> bool:
    return state.actual is not None and first <= state.actual <= last


def findings(project: Project, period: Period) -> Mapping[str, Any]:
    """Findings opened and closed, those open at the week's end, and the runs of quality control."""
    rows = PendingAction.objects.for_all(project)
    opened = rows.filter(created_at__gte=period.since, created_at__lt=period.until)
    closed = rows.filter(resolved_at__gte=period.since, resolved_at__lt=period.until)
    runs = TaskRun.objects.for_all(project).filter(skill__skill_type__startswith=QC)
    return {
        "findings_opened": opened.count(),
        "findings_closed": closed.count(),
        "queries": rows.unclosed(period.until).count(),
        "qc_runs": runs.filter(created_at__gte=period.since, created_at__lt=period.until).count(),
    }
