"""What the standard checks of a node say about a run's subject."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

from django.conf import settings
from django.utils import translation

from engines.models import TaskRun
from engines.sop import snapshot
from engines.sop.checks import course, dictionary, safety, shadow, treatment, twins, visits
from engines.sop.checks.dictionary import VALID, Rule
from engines.sop.checks.kinds import LABELS, Checks, Kind, key, kind_of, severity
from engines.sop.findings import Observation
from engines.sop.snapshot import Rows
from engines.sop.study import Study
from study.blinding import veil
from study.design import StudyDesign
from study.designs import age_fields, design_of
from study.records import RecordData

Evaluate = Callable[[list[Rule]], list[Observation]]
_IMPOSSIBLE = {"type_mismatch", "invalid_choice"}
_NOTHING = {"missing", "missing_code", "hidden_with_value", "type_mismatch", "invalid_choice"}
_ABOUT_STUDY = {
    *(Kind.CONSENT, Kind.LAB_AE, Kind.AE_MEDICATION, Kind.PROHIBITED),
    *(Kind.VISIT_WINDOW, Kind.VISIT_ORDER),
}


def observe(checks: Checks, run: TaskRun, study: Study, evaluate: Evaluate) -> list[Observation]:
    """What every check that is switched on says about the snapshot, passes included.

    `evaluate` runs rules on it. Messages are in the house's language, whoever started the run. What
    identifies a person is not told.
    """
    study = _as_read_by(run, study)
    with translation.override(settings.LANGUAGE_CODE):
        found = [*_of_dictionary(checks, study, evaluate)]
        if _ABOUT_STUDY & checks.keys():
            found += _of_study(checks, run, study, evaluate)
        if Kind.CALC in checks:
            found += shadow.shadow(study, snapshot.rows(run), study.today())
        if Kind.DUPLICATE in checks:
            rows = snapshot.rows(run)
            found += twins.twins(run.project, study.metadata, run.record_id or "", rows)
    return [_discreet(seen, study) for seen in found]


def _as_read_by(run: TaskRun, study: Study) -> Study:
    """The study without the fields that its snapshot does not hold: a blinded one is not missing."""
    hidden = frozenset() if run.unblinds else veil.of_all(run.project).fields
    if not hidden:
        return study
    metadata = study.metadata
    shown = [row for row in metadata.metadata if row["field_name"] not in hidden]
    return replace(study, metadata=replace(metadata, metadata=shown))


def unseen(checks: Checks) -> list[Observation]:
    """What the checks say where there is no subject: nothing is decided."""
    told = [(key(Kind(kind), "study"), str(LABELS[Kind(kind)])) for kind in checks]
    return [
        Observation(rule, "UNKNOWN", message=text, reason="not_exported") for rule, text in told
    ]


def rules_of(checks: Checks, study: Study, design: StudyDesign | None = None) -> list[Rule]:
    """The rules that the checks are made of, the visit plan's with a `design`."""
    metadata, context = study.metadata, study.context()
    made: list[Rule] = []
    if {Kind.TYPE, Kind.CHOICE, Kind.HIDDEN} & checks.keys():
        made += dictionary.valid(metadata, context)
    if Kind.REQUIRED in checks:
        made += dictionary.required(metadata, context)
    if Kind.RANGE in checks:
        made += dictionary.ranges(metadata, context)
    if design and Kind.CONSENT in checks:
        made += course.consent(design, age_fields(study.project, metadata)[1])
    if design and Kind.PROHIBITED in checks:
        made += course.prohibited(design, checks[Kind.PROHIBITED])
    return made


def _of_dictionary(checks: Checks, study: Study, evaluate: Evaluate) -> Iterator[Observation]:
    context = study.context()
    for seen in evaluate(rules_of(checks, study)):
        if not seen.rule_key.startswith(VALID):
            yield _own(seen)
            continue
        for kind, reason in dictionary.kinds_of(seen.rule_key.removeprefix(VALID), context):
            if kind in checks:
                yield _valid(seen, kind, reason, study)


def _of_study(
    checks: Checks, run: TaskRun, study: Study, evaluate: Evaluate
) -> Iterator[Observation]:
    hidden = frozenset() if run.unblinds else veil.of_all(run.project).fields
    design, rows = design_of(run.project, hidden), snapshot.rows(run)
    only = {kind: told for kind, told in checks.items() if kind in _ABOUT_STUDY}
    seen = map(_own, evaluate(rules_of(only, study, design)))
    yield from course.told_once(design, age_fields(run.project, study.metadata)[1], [*seen])
    if Kind.LAB_AE in checks:
        yield from safety.lab_without_event(design, rows, checks[Kind.LAB_AE])
    if Kind.AE_MEDICATION in checks:
        told = checks[Kind.AE_MEDICATION]
        yield from treatment.event_without_medication(design, rows, told)
    if {Kind.VISIT_WINDOW, Kind.VISIT_ORDER} & checks.keys():
        yield from visits.visits(design, _record(run, rows), study.today(), checks.keys())


def _record(run: TaskRun, rows: Rows) -> RecordData:
    whole = bool(run.is_complete)
    return RecordData(run.record_id or "", "", tuple(rows), run.created_at, (), whole)


def _valid(seen: Observation, kind: Kind, reason: str, study: Study) -> Observation:
    """What the rule that always holds says of one kind: its failure by that reason alone counts."""
    name = seen.rule_key.removeprefix(VALID)
    is_of_another = seen.reason != reason and seen.reason in _NOTHING
    outcome = "PASS" if is_of_another else seen.outcome
    message = f"{study.metadata.label(name)}: {LABELS[kind]}"
    return replace(
        seen, rule_key=key(kind, name), outcome=outcome, message=message, severity=severity(kind)
    )


def _own(seen: Observation) -> Observation:
    """A check speaks of its own error only: a blank, a wrong type or a hidden value is another's.

    A blank beside what no field can hold is blank all the same: somebody began the form.
    """
    if kind_of(seen.rule_key) is Kind.REQUIRED and seen.reason in _IMPOSSIBLE and not seen.value:
        return replace(seen, reason="")
    if seen.outcome not in {"PASS", "ERROR"} and seen.reason in _NOTHING:
        return replace(seen, outcome="NOT_APPLICABLE", reason="", detail=None)
    return seen


def _discreet(seen: Observation, study: Study) -> Observation:
    if seen.field in study.metadata.identifier_fields:
        return replace(seen, value=None, detail=None)
    return seen
