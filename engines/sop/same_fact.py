"""Which fact of a subject's data a finding is about: the same however many rules and workflows find it.

A fact is typed: what is wrong (a kind of standard check and the field or visit it is about) and the place of
the data. Three ways lead to it, none of which reads a message: the key of a standard check; a rule or a soft
node that declares by `same_as` which standard check it stands for; else the values that a rule read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from core.rules import parse
from core.rules.limits import RuleError
from core.rules.redcap.calculation import formula_of
from core.rules.redcap.parser import parse_logic
from engines.models import TaskRun
from engines.sop.checks import course
from engines.sop.checks.kinds import OF_ROW, OF_SUBJECT, OF_VALUE, Kind, kind_of
from engines.sop.findings import GOOD, Fact, Observation
from engines.sop.snapshot import design_for
from engines.sop.study import Study
from study.design import age_fields

VALUE = "value"
"""A value that is missing, of the wrong type, no choice or hidden: it can be one of them at a time."""
_IMPOSSIBLE = {"missing", "type_mismatch", "invalid_choice", "hidden_with_value"}
_NOWHERE = ("", "", "")


def of_standard(key: str, place: tuple[str, str, str]) -> Fact:
    """The fact of a standard check's key (`std.kind.about`) at a place; () for another key."""
    kind = kind_of(key)
    if kind is None:
        return ()
    about = key.split(".", 2)[2]
    name = VALUE if kind in OF_VALUE else kind.value
    if kind is Kind.CONSENT or kind in OF_ROW:
        about = ""
    return (name, about, *(_NOWHERE if kind in OF_SUBJECT else place))


def with_facts(
    observations: list[Observation],
    declared: Mapping[str, str],
    run: TaskRun,
    study: Study,
) -> list[Observation]:
    """The observations, each that is no pass with its fact; `declared`: rule key -> `same_as`."""
    return [
        seen
        if seen.outcome in GOOD or seen.fact
        else replace(seen, fact=_of_rule(seen, declared.get(seen.rule_key, ""), run, study))
        for seen in observations
    ]


def _of_rule(seen: Observation, same_as: str, run: TaskRun, study: Study) -> Fact:
    place = seen.event, seen.instrument, seen.instance
    if fact := of_standard(same_as or seen.rule_key, place):
        return fact
    if seen.outcome != "FAIL" or not isinstance(seen.detail, list):
        return ()
    read = {_field(one["var"], study) for one in seen.detail}
    branching = study.metadata.fields.get(seen.field, {}).get("branching_logic")
    if read - _named(str(branching or "")) == {seen.field}:
        is_blank = seen.value in (None, "", [])
        return (VALUE, seen.field, *place) if is_blank or seen.reason in _IMPOSSIBLE else ()
    row = study.metadata.fields.get(seen.field)
    if read == {seen.field} | _named(formula_of(row) if row else ""):
        return (Kind.CALC.value, seen.field, *place)
    return _of_dates(seen, read, run, study) if len(read) == 2 else ()


def _field(column: str, study: Study) -> str:
    return study.metadata.columns.get(column, (column, ""))[0]


def _named(logic: str) -> set[str]:
    try:
        return {one.name for one in parse_logic(logic).refs} if logic.strip() else set()
    except RuleError:
        return set()


def _of_dates(seen: Observation, read: set[str], run: TaskRun, study: Study) -> Fact:
    """Two dates that a standard check compares as well: a procedure and the consent, a visit and its anchor."""
    design = design_for(run)
    consent = age_fields(run.project, study.metadata)[1]
    if consent in read and read - {consent} <= {*course.procedures(design, consent)}:
        # What came too late after the consent is another fact, and each procedure's own.
        return (Kind.CONSENT.value, "", *_NOWHERE) if _is_before(consent, seen, study) else ()
    for visit in design.plan.visits:
        if seen.field == visit.date_field and read == {visit.date_field, visit.anchor_field}:
            return (Kind.VISIT_WINDOW.value, visit.visit, *_NOWHERE)
    return ()


def _is_before(consent: str, seen: Observation, study: Study) -> bool:
    """Whether the other date that was read is earlier than the consent, as far as both are told."""
    told = [
        (_field(one["var"], study) == consent, parse.moment(str(one.get("raw") or "").strip()))
        for one in seen.detail
    ]
    signed = [moment.low for is_consent, moment in told if is_consent and moment]
    done = [moment.high for is_consent, moment in told if not is_consent and moment]
    return bool(signed and done) and max(done) < min(signed)


def of_verdict(same_as: str, read: list[dict[str, Any]]) -> Fact:
    """The fact of a model's verdict: of the one row that its quotes stand in, where its node declares one."""
    rows = {(one["event"], one["instrument"], one["instance"]) for one in read}
    return of_standard(same_as, rows.pop()) if same_as and len(rows) == 1 else ()
