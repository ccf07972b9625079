"""The shadow check: calculations worked out on our side; where REDCap stored something else, one is wrong.

Branching is worked out for every check: a value that it hides is `hidden`. A calculation that asks for the
day is not compared, since no export tells on which day it was saved; nor is one that cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from core.rules import evaluation
from core.rules.context import Column
from core.rules.convert import Reading, text_of
from core.rules.record import Row
from core.rules.redcap.calculation import agrees, calculated, written
from core.rules.redcap.nodes import Open
from core.rules.values import Reason
from core.rules.visibility import logic_names, visibility
from engines.sop.checks.asked import Asked
from engines.sop.checks.kinds import Kind, key
from engines.sop.findings import Observation
from engines.sop.snapshot import named
from engines.sop.study import Study
from study.metadata import StudyMetadata, calculations

_OF_OTHERS = {Reason.MISSING, Reason.MISSING_CODE, Reason.TYPE_MISMATCH, Reason.INVALID_CHOICE}
"""What leaves a calculation open and is itself found by another check, or is nobody's error."""


def shadow(study: Study, asked: Asked) -> Iterator[Observation]:
    """What is said of every calculated field in every row that holds it."""
    metadata, record = study.metadata, asked.record
    context = record.context
    for own in calculations(metadata):
        column = context.columns.get(own.field)
        if column is None or own.why_not:
            continue
        for row in record.rows:
            if row.is_mapped(column.form) and row.holds(column.form):
                begun = asked.is_begun(row, column.form)
                yield _compared(metadata, column, row, own.text, begun)


def _compared(
    metadata: StudyMetadata, column: Column, row: Row, formula: str, begun: bool
) -> Observation:
    own = row.read(column.name)
    outcome, reason, expected = _verdict(column, row, own, formula, begun)
    is_wrong = outcome == "FAIL"
    return Observation(
        rule_key=key(Kind.CALC, column.name),
        outcome=outcome,
        field=column.name,
        message=_told(metadata, column, own, expected) if is_wrong else metadata.label(column.name),
        reason=reason,
        value=own.raw,
        detail=_detail(metadata, row, formula, own) if is_wrong else None,
        **named(row.place),
    )


def _verdict(
    column: Column, row: Row, own: Reading, formula: str, begun: bool
) -> tuple[str, str, str]:
    """(outcome, reason, what it should be). REDCap calculates as it saves: a form that was begun."""
    stored = text_of(own.raw)
    if own.is_blank is None:
        return "UNKNOWN", Reason.NOT_EXPORTED, ""
    is_shown = visibility(row, column.field)[0]
    if is_shown is False or (stored == "" and not begun):
        return "NOT_APPLICABLE", "", ""
    expected = calculated(row, formula)
    if isinstance(expected, Open):
        is_of_others = expected.reason in _OF_OTHERS
        return ("NOT_APPLICABLE", "", "") if is_of_others else ("UNKNOWN", expected.reason, "")
    if agrees(column, stored or "", expected):
        return "PASS", "", ""
    if is_shown is None:
        return "UNKNOWN", Reason.APPLICABILITY_UNKNOWN, ""
    return "FAIL", "", written(column, expected)


def _told(metadata: StudyMetadata, column: Column, own: Reading, expected: str) -> str:
    label = metadata.label(column.name)
    if column.field in metadata.identifier_fields:
        return _("%(label)s: REDCap holds something else than its formula gives") % {"label": label}
    told = {"label": label, "stored": own.raw or _("blank"), "expected": expected or _("blank")}
    return _("%(label)s: REDCap holds %(stored)s, its formula gives %(expected)s") % told


def _detail(metadata: StudyMetadata, row: Row, formula: str, own: Reading) -> list[dict[str, Any]]:
    context = row.record.context
    names = [
        (name, event)
        for name, event in logic_names(formula)
        if (column := context.column(name)) and column.field not in metadata.identifier_fields
    ]
    found = [evaluation.read_column(row, name, event) for name, event in names]
    return [reading.as_detail() for reading in [*found, own]]
