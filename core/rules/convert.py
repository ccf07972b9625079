"""One cell of a row, read as the type its column has in the dictionary."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple, TypeAlias

from core.rules import parse
from core.rules.context import Column, Kind, StudyContext, checkbox_column
from core.rules.values import (
    DAY,
    MINUTE,
    Code,
    Items,
    Moment,
    Range,
    Reason,
    Unknown,
    Value,
    json_value,
)


class Place(NamedTuple):
    """Where a row stands in its record."""

    event: str | None
    instrument: str | None
    instance: int | None


_MISSING = Unknown(Reason.MISSING)
_MISSING_CODE = Unknown(Reason.MISSING_CODE)
_NOT_EXPORTED = Unknown(Reason.NOT_EXPORTED)
_MISMATCH = Unknown(Reason.TYPE_MISMATCH)
_BAD_CHOICE = Unknown(Reason.INVALID_CHOICE)
_MAX_INT_BITS = 4096
_BOUNDED = (Unknown, Range)


@dataclass(slots=True)  # frozen would double the time: one is made for every cell
class Reading:
    """What a var was in one row.

    `is_blank` None: the column is not there, so not even blankness is known. `is_filled` answers
    `!!`: ticked for yes/no and checkboxes, "has a value" for everything else. `unit`: the one that
    `value` was converted into for a comparison.
    """

    name: str
    place: Place
    raw: Any
    label: str | None
    value: Value
    is_blank: bool | None
    is_filled: bool | Unknown
    unit: str = ""

    @property
    def forced(self) -> Reason | None:
        """The reason this value makes any rule that reads it fail."""
        value = self.value
        return value.reason if value is _MISMATCH or value is _BAD_CHOICE else None

    def as_detail(self) -> dict[str, Any]:
        """The entry of a result's `detail`."""
        entry = {
            "var": self.name,
            "event": self.place.event,
            "instrument": self.place.instrument,
            "instance": self.place.instance,
            "raw": self.raw,
            "label": self.label,
            "value": json_value(self.value),
            "reason": _doubt(self.value),
        }
        return entry | {"unit": self.unit} if self.unit else entry


def _doubt(value: Value) -> Reason | None:
    if isinstance(value, _BOUNDED):
        return value.reason
    return Reason.PARTIAL_DATE if isinstance(value, Moment) and value.is_partial else None


def text_of(value: Any) -> str | None:
    """A cell as text: REDCap sends strings, other readers numbers; None for what is no scalar."""
    if isinstance(value, str):
        return value.strip()
    if value is None:
        return ""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return str(value) if value.bit_length() <= _MAX_INT_BITS else None
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value) if isinstance(value, Decimal) else None


def absent(name: str, place: Place) -> Reading:
    """A column that was not exported, or that no row in reach can hold."""
    return Reading(name, place, None, None, _NOT_EXPORTED, None, _NOT_EXPORTED)


def read_cell(
    column: Column, data: Mapping[str, Any], place: Place, context: StudyContext
) -> Reading:
    """The cell of `column` in the row `data`."""
    if column.kind is Kind.TICKS:
        return _read_ticks(column, data, place, context)
    if column.name not in data:
        return absent(column.name, place)
    if column.kind is Kind.TICK:
        return _read_tick(column, data, place, context)
    raw = data[column.name]
    text = text_of(raw)
    if text == "":
        return Reading(column.name, place, raw, None, _MISSING, True, False)
    if column.kind is Kind.RAW and isinstance(raw, bool | list):
        return _read_json(column, place, raw)
    label, value = typed(column, text, context)
    is_filled: bool | Unknown = True
    if column.kind is Kind.FLAG:
        is_filled = value if isinstance(value, bool | Unknown) else True
    return Reading(column.name, place, shown(raw), label, value, False, is_filled)


def _read_json(column: Column, place: Place, raw: bool | list[Any]) -> Reading:
    """Without a dictionary, data of our own making may hold true, false and lists."""
    if isinstance(raw, bool):
        return Reading(column.name, place, raw, None, raw, False, raw)
    texts = [text_of(item) for item in raw]
    value: Value = _MISMATCH if None in texts else Items(tuple(texts))
    return Reading(column.name, place, texts, None, value, not raw, bool(raw))


def shown(raw: Any) -> Any:
    """A raw value that is safe to print as JSON."""
    if isinstance(raw, str):
        return raw
    if isinstance(raw, float) and not math.isfinite(raw):
        return repr(raw)
    if isinstance(raw, int) and raw.bit_length() > _MAX_INT_BITS:
        return None
    return raw if isinstance(raw, int | float | type(None)) else str(type(raw).__name__)


def typed(column: Column, text: str | None, context: StudyContext) -> tuple[str | None, Value]:
    """Label and value of a cell that is not blank."""
    if text is None:
        return None, _MISMATCH
    if text in context.missing_codes:
        return context.missing_codes[text], _MISSING_CODE
    if column.kind is Kind.CODE:
        return _choice(column, text)
    if column.kind is Kind.FLAG:
        return (column.choices[text], text == "1") if text in {"0", "1"} else (None, _BAD_CHOICE)
    return None, _parse(column, text)


def _choice(column: Column, text: str) -> tuple[str | None, Value]:
    if text not in column.choices:
        return None, _BAD_CHOICE
    label = column.choices[text]
    return label, Code(text, parse.exact(text), label)


def _parse(column: Column, text: str) -> Value:
    kind = column.kind
    value: Value = text
    if kind is Kind.NUMBER or kind is Kind.INTEGER:
        value = parse.number(text, decimal_comma=column.decimal_comma)
        if kind is Kind.INTEGER and isinstance(value, Decimal):
            value = value if value == value.to_integral_value() else None
    elif kind is Kind.DATE:
        value = _date(text)
    elif kind is Kind.DATETIME:
        value = _datetime(text)
    elif kind is Kind.TIME:
        value = parse.clock(text, minutes_first=column.minutes_first)
    return _MISMATCH if value is None else value


def _date(text: str) -> Moment | None:
    value = parse.moment(text)
    return value if value is None or value.precision == DAY else None


def _datetime(text: str) -> Moment | None:
    """A datetime field with a bare date: the time of day is the unknown part."""
    value = parse.moment(text)
    if value is None or value.precision != DAY:
        return value
    return Moment(value.low, value.high.replace(hour=23, minute=59, second=59), MINUTE)


# --- checkboxes -------------------------------------------------------------------------------


def untyped_checkbox(name: str, data: Mapping[str, Any]) -> Column | None:
    """Without a dictionary the columns `name___code` tell that `name` is a checkbox."""
    prefix = f"{name}___"
    codes = {key[len(prefix) :]: "" for key in data if key.startswith(prefix)}
    return Column(name, name, "", Kind.TICKS, choices=codes) if codes else None


def _read_tick(
    column: Column, data: Mapping[str, Any], place: Place, context: StudyContext
) -> Reading:
    raw, label = data[column.name], column.choices.get(column.code)
    value, is_blank = _tick(column, data, context)
    filled = False if is_blank and text_of(raw) == "" and not _is_unopened(column, data) else value
    return Reading(column.name, place, shown(raw), label, value, is_blank, filled)


def _tick(
    column: Column, data: Mapping[str, Any], context: StudyContext
) -> tuple[bool | Unknown, bool | None]:
    """Whether the choice is ticked, and whether that is a blank (None: it can't be told)."""
    text = text_of(data[column.name])
    if text == "1":
        return True, False
    if text in context.missing_codes and text not in {"", "0"}:
        return _MISSING_CODE, False
    if text not in {"", "0"}:
        return _BAD_CHOICE, False
    if _is_unopened(column, data):
        return _MISSING, None
    if not column.is_missing_code and _ticked_missing_code(column, data, context):
        return _MISSING_CODE, False
    return (_MISSING, True) if text == "" else (False, False)


def _is_unopened(column: Column, data: Mapping[str, Any]) -> bool:
    """The form was never opened: an unticked box says nothing (contracts.md, *Blanks*)."""
    return bool(column.form) and text_of(data.get(f"{column.form}_complete", "0")) == ""


def _ticked_missing_code(
    column: Column, data: Mapping[str, Any], context: StudyContext
) -> str | None:
    for code in context.missing_codes:
        name = checkbox_column(column.field, code)
        if code not in column.choices and text_of(data.get(name)) == "1":
            return code
    return None


def _read_ticks(
    column: Column, data: Mapping[str, Any], place: Place, context: StudyContext
) -> Reading:
    ticks: list[_Tick] = []
    for code, label in column.choices.items():
        name = checkbox_column(column.name, code)
        tick = Column(name, column.name, column.form, Kind.TICK, code=code)
        found = _tick(tick, data, context) if name in data else (_NOT_EXPORTED, None)
        ticks.append((Code(code, parse.exact(code), label), *found))
    if all(value is _NOT_EXPORTED for _choice, value, _is_blank in ticks):
        return absent(column.name, place)
    known = [choice for choice, value, _is_blank in ticks if value is True]
    maybes = [(choice, v) for choice, v, _is_blank in ticks if isinstance(v, Unknown)]
    is_bad = any(value is _BAD_CHOICE for _choice, value, _is_blank in ticks)
    value = _BAD_CHOICE if is_bad else Items(tuple(known), tuple(maybes))
    raw, labels = [item.code for item in known], [item.label or item.code for item in known]
    ticked, is_blank = _ticked_missing_code(column, data, context), _is_blank(ticks)
    if ticked is not None:
        raw, labels, is_blank = [*raw, ticked], [*labels, context.missing_codes[ticked]], False
    shown_label = ", ".join(labels) or None
    return Reading(column.name, place, raw, shown_label, value, is_blank, _is_filled(ticks))


_Tick: TypeAlias = tuple[Code, bool | Unknown, bool | None]


def _is_blank(ticks: list[_Tick]) -> bool | None:
    """No entry in any box, nor a missing code; None where some box says nothing."""
    entries = (True, _MISSING_CODE, _BAD_CHOICE)
    if any(value in entries for _choice, value, _is_blank in ticks):
        return False
    return None if any(is_blank is None for _choice, _value, is_blank in ticks) else True


def _is_filled(ticks: list[_Tick]) -> bool | Unknown:
    """Something ticked; an empty cell is no tick, other doubts than a closed form come first."""
    if any(value is True for _choice, value, _is_blank in ticks):
        return True
    doubts = [v for _choice, v, is_blank in ticks if isinstance(v, Unknown) and not is_blank]
    others = [doubt for doubt in doubts if doubt is not _MISSING]
    return next(iter((*others, *doubts)), False)
