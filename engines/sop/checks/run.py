"""What the standard checks of a node say about a run's subject."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import replace

from django.conf import settings
from django.utils import translation

from core.privacy.veiled_words import MARK
from engines.models import TaskRun
from engines.sop import same_fact, snapshot
from engines.sop.checks import adverse, course, dictionary, shadow, twins
from engines.sop.checks.asked import Asked
from engines.sop.checks.dictionary import VALID, Rule
from engines.sop.checks.kinds import OF_COURSE, OF_VALUE, OF_VISITS, SAFETY, Checks, Kind, key
from engines.sop.checks.kinds import severity as severity_of
from engines.sop.findings import GOOD, Observation
from engines.sop.study import Study
from study.design import StudyDesign, age_fields
from study.records import RecordData

Evaluate = Callable[[list[Rule]], list[Observation]]
_NOTHING = {"missing", "missing_code", "hidden_with_value", "type_mismatch", "invalid_choice"}


def observe(checks: Checks, run: TaskRun, study: Study, evaluate: Evaluate) -> list[Observation]:
    """What every check that is switched on says about the snapshot, passes included.

    `evaluate` runs rules on it. Messages are in the house's language, whoever started the run.
    """
    rows, study = snapshot.rows(run), _as_read_by(run, study)
    metadata = study.metadata
    with translation.override(settings.LANGUAGE_CODE):
        asked = Asked(study, rows, study.today())
        found = [*_of_dictionary(checks, study, evaluate)]
        if Kind.CALC in checks:
            found += shadow.shadow(study, asked)
        found = asked.settle(found, checks)
        if (SAFETY | OF_COURSE) & checks.keys():
            failed = {seen.rule_key for seen in found if seen.outcome not in GOOD}
            found += _of_study(checks, run, study, evaluate, failed)
        if Kind.DUPLICATE in checks:
            found += twins.twins(run.project, metadata, run.record_id or "", rows)
    return found


def _as_read_by(run: TaskRun, study: Study) -> Study:
    """The study without the fields that its snapshot does not hold: a blinded one is not missing."""
    hidden = snapshot.hidden_from(run)
    if not hidden:
        return study
    metadata = study.metadata
    shown = [row for row in metadata.metadata if row["field_name"] not in hidden]
    return replace(study, metadata=replace(metadata, metadata=shown))


def unseen(checks: Checks) -> list[Observation]:
    """What the checks say where there is no subject: nothing is decided."""
    return [dictionary.not_seen(one) for one in Kind if one in checks]


def _of_dictionary(checks: Checks, study: Study, evaluate: Evaluate) -> Iterator[Observation]:
    metadata, context = study.metadata, study.context()
    rules: list[Rule] = []
    if (OF_VALUE - {Kind.REQUIRED}) & checks.keys():
        rules += dictionary.valid(metadata, context)
    if Kind.REQUIRED in checks:
        rules += dictionary.required(metadata, context)
    if Kind.RANGE in checks:
        rules += dictionary.ranges(metadata, context)
    fields = {rule["id"]: rule["field"] for rule in rules}
    for told in evaluate(rules):
        # Of an undecided one the rule engine names the field that leaves it open.
        seen = replace(told, field=fields.get(told.rule_key, told.field))
        if not seen.rule_key.startswith(VALID):
            yield _own(seen)
            continue
        name = seen.rule_key.removeprefix(VALID)
        for kind, reason in dictionary.kinds_of(name, context):
            if kind in checks:
                # Of the rule that always holds its failure by that reason alone counts.
                is_of_another = seen.reason != reason and seen.reason in _NOTHING
                yield replace(
                    seen,
                    rule_key=key(kind, name),
                    outcome="PASS" if is_of_another else seen.outcome,
                    message=f"{metadata.label(name)}: {kind.label}",
                    severity=severity_of(kind),
                )


def _of_study(
    checks: Checks, run: TaskRun, study: Study, evaluate: Evaluate, failed: Collection[str]
) -> Iterator[Observation]:
    design, rows = snapshot.design_for(run), snapshot.rows(run)
    whole = bool(run.is_complete)
    record = RecordData(run.record_id or "", "", tuple(rows), run.created_at, (), whole)
    if Kind.CONSENT in checks:
        signed = age_fields(run.project, study.metadata)[1]
        yield from _of_consent(signed, Kind.TYPE in checks, run, design, evaluate, failed)
    if Kind.PROHIBITED in checks:
        told = checks[Kind.PROHIBITED]
        yield from adverse.prohibited(design, record, told, study.today())
    if Kind.LAB_AE in checks:
        yield from adverse.lab_without_event(design, record, checks[Kind.LAB_AE], study.today())
    if Kind.AE_MEDICATION in checks:
        yield from adverse.event_without_medication(design, rows, checks[Kind.AE_MEDICATION])
    if OF_VISITS & checks.keys():
        hidden = snapshot.hidden_from(run)
        yield from course.visits(design, record, study.today(), checks.keys(), hidden)


def _of_consent(
    signed: str,
    is_typed: bool,
    run: TaskRun,
    design: StudyDesign,
    evaluate: Evaluate,
    failed: Collection[str],
) -> Iterator[Observation]:
    """What is said of the consent in `signed`; `is_typed`: another check tells a typed date that is none.

    Of a date that cannot be read nothing else is told: so what was found before stays open.
    """
    rows, hidden = snapshot.rows(run), snapshot.hidden_from(run)
    if signed not in design.context.columns:
        if signed:
            yield dictionary.not_exported(Kind.CONSENT, signed)
        return
    here = {event for row in rows if (event := str(row.get(snapshot.PLACE[0]) or ""))}
    unread = course.unread_consents(design, signed, rows)
    if signed in hidden or any(MARK in text for text in unread):
        yield dictionary.not_seen(Kind.CONSENT)
        return
    if unread:
        if not (is_typed and design.context.columns[signed].kind in dictionary.MOMENTS):
            yield course.impossible_consent(design, signed, here)
        return
    required = key(Kind.REQUIRED, signed)
    rules = [one for one in course.consent(design, signed, here) if one["field"] not in hidden]
    seen = [*map(_own, evaluate(rules))]
    # A date that its begun form lacks is told by that check: one finding per fact.
    is_told = required in failed
    without = "" if is_told else course.done_unconsented(design, signed, rows)
    for one in course.told_once(design, signed, seen, here, without):
        is_blank = bool(without) and one.rule_key == key(Kind.CONSENT, signed)
        fact = same_fact.of_standard(required, one.place()[1:])
        yield replace(one, fact=fact) if is_blank else one


def _own(seen: Observation) -> Observation:
    """A check speaks of its own error only: a blank, a wrong type or a hidden value is another's."""
    if seen.outcome not in {"PASS", "ERROR"} and seen.reason in _NOTHING:
        return replace(seen, outcome="NOT_APPLICABLE", reason="", detail=None)
    return seen
