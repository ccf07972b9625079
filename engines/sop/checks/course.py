"""Rules about the course of a study: nothing before consent, nothing that the protocol prohibits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from engines.sop.checks.dictionary import Rule
from engines.sop.checks.kinds import Kind, key, kind_of
from engines.sop.findings import Observation
from rules.context import Kind as Type
from study import proposals
from study.design import StudyDesign


def consent(design: StudyDesign, field: str) -> Iterator[Rule]:
    """No planned visit, anchor or examination is earlier than the consent in `field`."""
    if field not in design.context.columns:
        return
    signed = _at(design, field, {"var": field})
    unsigned = _at(design, field, {"is_blank": [{"var": field}]})
    for name in procedures(design, field):
        var = {"var": name}
        logic = {
            "or": [{"is_blank": [var]}, unsigned, {"!": [{"before": [var, signed]}]}],
        }
        message = _("%(label)s is before %(consent)s")
        told = {"label": design.metadata.label(name), "consent": design.metadata.label(field)}
        yield _rule(Kind.CONSENT, name, logic, message % told)


def told_once(design: StudyDesign, field: str, seen: Sequence[Observation]) -> list[Observation]:
    """Where several procedures are before the consent its own date is doubted: one finding tells them all."""
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
    at = event_of(design, field)
    return [
        *others,
        Observation(
            rule_key=key(Kind.CONSENT, field),
            outcome="FAIL" if several else "PASS",
            field=field,
            message=told,
            event=at,
        ),
    ]


def event_of(design: StudyDesign, field: str) -> str:
    """The one event that holds a field; "" where several or none do."""
    forms, form = design.context.forms_by_event, design.form_of(field)
    events = [event for event, held in forms.items() if form in held]
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
        and columns[name].kind in {Type.DATE, Type.DATETIME}
        and design.form_of(name) != form
        and design.form_of(name) not in design.repeating_forms
    ]


def prohibited(design: StudyDesign, told: Mapping[str, Any]) -> Iterator[Rule]:
    """No medication whose name holds one of `names`; `field` is where medications are named."""
    field = told.get("field") or proposals.medication_field(design.metadata)
    names: Sequence[str] = told.get("names") or ()
    if not names or field not in design.context.columns:
        return
    var = {"var": field}
    hits = [{"in": [name, var]} for name in names]
    logic = {"or": [{"is_blank": [var]}, {"!": [{"or": hits}]}]}
    yield _rule(Kind.PROHIBITED, field, logic, _("A medication that the protocol prohibits"))


def _at(design: StudyDesign, field: str, expression: Any) -> Any:
    """The expression at the one event that holds the field; in a classic study there is none."""
    event = event_of(design, field)
    return {"across_events": [event, expression]} if event else expression


def _rule(kind: Kind, name: str, logic: Any, message: str) -> Rule:
    return {
        "id": key(kind, name),
        "field": name,
        "logic": logic,
        "message": message,
        "severity": "error",
    }
