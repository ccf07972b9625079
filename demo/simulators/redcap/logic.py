"""filterLogic on one row (reference/redcap_dify.md 1.14).

Assumed where the reference is silent: a blank is smaller than every number (so `[age] < 18` also
finds blanks, as REDCap users are warned), and arithmetic with a blank is blank.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from demo.simulators.redcap.dictionary import Dictionary, checkbox_column
from demo.simulators.redcap.errors import invalid_values
from demo.simulators.redcap.logic_parser import FieldRef, Node, field_ref, parse, syntax_error
from demo.simulators.redcap.store import Record, RowKey

Scalar = str | float | bool
UNITS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "M": 30.44 * 86400, "y": 365.2425 * 86400}

_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d{1,2})?", re.ASCII)


@dataclass(frozen=True)
class Filter:
    """A parsed filterLogic, checked against the dictionary."""

    tree: Node
    dictionary: Dictionary
    now: datetime

    def matches(self, record: Record, key: RowKey) -> bool:
        """Whether the logic is true for this row. Raises ApiError 400 when nested too deep."""
        try:
            return _truth(_Row(self, record, key).value(self.tree))
        except RecursionError:
            raise syntax_error() from None


def compile_filter(text: str, dictionary: Dictionary, now: datetime) -> Filter:
    """Raises ApiError 400 for wrong syntax or unknown fields and events."""
    try:
        tree = parse(text)
        references = _references(tree)
    except RecursionError:
        raise syntax_error() from None
    for ref in references:
        if ref.name not in dictionary.by_name and ref.name not in dictionary.by_column:
            raise invalid_values("filterLogic", [ref.name])
        if ref.event and ref.event not in dictionary.events:
            raise invalid_values("filterLogic", [ref.event])
    return Filter(tree, dictionary, now)


def _references(node: Node) -> list[FieldRef]:
    if node.kind == "field":
        return [field_ref(str(node.value))]
    return [ref for part in node.parts for ref in _references(part)]


@dataclass(frozen=True)
class _Row:
    filter: Filter
    record: Record
    key: RowKey

    def value(self, node: Node) -> Scalar:
        if node.kind == "literal":
            return node.value
        if node.kind == "field":
            return self._field(field_ref(str(node.value)))
        if node.kind == "call":
            return self._call(str(node.value), node.parts)
        return self._operator(node.kind, node.parts)

    def _field(self, ref: FieldRef) -> str:
        dictionary = self.filter.dictionary
        if ref.name == dictionary.record_id:
            return self.record.id
        item = dictionary.by_name.get(ref.name)
        ticked = item is not None and item.type == "checkbox"
        column = checkbox_column(ref.name, ref.code) if ref.code else ref.name
        form = (item or dictionary.by_column[ref.name][0]).form
        event = ref.event or self.key.event
        own = not ref.event and dictionary.holds(form, event, self.key.instrument)
        values = self.record.rows.get(self.key, {}) if own else self.record.base(event)
        return values.get(column, "0" if ticked else "")

    def _operator(self, kind: str, parts: tuple[Node, ...]) -> Scalar:
        if kind == "not":
            return not _truth(self.value(parts[0]))
        if kind == "minus":
            number = _number(self.value(parts[0]))
            return "" if number is None else -number
        if kind == "and":
            return all(_truth(self.value(part)) for part in parts)
        if kind == "or":
            return any(_truth(self.value(part)) for part in parts)
        left, right = (self.value(part) for part in parts)
        if kind in ("+", "-", "*", "/", "^"):
            return _arithmetic(kind, left, right)
        return _compare(kind, left, right)

    def _call(self, name: str, parts: tuple[Node, ...]) -> Scalar:
        if name == "if":
            self._need(parts, 3)
            return self.value(parts[1] if _truth(self.value(parts[0])) else parts[2])
        values = [self.value(part) for part in parts]
        if name == "datediff":
            return _datediff(values, self.filter.now)
        if name == "contains":
            self._need(parts, 2)
            return str(values[1]).lower() in str(values[0]).lower()
        if name == "isblankormissingcode":
            return values[0] == "" or values[0] in self.filter.dictionary.missing_codes
        return _numeric_call(name, values)

    @staticmethod
    def _need(parts: tuple[Node, ...], count: int) -> None:
        if len(parts) != count:
            raise syntax_error()


def _truth(value: Scalar) -> bool:
    return value not in ("", "0", 0.0, False)


def _number(value: Scalar) -> float | None:
    if isinstance(value, bool | float):
        return float(value)
    return float(value) if _NUMBER.fullmatch(value) else None


def _compare(kind: str, left: Scalar, right: Scalar) -> bool:
    order = _order(left, right)
    tests: dict[str, Callable[[int], bool]] = {
        "=": lambda n: n == 0,
        "<>": lambda n: n != 0,
        "!=": lambda n: n != 0,
        "<": lambda n: n < 0,
        ">": lambda n: n > 0,
        "<=": lambda n: n <= 0,
        ">=": lambda n: n >= 0,
    }
    return tests[kind](order)


def _order(left: Scalar, right: Scalar) -> int:
    numbers = _number(left), _number(right)
    if numbers[0] is not None and numbers[1] is not None:
        return (numbers[0] > numbers[1]) - (numbers[0] < numbers[1])
    a, b = str(left), str(right)
    return (a > b) - (a < b)


def _arithmetic(kind: str, left: Scalar, right: Scalar) -> Scalar:
    a, b = _number(left), _number(right)
    if a is None or b is None:
        return ""
    try:
        result = _CALCULATE[kind](a, b)
    except (ZeroDivisionError, OverflowError):
        return ""
    if result.imag or not math.isfinite(result.real):
        return ""
    return float(result.real)


_CALCULATE: dict[str, Callable[[float, float], complex]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "^": operator.pow,
}


def _numeric_call(name: str, values: list[Scalar]) -> Scalar:
    numbers = [_number(value) for value in values]
    if name == "sum":
        present = [number for number in numbers if number is not None]
        return sum(present) if present else ""
    if numbers[0] is None:
        return ""
    if name == "abs":
        return abs(numbers[0])
    digits = numbers[1] if len(numbers) > 1 else 0
    places = max(-300, min(300, int(digits or 0)))
    return float(round(numbers[0], places))


def _datediff(values: list[Scalar], now: datetime) -> Scalar:
    if len(values) < 3 or values[2] not in UNITS:
        raise syntax_error()
    start, end = (_moment(value, now) for value in values[:2])
    if start is None or end is None:
        return ""
    difference = (end - start).total_seconds() / UNITS[str(values[2])]
    # An optional date format ("ymd") may stand before the sign flag.
    signed = any(value is True for value in values[3:])
    return difference if signed else abs(difference)


def _moment(value: Scalar, now: datetime) -> datetime | None:
    if value in ("today", "now"):
        midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
        return midnight if value == "today" else now
    try:
        return datetime.fromisoformat(str(value)).replace(tzinfo=None)
    except ValueError:
        return None
