"""Rules that the data dictionary itself tells: required, range, type, choice, branching.

An impossible value and a hidden one fail whatever rule reads them, each with its reason (contracts.md,
*Comparisons*, *Blanks*): one rule about a field that always holds therefore finds all three.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _

from engines.sop.checks.kinds import Kind, key, severity
from rules import parse
from rules.context import Kind as Type
from rules.context import StudyContext
from study.metadata import StudyMetadata

Rule = dict[str, Any]
VALID = "std.valid."
_PIPED = re.compile(r"\[(\w+)\]")
_NUMBERS = frozenset({Type.NUMBER, Type.INTEGER})
_MOMENTS = frozenset({Type.DATE, Type.DATETIME})
_TYPED = _NUMBERS | _MOMENTS | {Type.TIME}


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
    """A rule for each required field, once somebody began its form.

    Checkboxes have none: no box ticked is an answer.
    """
    forms = _answers(metadata, context)
    for name, row in metadata.fields.items():
        column = context.columns.get(name)
        if column is None or column.kind is Type.TICKS or row.get("required_field") != "y":
            continue
        others = [other for other in forms[column.form] if other != name]
        untouched = {"and": [{"is_blank": [{"var": other}]} for other in others]}
        filled = {"!": [{"is_blank": [{"var": name}]}]}
        message = _("%(label)s is required and blank") % {"label": metadata.label(name)}
        yield _rule(Kind.REQUIRED, name, {"or": [filled, untouched]}, message)


def _answers(metadata: StudyMetadata, context: StudyContext) -> dict[str, list[str]]:
    """Form -> what shows that somebody began it: its status and its fields."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for name in metadata.fields:
        column = context.columns.get(name)
        if column is not None and column.kind is not Type.TICKS:
            if not found[column.form]:
                found[column.form].append(f"{column.form}_complete")
            if name != context.record_id_field:
                found[column.form].append(name)
    return found


def ranges(metadata: StudyMetadata, context: StudyContext) -> Iterator[Rule]:
    """A rule for each field with a least or a greatest value; a bound that nobody can compare with is none."""
    for name, row in metadata.fields.items():
        column = context.columns.get(name)
        if column is None or column.kind not in _NUMBERS | _MOMENTS:
            continue
        low, high = (str(row.get(f"text_validation_{end}") or "").strip() for end in ("min", "max"))
        if row["field_type"] == "slider":
            low, high = low or "0", high or "100"
        least, most = (_bound(text, column.kind, context) for text in (low, high))
        logic = [
            *([] if least is None else [_not_below(name, least, column.kind)]),
            *([] if most is None else [_not_above(name, most, column.kind)]),
        ]
        if logic:
            blank = {"is_blank": [{"var": name}]}
            told = {"label": metadata.label(name), "low": low or "…", "high": high or "…"}
            message = _("%(label)s is beyond its range %(low)s – %(high)s") % told
            yield _rule(Kind.RANGE, name, {"or": [blank, {"and": logic}]}, message)


def _bound(text: str, kind: Type, context: StudyContext) -> Any:
    if text in {"today", "now"} and kind in _MOMENTS:
        return {"today": []}
    if piped := _PIPED.fullmatch(text):
        other = context.columns.get(piped[1])
        return {"var": other.name} if other and other.kind is kind else None
    if kind in _MOMENTS:
        return text if parse.moment(text) else None
    number = parse.exact(text)
    return None if number is None else float(number)


def _not_below(name: str, bound: Any, kind: Type) -> dict[str, Any]:
    var = {"var": name}
    return {"!": [{"before": [var, bound]}]} if kind in _MOMENTS else {">=": [var, bound]}


def _not_above(name: str, bound: Any, kind: Type) -> dict[str, Any]:
    var = {"var": name}
    return {"!": [{"after": [var, bound]}]} if kind in _MOMENTS else {"<=": [var, bound]}


def _rule(kind: Kind, name: str, logic: Any, message: str) -> Rule:
    about = {"id": key(kind, name), "field": name, "logic": logic, "message": message}
    return about | {"severity": severity(kind)}
