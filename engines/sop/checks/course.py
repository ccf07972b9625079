"""Rules about the course of a study: nothing before consent, each visit in its window and order."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

from django.utils.translation import gettext as _

from core.integrations.redcap import Row
from core.rules.context import Kind as Type
from core.rules.convert import text_of
from core.rules.parse import moment
from core.rules.values import Reason
from engines.sop.checks.dictionary import MOMENTS, Rule, not_seen, rule
from engines.sop.checks.kinds import Kind, key, kind_of, severity
from engines.sop.findings import Observation
from study.dates import Reading
from study.design import StudyDesign
from study.records import RecordData
from study.visits.calendar import State, VisitSpec, VisitState
from study.visits.window import planned_states

Planned = list[tuple[VisitSpec, VisitState]]


def consent(design: StudyDesign, field: str, here: Collection[str]) -> Iterator[Rule]:
    """No planned visit, anchor or examination is earlier than the consent in `field`.

    `here`: the subject's events, which tell the one of its arm.
    """
    if field not in design.context.columns:
        return
    event = event_of(design, field, here)
    signed = _at(event, {"var": field})
    unsigned = _at(event, {"is_blank": [{"var": field}]})
    for name in procedures(design, field):
        var = {"var": name}
        logic = {
            "or": [{"is_blank": [var]}, unsigned, {"!": [{"before": [var, signed]}]}],
        }
        message = _("%(label)s is before %(consent)s")
        told = {"label": design.metadata.label(name), "consent": design.metadata.label(field)}
        yield rule(Kind.CONSENT, name, logic, message % told)


def unread_consents(design: StudyDesign, field: str, rows: Sequence[Row]) -> list[str]:
    """What stands in the consent's field and is no date, not even a partial one, nor a missing data code."""
    nothing = {None, "", *design.metadata.missing_codes}
    texts = dict.fromkeys(text_of(row.get(field)) for row in rows)
    return [text for text in texts if text and text not in nothing and moment(text) is None]


def impossible_consent(design: StudyDesign, field: str, here: Collection[str]) -> Observation:
    """That the consent's field holds no possible date: whether anything is before it nobody can tell."""
    return Observation(
        rule_key=key(Kind.CONSENT, field),
        outcome="UNKNOWN",
        field=field,
        message=_("%(field)s is not a possible date") % {"field": design.metadata.label(field)},
        severity=severity(Kind.CONSENT),
        reason=Reason.TYPE_MISMATCH,
        event=event_of(design, field, here),
    )


def told_once(
    design: StudyDesign,
    field: str,
    seen: Sequence[Observation],
    here: Collection[str],
    without: str,
) -> list[Observation]:
    """Where several procedures are before the consent its own date is doubted: one finding tells them all.

    `without`: what `done_unconsented` says, told by the same finding.
    """
    late = [s for s in seen if kind_of(s.rule_key) is Kind.CONSENT and s.outcome == "FAIL"]
    others = [replace(s, outcome="PASS") if s in late and len(late) > 1 else s for s in seen]
    if field not in design.context.columns:
        return others
    several = len(late) > 1
    about = {
        "consent": design.metadata.label(field),
        "labels": "、".join(design.metadata.label(one.field) for one in late),
    }
    told = _("%(consent)s is later than: %(labels)s") % about
    at = event_of(design, field, here)
    return [
        *others,
        Observation(
            rule_key=key(Kind.CONSENT, field),
            outcome="FAIL" if several or without else "PASS",
            field=field,
            message=without or told,
            event=at,
            detail=[one for seen in late for one in seen.detail or ()] if several else None,
        ),
    ]


def done_unconsented(design: StudyDesign, field: str, rows: Sequence[Row]) -> str:
    """Which procedures are dated though no consent is, be it that its form was never begun; "" for none.

    Nothing is said where REDCap does not show the consent. A missing data code is no consent.
    """
    nothing = {"", *design.metadata.missing_codes}
    consents = [text_of(row[field]) for row in rows if field in row]
    if field not in design.context.columns or not consents or {*consents} - nothing:
        return ""
    names = dict.fromkeys([*procedures(design, field), design.enrolment_field])
    done = [name for name in names if {text_of(row.get(name)) for row in rows} - nothing]
    about = {
        "consent": design.metadata.label(field),
        "labels": "、".join(design.metadata.label(name) for name in done),
    }
    return _("%(consent)s is missing, but these are dated: %(labels)s") % about if done else ""


def event_of(design: StudyDesign, field: str, here: Collection[str] = ()) -> str:
    """The one event that holds a field, else the one of `here` that does; "" where several or none do."""
    forms, form = design.context.forms_by_event, design.form_of(field)
    events = [event for event, held in forms.items() if form in held]
    events = events if len(events) < 2 else [event for event in events if event in here]
    return events[0] if len(events) == 1 else ""


def procedures(design: StudyDesign, consent_field: str) -> list[str]:
    """Dates of what may be done after consent only: visits, their anchors, forms with measurements."""
    columns, form = design.context.columns, design.form_of(consent_field)
    measured = {c.form for c in columns.values() if c.kind in {Type.NUMBER, Type.INTEGER}}
    planned = [n for v in design.plan.visits for n in (v.anchor_field, v.date_field)]
    examined = [n for of, n in design.form_dates.items() if of in measured]
    names = dict.fromkeys([*planned, design.enrolment_field, *examined])
    return [
        name
        for name in names
        if name in columns
        and columns[name].kind in MOMENTS
        and design.form_of(name) != form
        and design.form_of(name) not in design.repeating_forms
    ]


def _at(event: str, expression: Any) -> Any:
    """The expression at an event; in a classic study there is none."""
    return {"across_events": [event, expression]} if event else expression


def visits(
    design: StudyDesign,
    record: RecordData,
    today: date,
    kinds: Collection[str],
    hidden: frozenset[str] = frozenset(),
) -> Iterator[Observation]:
    """What the checks of visits among `kinds` say of each planned visit of the subject.

    Of visits that rest on a field of `hidden` each check says once that they are not seen, and nothing else.
    """
    plan = design.plan
    every = planned_states(plan, record, today)
    planned = [
        (visit, state)
        for visit, state in every
        if hidden.isdisjoint(
            (visit.anchor_field, visit.date_field, plan.withdraw_field, plan.arm_field)
        )
    ]
    if len(planned) < len(every):
        yield from (not_seen(k) for k in (Kind.VISIT_WINDOW, Kind.VISIT_ORDER) if k in kinds)
    if Kind.VISIT_WINDOW in kinds:
        for visit, state in planned:
            yield _window(design, visit, state)
    if Kind.VISIT_ORDER in kinds:
        yield from _order(design, planned)


def _window(design: StudyDesign, visit: VisitSpec, state: VisitState) -> Observation:
    about = {"visit": visit.visit, "days": state.days, "open": state.open, "close": state.close}
    outcome, message, reason = "PASS", visit.visit, ""
    has_left = _left_before(state.close, state.given.withdrawal) if state.close else False
    if state.state is State.OVERDUE and has_left is not True:
        # A visit that the subject left the study before its end is not missed; one before that is.
        outcome = "FAIL" if has_left is False else "UNKNOWN"
        reason = "" if has_left is False else Reason.PARTIAL_DATE
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
        is_planned = bool(state.anchor or state.given.anchor.problem)
        is_done = bool(state.actual or state.given.actual.problem)
        outcome = "UNKNOWN" if is_planned or is_done else "NOT_APPLICABLE"
        reason = state.doubt or ""
        message = _("The window of %(visit)s could not be worked out")
    return _seen(design, Kind.VISIT_WINDOW, visit, state, (outcome, reason, message % about))


def _left_before(close: date, withdrawal: Reading) -> bool | None:
    """Whether the subject withdrew before a window had closed; None where a partial date leaves it open."""
    first, last = withdrawal.span or (withdrawal.day, withdrawal.day)
    if first is None or last is None or first > close:
        return False
    return True if last <= close else None


def _order(design: StudyDesign, planned: Planned) -> Iterator[Observation]:
    last: tuple[date, str] | None = None
    for visit, state in planned:
        outcome, message, reason = "PASS", visit.visit, ""
        if problem := state.given.actual.problem:
            outcome, message = "UNKNOWN", f"{visit.visit}: {problem}"
            reason = state.given.actual.reason or ""
        elif state.actual and last and state.actual < last[0]:
            about = {"visit": visit.visit, "earlier": last[1], "day": last[0]}
            outcome = "FAIL"
            message = _("%(visit)s is dated before %(earlier)s (%(day)s)") % about
        elif state.actual:
            last = (state.actual, visit.visit)
        yield _seen(design, Kind.VISIT_ORDER, visit, state, (outcome, reason, message))


def _seen(
    design: StudyDesign,
    kind: Kind,
    visit: VisitSpec,
    state: VisitState,
    said: tuple[str, str, str],
) -> Observation:
    outcome, reason, message = said
    return Observation(
        rule_key=key(kind, visit.visit),
        outcome=outcome,
        field=visit.date_field,
        message=message,
        severity=severity(kind),
        reason=reason,
        value=state.actual,
        event=visit.event or event_of(design, visit.date_field),
    )
