"""Visits outside their windows, missed, or in another order than planned.

The same calendar as board, reminders and chat (`study.visits`), so that "overdue" means one thing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from datetime import date

from django.utils.translation import gettext as _

from engines.sop.checks.course import event_of
from engines.sop.checks.kinds import Kind, key, severity
from engines.sop.findings import Observation
from study.design import StudyDesign
from study.records import RecordData
from study.visits.calendar import State, VisitSpec, VisitState
from study.visits.window import planned_states

Planned = list[tuple[VisitSpec, VisitState]]


def visits(
    design: StudyDesign, record: RecordData, today: date, kinds: Collection[str]
) -> Iterator[Observation]:
    """What the checks of visits among `kinds` say of each planned visit of the subject."""
    planned = planned_states(design.plan, record, today)
    has_left = bool(record.day(design.plan.withdraw_field or "", design.plan.timezone))
    if Kind.VISIT_WINDOW in kinds:
        for visit, state in planned:
            yield _window(design, visit, state, has_left)
    if Kind.VISIT_ORDER in kinds:
        yield from _order(design, planned)


def _window(
    design: StudyDesign, visit: VisitSpec, state: VisitState, has_left: bool
) -> Observation:
    about = {"visit": visit.visit, "days": state.days, "open": state.open, "close": state.close}
    outcome, message = "PASS", visit.visit
    if state.state is State.OVERDUE and not has_left:
        outcome = "FAIL"
        message = _("%(visit)s is missing; its window closed on %(close)s, %(days)s days ago")
    elif state.state in {State.EARLY, State.LATE}:
        outcome = "FAIL"
        message = (
            _("%(visit)s is %(days)s days early; its window is %(open)s to %(close)s")
            if state.state is State.EARLY
            else _("%(visit)s is %(days)s days late; its window is %(open)s to %(close)s")
        )
    elif state.state is State.UNKNOWN:
        # Without an anchor nothing is planned yet; a visit that was done all the same cannot be judged.
        outcome = "UNKNOWN" if state.actual else "NOT_APPLICABLE"
        message = _("The window of %(visit)s could not be worked out")
    return _seen(design, Kind.VISIT_WINDOW, visit, state, outcome, message % about)


def _order(design: StudyDesign, planned: Planned) -> Iterator[Observation]:
    last: tuple[date, str] | None = None
    for visit, state in planned:
        outcome, message = "PASS", visit.visit
        if state.actual and last and state.actual < last[0]:
            about = {"visit": visit.visit, "earlier": last[1], "day": last[0]}
            outcome = "FAIL"
            message = _("%(visit)s is dated before %(earlier)s (%(day)s)") % about
        elif state.actual:
            last = (state.actual, visit.visit)
        yield _seen(design, Kind.VISIT_ORDER, visit, state, outcome, message)


def _seen(
    design: StudyDesign, kind: Kind, visit: VisitSpec, state: VisitState, outcome: str, message: str
) -> Observation:
    return Observation(
        rule_key=key(kind, visit.visit),
        outcome=outcome,
        field=visit.date_field,
        message=message,
        severity=severity(kind),
        reason="missing" if outcome == "UNKNOWN" else "",
        value=state.actual,
        event=visit.event or event_of(design, visit.date_field),
    )
