"""Is a field shown on its form? Decided by its branching logic, three-valued (E06-E08)."""

from __future__ import annotations

import re
from dataclasses import replace
from decimal import Decimal
from typing import TypeAlias

from rules import convert
from rules.branching import parse_logic
from rules.context import Kind, checkbox_column
from rules.convert import Reading
from rules.errors import RuleError
from rules.operands import Open, Operand, truth
from rules.record import Row
from rules.values import Moment, Range, Reason, Unknown
from rules.verdict import Cause

Visibility: TypeAlias = tuple[bool | None, Cause]
_FIELD = re.compile(r"\[([^\[\]]+)\](?:\s*\[([^\[\]]+)\])?")
_NONE: Cause = ("", None)
_HERE = "event-name"


def branching_names(text: str) -> list[tuple[str, str | None]]:
    """The (column, event) pairs a branching logic mentions, for a result's `detail`."""
    names: dict[tuple[str, str | None], None] = {}
    for first, second in _FIELD.findall(text):
        event, name = (first, second) if second else (_HERE, first)
        stem, _parenthesis, code = name.partition("(")
        stem = stem.removesuffix(":value").strip()
        column = checkbox_column(stem, code.rstrip(") ")) if code else stem
        names[column, None if event == _HERE else event] = None
    return list(names)


def visibility(row: Row, field_name: str) -> Visibility:
    """(True shown / False hidden / None undecided, the field that leaves it undecided and its event).

    Logic outside the known subset, or about a smart variable that is not known, leaves the field
    itself undecided, whatever it holds.
    """
    known = row.visibility.get(field_name)
    if known is None:
        row.visibility[field_name] = (True, _NONE)  # a field that depends on itself counts as shown
        known = row.visibility[field_name] = _decide(row, field_name)
    return known


def _decide(row: Row, field_name: str) -> Visibility:
    column = row.record.context.columns.get(field_name)
    if column is None or not column.branching:
        return True, _NONE
    try:
        node = parse_logic(column.branching)
    except RuleError:
        return None, (field_name, None)
    shown = truth(node(_Lookup(row), Decimal(row.record.today.toordinal())))
    if not isinstance(shown, Open):
        return shown, _NONE
    cause = shown.cause, shown.event
    is_shown_by_itself = cause == (field_name, None) and row.read(field_name).is_blank is False
    if is_shown_by_itself:
        return True, _NONE
    is_to_fill_in = shown.cause and "-" not in shown.cause  # [current-instance] is not
    return None, cause if is_to_fill_in else (field_name, None)


class _Lookup:
    """What branching logic sees in one row."""

    def __init__(self, row: Row) -> None:
        self._row = row

    def __call__(self, name: str, code: str, event: str | None) -> Operand:
        place, context = self._row.place, self._row.record.context
        if name == "event-name":
            return place.event or ""
        if name == "current-instance" and place.instance is not None:
            return str(place.instance)
        if name == "record-name":
            name = context.record_id_field
        if context.column(name) is None:
            return Open(name)
        is_here = event is None or event == _HERE
        row = self._row if is_here else self._row.record.base_row(event)
        if row is None:
            return Open(name, event)
        reading = row.read(checkbox_column(name, code) if code else name)
        operand = _operand(row, name, reading)
        if row is self._row or not isinstance(operand, Open):
            return operand
        return replace(operand, event=operand.event or event)


def _operand(row: Row, name: str, reading: Reading) -> Operand:
    value = reading.value
    if isinstance(value, Range) or (isinstance(value, Moment) and value.is_partial):
        return Open(name, bounds=value)
    if reading.forced is not None:
        return Open(name)
    if isinstance(value, Unknown):
        if reading.is_blank:
            is_shown, (cause, event) = visibility(row, name)
            return "" if is_shown is False else Open(cause or name, event, is_blank=True)
        if value.reason is Reason.NOT_EXPORTED and _can_never_hold(row, name):
            return ""
        is_code = value.reason is Reason.MISSING_CODE
        code = (convert.text_of(reading.raw) or "") if is_code else ""
        return Open(name, missing_code=code, codes=frozenset(row.record.context.missing_codes))
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, Decimal):
        return value
    return convert.text_of(reading.raw) or ""


def _can_never_hold(row: Row, name: str) -> bool:
    """The field's form is not designated to this event: REDCap sees a blank, for ever."""
    column = row.record.context.columns.get(name)
    is_checkbox_choice = column is not None and column.kind is Kind.TICK
    return column is not None and not is_checkbox_choice and not row.is_mapped(column.form)
