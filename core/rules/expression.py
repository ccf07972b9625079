"""A compiled piece of a clinical rule and what is known about it before any data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, Final, TypeAlias

from core.rules import parse
from core.rules.arithmetic import EXACT, drop_noise
from core.rules.context import Column, Kind
from core.rules.convert import Reading, text_of
from core.rules.limits import LIKELY_ITEMS
from core.rules.record import Record, Row
from core.rules.text import translate as _
from core.rules.values import Items, Reason, Unknown, Value, json_value


class Type(StrEnum):
    """The static type of an expression; RAW is a column without dictionary, ANY undetermined."""

    NUMBER = "number"
    DATE = "date"
    TIME = "time of day"
    CODE = "choice"
    FLAG = "yes/no"
    TEXT = "text"
    LIST = "list"
    NULL = "null"
    RAW = "raw"
    ANY = "any"


_TYPE_OF_KIND = {
    Kind.NUMBER: Type.NUMBER,
    Kind.INTEGER: Type.NUMBER,
    Kind.DATE: Type.DATE,
    Kind.DATETIME: Type.DATE,
    Kind.TIME: Type.TIME,
    Kind.CODE: Type.CODE,
    Kind.FLAG: Type.FLAG,
    Kind.TICK: Type.FLAG,
    Kind.TICKS: Type.LIST,
    Kind.TEXT: Type.TEXT,
    Kind.RAW: Type.RAW,
}


def type_of(column: Column) -> Type:
    """The type of what a column holds."""
    return _TYPE_OF_KIND[column.kind]


@dataclass(slots=True)  # frozen would double the time: one is made for every rule and row
class Scope:
    """Where a node is evaluated: a row, and the element an array operator is looking at."""

    row: Row
    item: Value = None
    accumulator: Value = None

    @property
    def record(self) -> Record:
        """The record of the row."""
        return self.row.record

    def at(self, row: Row) -> Scope:
        """The same scope on another row."""
        return replace(self, row=row)


Node: TypeAlias = Callable[[Scope], Value]
ReadNode: TypeAlias = Callable[[Scope], Reading | None]


class _NoLiteral:
    """Marks an expression that is computed."""


NO_LITERAL: Final = _NoLiteral()


@dataclass(frozen=True)
class Expr:
    """`reading` is set for a var (also inside across_events): its blank can be asked for;
    None as the reading means that the event has no row. `items` are those of a written list,
    `branches` the possible results of an `if`, or what `across_events` evaluates elsewhere, `most`
    the items of a list that is computed, where that is known."""

    node: Node
    type: Type
    column: Column | None = None
    literal: Any = NO_LITERAL
    reading: ReadNode | None = None
    is_element: bool = False
    items: tuple[Expr, ...] | None = None
    branches: tuple[Expr, ...] = ()
    element: Expr | None = None
    most: int | None = None

    @property
    def most_items(self) -> int:
        """How many items a list has at most, or likely."""
        if self.items is not None:
            return len(self.items)
        if self.most is None and self.column is not None and self.column.choices:
            return len(self.column.choices)
        return LIKELY_ITEMS if self.most is None else self.most

    @property
    def is_literal(self) -> bool:
        """Whether the value stands in the rule itself."""
        return self.literal is not NO_LITERAL

    @property
    def is_text_literal(self) -> bool:
        """Whether a text stands in the rule itself."""
        return isinstance(self.literal, str)

    @property
    def has_numeric_codes(self) -> bool:
        """A choice whose codes are all numbers can be ordered and added up."""
        codes = self.column.choices if self.column else {}
        return bool(codes) and all(parse.exact(code) is not None for code in codes)


@dataclass(frozen=True, slots=True)
class Conversion:
    """A column of the row at `event` (None: the row itself) in another unit, for `detail`."""

    event: str | None
    reading: ReadNode
    value: Node
    unit: str

    def of(self, row: Row) -> Reading | None:
        """What the column is worth as it is compared; None where the event has no row."""
        source = row if self.event is None else row.record.base_row(self.event)
        reading = None if source is None else self.reading(Scope(source))
        if source is None or reading is None:
            return None
        return replace(reading, value=self.value(Scope(source)), unit=self.unit)


def constant(value: Value, type_: Type, literal: Any = NO_LITERAL) -> Expr:
    """An expression that is always `value`."""
    return Expr(lambda _scope: value, type_, literal=literal)


NOT_EXPORTED = Unknown(Reason.NOT_EXPORTED)


def blank(expr: Expr) -> Node:
    """A node that answers whether `expr` is blank (*Blanks* of contracts.md).

    Only a var, or an element of a list, can be asked for its blank; what is computed from a blank
    is unknown, and so is whether it is blank.
    """
    read = expr.reading
    if read is None:
        test = _is_blank_value if expr.is_element else _is_empty
        return lambda scope: test(expr.node(scope))

    def evaluate(scope: Scope) -> Value:
        reading = read(scope)
        if reading is None:
            return NOT_EXPORTED
        return reading.is_blank if reading.is_blank is not None else _doubt(reading.value)

    return evaluate


def _doubt(value: Value) -> Value:
    if not isinstance(value, Items) or not value.maybes:
        return value
    doubts = [doubt for _item, doubt in value.maybes]
    return next((doubt for doubt in doubts if doubt.reason is not Reason.MISSING), doubts[0])


def _is_blank_value(value: Value) -> Value:
    is_missing = isinstance(value, Unknown) and value.reason is Reason.MISSING
    return is_missing or _is_empty(value)


def _is_empty(value: Value) -> Value:
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Items):
        return False if value.known else value.maybes[0][1] if value.maybes else True
    return value is None or value == ""


def negated(node: Node) -> Node:
    """Kleene's not."""

    def evaluate(scope: Scope) -> Value:
        value = node(scope)
        return value if isinstance(value, Unknown) else not value

    return evaluate


def filled(expr: Expr) -> Node | None:
    """A node for `!!` directly on a var: ticked, or has a value; None for other expressions."""
    read = expr.reading
    if read is not None:

        def evaluate(scope: Scope) -> Value:
            reading = read(scope)
            return NOT_EXPORTED if reading is None else reading.is_filled

        return evaluate
    if not expr.is_element:
        return None

    def of_element(scope: Scope) -> Value:
        value = expr.node(scope)
        if isinstance(value, bool):
            return value
        empty = _is_blank_value(value)
        return empty if isinstance(empty, Unknown) else not empty

    return of_element


def entered(expr: Expr) -> Node:
    """A column's text as entered (so "007" stays "007"), any other value in its json_value form."""
    read = expr.reading
    if read is None:
        return lambda scope: _as_text(expr.node(scope))

    def evaluate(scope: Scope) -> Value:
        reading = read(scope)
        if reading is None:
            return NOT_EXPORTED
        value, raw = reading.value, reading.raw
        if isinstance(value, Unknown | Items):
            return _as_text(value)
        return raw if isinstance(raw, str) else text_of(raw) or ""

    return evaluate


def _as_text(value: Value) -> Value:
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Decimal):
        return (
            f"{EXACT.normalize(drop_noise(value)):f}" if abs(value.adjusted()) < 40 else str(value)
        )
    if isinstance(value, Items):
        return Unknown(None, _("A list is no text."))
    shown = json_value(value)
    if isinstance(shown, bool):
        return "true" if shown else "false"
    return Unknown(Reason.MISSING) if shown is None or shown == "" else str(shown)
