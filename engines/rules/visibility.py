"""Is a field shown on its form? Decided by its branching logic, three-valued (E06-E08)."""

from __future__ import annotations

import re
from decimal import Decimal

from engines.rules import convert
from engines.rules.branching import parse_logic
from engines.rules.context import Kind, checkbox_column
from engines.rules.convert import Reading
from engines.rules.errors import RuleError
from engines.rules.operands import Open, Operand, truth
from engines.rules.record import Row
from engines.rules.values import Moment, Range, Reason, Unknown

Visibility = tuple[bool | None, str]
_FIELD = re.compile(r"\[([^\[\]]+)\]")


def branching_names(text: str) -> list[str]:
    """The columns a branching logic mentions, for a result's `detail`."""
    names = []
    for name in _FIELD.findall(text):
        stem, _parenthesis, code = name.partition("(")
        stem = stem.removesuffix(":value").strip()
        names.append(checkbox_column(stem, code.rstrip(") ")) if code else stem)
    return list(dict.fromkeys(names))


def visibility(row: Row, field_name: str) -> Visibility:
    """(True shown / False hidden / None undecided, the field that leaves it undecided).

    Logic outside the known subset, or about a smart variable that is not known, leaves the field
    itself undecided, whatever it holds.
    """
    known = row.visibility.get(field_name)
    if known is None:
        row.visibility[field_name] = (True, "")  # a field that depends on itself counts as shown
        known = row.visibility[field_name] = _decide(row, field_name)
    return known


def _decide(row: Row, field_name: str) -> Visibility:
    column = row.record.context.columns.get(field_name)
    if column is None or not column.branching:
        return True, ""
    try:
        node = parse_logic(column.branching)
    except RuleError:
        return None, field_name
    shown = truth(node(_Lookup(row), Decimal(row.record.today.toordinal())))
    if not isinstance(shown, Open):
        return shown, ""
    is_shown_by_itself = shown.cause == field_name and row.read(field_name).is_blank is False
    if is_shown_by_itself:
        return True, ""
    is_smart_variable = "-" in shown.cause  # [current-instance] is nothing to fill in
    return None, field_name if is_smart_variable else shown.cause


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
        is_here = event in {None, "event-name"}
        row = self._row if is_here or event is None else self._row.record.base_row(event)
        if row is None:
            return Open(name)
        reading = row.read(checkbox_column(name, code) if code else name)
        return _operand(row, name, reading)


def _operand(row: Row, name: str, reading: Reading) -> Operand:
    value = reading.value
    if isinstance(value, Range) or (isinstance(value, Moment) and value.is_partial):
        return Open(name, bounds=value)
    if reading.forced is not None:
        return Open(name)
    if isinstance(value, Unknown):
        if reading.is_blank:
            is_shown, cause = visibility(row, name)
            return "" if is_shown is False else Open(cause or name, is_blank=True)
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
