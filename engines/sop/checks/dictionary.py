"""Rules that the data dictionary itself tells: required, range, type, choice, branching.

An impossible value and a hidden one fail whatever rule reads them, each with its reason (contracts.md,
*Comparisons*, *Blanks*): one rule about a field that always holds therefore finds all three.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from core.rules import parse
from core.rules.context import Column, StudyContext
from core.rules.context import Kind as Type
from core.rules.values import Reason
from engines.sop.checks.kinds import Kind, key, severity
from engines.sop.findings import Observation
from study.metadata import StudyMetadata

Rule = dict[str, Any]
VALID = "std.valid."
_PIPED = re.compile(r"\[(\w+)\]")
_NUMBERS = frozenset({Type.NUMBER, Type.INTEGER})
MOMENTS = frozenset({Type.DATE, Type.DATETIME})
_TYPED = _NUMBERS | MOMENTS | {Type.TIME}


def kinds_of(name: str, context: StudyContext) -> list[tuple[Kind, str]]:
    """What `valid` tells of a field: each kind with the reason that stands for it."""
    column = context.columns[name]
    told: list[tuple[Kind, str]] = []
    if column.kind in _TYPED:
        told.append((Kind.TYPE, "type_mismatch"))
    if column.choices:
        told.append((Kind.CHOICE, "invalid_choice"))
    if column.branching:
        told.append((Kind.HIDDEN, "hidden_with_value"))
    return told


def valid(metadata: StudyMetadata, context: StudyContext) -> Iterator[Rule]:
    """A rule for each field that can hold what it should not; it fails by its reason alone."""
    for name in metadata.fields:
        if name in context.columns and kinds_of(name, context):
            blank = {"is_blank": [{"var": name}]}
            logic = {"or": [blank, {"!": [blank]}]}
            yield {"id": f"{VALID}{name}", "field": name, "logic": logic, "message": name}


def required(metadata: StudyMetadata, context: StudyContext) -> Iterator[Rule]:
    """A rule for each required field; checkboxes have none: no box ticked is an answer."""
    for name, row in metadata.fields.items():
        column = context.columns.get(name)
        if column is None or column.kind is Type.TICKS or row.get("required_field") != "y":
            continue
        filled = {"!": [{"is_blank": [{"var": name}]}]}
        message = _("%(label)s is required and blank") % {"label": metadata.label(name)}
        yield rule(Kind.REQUIRED, name, filled, message)


def ranges(metadata: StudyMetadata, context: StudyContext) -> Iterator[Rule]:
    """A rule for each field with a least or a greatest value; `unread_bounds` tells those without one."""
    for name, column, (low, high) in _bounded(metadata, context):
        least, most = _bound(low, column, context), _bound(high, column, context)
        logic = [
            *([] if least is None else [_within(name, ">=", least, column.kind)]),
            *([] if most is None else [_within(name, "<=", most, column.kind)]),
        ]
        if logic:
            blank = {"is_blank": [{"var": name}]}
            told = {"label": metadata.label(name), "low": low or "…", "high": high or "…"}
            message = _("%(label)s is beyond its range %(low)s – %(high)s") % told
            yield rule(Kind.RANGE, name, {"or": [blank, {"and": logic}]}, message)


def unread_bounds(metadata: StudyMetadata, context: StudyContext) -> Iterator[tuple[str, str]]:
    """(field, text) of each bound that no value can be compared with: nobody checks it."""
    for name, column, bounds in _bounded(metadata, context):
        yield from (
            (name, text) for text in bounds if text and _bound(text, column, context) is None
        )


def _bounded(
    metadata: StudyMetadata, context: StudyContext
) -> Iterator[tuple[str, Column, tuple[str, str]]]:
    """Each field with its least and its greatest value as they are written; a slider has both."""
    for name, row in metadata.fields.items():
        low, high = (str(row.get(f"text_validation_{end}") or "").strip() for end in ("min", "max"))
        if row["field_type"] == "slider":
            low, high = low or "0", high or "100"
        if (low or high) and (column := context.columns.get(name)) is not None:
            yield name, column, (low, high)


def _bound(text: str, column: Column, context: StudyContext) -> Any:
    """An expression that the field's values can be compared with; None where there is none."""
    kind = column.kind
    if text in {"today", "now"} and kind in MOMENTS:
        return {"today": []}
    if piped := _PIPED.fullmatch(text):
        other = context.columns.get(piped[1])
        return {"var": other.name} if other and _stands_beside(other, column, context) else None
    if kind in MOMENTS:
        return text if parse.moment(text) else None
    if kind is Type.TIME:
        return text if parse.clock(text, minutes_first=column.minutes_first) else None
    if kind not in _NUMBERS:
        return None
    number = parse.exact(text, decimal_comma=column.decimal_comma)
    return None if number is None else float(number)


def _stands_beside(other: Column, column: Column, context: StudyContext) -> bool:
    """Whether every row of `column` holds a value of `other` of the same sort."""
    sorts = (_NUMBERS, MOMENTS, {Type.TIME})
    is_alike = any(other.kind in sort and column.kind in sort for sort in sorts)
    if not is_alike or other.minutes_first is not column.minutes_first:
        return False
    events = [event for event, forms in context.forms_by_event.items() if column.form in forms]
    is_there = all(context.is_mapped(other.form, event) for event in events)
    repeats = any(form == other.form for _event, form in context.repeating)
    return other.form == column.form or (is_there and not repeats)


def _within(name: str, comparison: str, bound: Any, kind: Type) -> dict[str, Any]:
    var = {"var": name}
    if kind not in MOMENTS:
        return {comparison: [var, bound]}
    return {"!": [{"before" if comparison == ">=" else "after": [var, bound]}]}


def not_exported(kind: Kind, name: str) -> Observation:
    """What a check says of a field that it was told and that is no column of REDCap: nothing is decided."""
    return Observation(
        rule_key=key(kind, name),
        outcome="UNKNOWN",
        field=name,
        message=_("REDCap has no field %(field)s") % {"field": name},
        reason=Reason.NOT_EXPORTED,
    )


def not_seen(kind: Kind, why: str = "") -> Observation:
    """What a check says that cannot look at the study: nothing is decided, and no field is named."""
    return Observation(
        rule_key=key(kind, "study"),
        outcome="UNKNOWN",
        message=why or str(kind.label),
        reason=Reason.NOT_EXPORTED,
    )


def rule(kind: Kind, name: str, logic: Any, message: str) -> Rule:
    """The rule of a check about a field."""
    about = {"id": key(kind, name), "field": name, "logic": logic, "message": message}
    return about | {"severity": severity(kind)}
