"""The shadow check: calculations worked out on our side; where REDCap stored something else, one is wrong.

Branching is worked out for every check: a value that it hides is `hidden`. A calculation that asks for the
day is not compared, since no export tells on which day it was saved; nor is one that cannot be read.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from typing import Any

from django.utils.translation import gettext as _

from engines.sop.checks.kinds import Kind, key
from engines.sop.findings import Observation
from engines.sop.snapshot import Rows
from engines.sop.study import Study
from rules import evaluation
from rules.context import Column, StudyContext
from rules.convert import Reading, text_of
from rules.operands import Open
from rules.record import Record, Row
from rules.redcap.calculation import agrees, calculated, written
from rules.values import Reason
from rules.visibility import logic_names, visibility
from study.metadata import StudyMetadata
from study.own_logic import calculations

_OF_OTHERS = {Reason.MISSING, Reason.MISSING_CODE, Reason.TYPE_MISMATCH, Reason.INVALID_CHOICE}
"""What leaves a calculation open and is itself found by another check, or is nobody's error."""


def shadow(study: Study, rows: Rows, today: date) -> Iterator[Observation]:
    """What is said of every calculated field in every row that holds it."""
    context, metadata = study.context(), study.metadata
    record = Record(context, rows, today)
    for own in calculations(metadata):
        column = context.columns.get(own.field)
        if column is None or own.why_not:
            continue
        for row in record.rows:
            if row.is_mapped(column.form) and row.holds(column.form):
                yield _compared(metadata, column, row, own.text)


def _compared(metadata: StudyMetadata, column: Column, row: Row, formula: str) -> Observation:
    own = row.read(column.name)
    outcome, reason, expected = _verdict(column, row, own, formula)
    is_wrong = outcome == "FAIL"
    place = row.place
    return Observation(
        rule_key=key(Kind.CALC, column.name),
        outcome=outcome,
        field=column.name,
        message=_told(metadata, column, own, expected) if is_wrong else metadata.label(column.name),
        reason=reason,
        value=own.raw,
        detail=_detail(metadata, row, formula, own) if is_wrong else None,
        event=place.event or "",
        instrument=place.instrument or "",
        instance="" if place.instance is None else str(place.instance),
    )


def _verdict(column: Column, row: Row, own: Reading, formula: str) -> tuple[str, str, str]:
    """(outcome, reason, what it should be)."""
    stored = text_of(own.raw)
    if own.is_blank is None:
        return "UNKNOWN", Reason.NOT_EXPORTED, ""
    is_shown = visibility(row, column.field)[0]
    is_untouched = stored == "" and not _is_begun(row, column, row.record.context)
    if is_shown is False or is_untouched:
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


def _is_begun(row: Row, column: Column, context: StudyContext) -> bool:
    """Whether somebody entered anything in the form here: REDCap calculates as it saves."""
    names = (name for name, one in context.columns.items() if one.form == column.form)
    return any(
        text_of(row.data.get(name)) not in {"", "0"}
        for name in names
        if name != context.record_id_field
    )


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
    found = [evaluation.read(row, name, event) for name, event in names]
    return [reading.as_detail() for reading in [*found, own]]
