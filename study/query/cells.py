"""What one row says of one column: a value, a blank, a hidden blank, a missing code, or nothing certain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto
from typing import Any, Literal, Protocol

from rules import parse
from rules.convert import Reading
from rules.record import Record, Row
from rules.values import Items, Moment, Reason, Unknown, Value
from rules.visibility import visibility
from study.design import ReferenceRange
from study.query.names import Names
from study.query.tree import Source

_APPLICABILITY = Unknown(Reason.APPLICABILITY_UNKNOWN)
MISSING = Unknown(Reason.MISSING)
HIDDEN = Unknown(Reason.MISSING, "hidden")
"""The value of a hidden blank, told from others by identity: a condition that reads it is not decided."""


class State(Enum):
    """Whether a cell says something."""

    VALUE = auto()
    BLANK = auto()
    HIDDEN = auto()
    CODE = auto()
    OPEN = auto()


@dataclass(slots=True)
class Cell:
    """`value` is typed as the rules type it; Unknown for all but values, and for what cannot be read."""

    state: State
    value: Value
    reading: Reading | None = None


BLANK = Cell(State.BLANK, MISSING)


@dataclass(slots=True)
class Limits:
    """The limits of a row in the study's unit of the field; None: open on that side."""

    low: Value = None
    high: Value = None


class Measuring(Protocol):
    """What a line asks of `study.query.measure.Measure`, which stands above it."""

    def value(self, line: Line, source: Source, cell: Cell) -> Value:
        """The cell's value in the unit that literals are in."""

    def unit(self, source: Source) -> str:
        """The study's unit of a field."""

    def unit_of(self, line: Line, source: Source) -> str:
        """The unit a row's own value is in."""

    def ranges(self, source: Source) -> tuple[ReferenceRange, ...]:
        """The reference ranges of a field."""

    def limits(self, line: Line, source: Source) -> Limits:
        """The limits of a row."""

    def scaled(self, value: Decimal, source: Source, unit: str) -> Decimal | None:
        """A value of the study's unit in another."""


class Holder(Protocol):
    """What a line asks of `study.query.subject.Subject`, which stands above it."""

    id: str
    names: Names

    @property
    def measure(self) -> Measuring:
        """Units and limits of the study."""

    @property
    def record(self) -> Record:
        """The rows without what the reader must not learn of."""

    def lines(self, form: str) -> list[Line]:
        """The rows of a form in their order."""

    def date_of(self, line: Line) -> Moment | None:
        """The row's date."""

    def event_rank(self, event: str) -> int:
        """The place of an event in the study."""


class Line:
    """One row of a form: of the dictionary (`row`), or of the columns that are no fields (`values`)."""

    __slots__ = ("day", "event", "form", "instance", "is_absent", "row", "subject", "values")

    def __init__(
        self,
        subject: Holder,
        form: str,
        row: Row | None = None,
        values: Mapping[str, Any] | None = None,
        *,
        event: str = "",
        instance: int | None = None,
        is_absent: bool = False,
    ) -> None:
        self.subject = subject
        self.form = form
        self.row = row
        self.values = values or {}
        self.event = (row.place.event or "") if row else event
        self.instance = row.place.instance if row else instance
        self.is_absent = is_absent
        self.day: Moment | Literal[False] | None = False

    def cell(self, source: Source) -> Cell:
        """What stands in `source` here."""
        if self.row is not None:
            return _of_row(self.row, source)
        value = self.values.get(source.name)
        found = value() if callable(value) else value
        if isinstance(found, Cell):
            return found
        return BLANK if found is None or found == "" else Cell(State.VALUE, found)


def _of_row(row: Row, source: Source) -> Cell:
    reading = row.read(source.name)
    value = reading.value
    if reading.is_blank is False:
        coded = _has_missing_code(value)
        return Cell(State.CODE if coded else State.VALUE, value, reading)
    if isinstance(value, Unknown) and value.reason is Reason.NOT_EXPORTED:
        return Cell(State.OPEN, value, reading)
    field = source.column.field if source.column else source.name
    shown, _cause = visibility(row, field)
    if shown is False:
        return Cell(State.HIDDEN, HIDDEN, reading)
    if shown is None:
        return Cell(State.OPEN, _APPLICABILITY, reading)
    return Cell(State.BLANK, value, reading)


def _has_missing_code(value: Value) -> bool:
    if isinstance(value, Unknown):
        return value.reason is Reason.MISSING_CODE
    if not isinstance(value, Items) or value.known:
        return False
    return any(doubt.reason is Reason.MISSING_CODE for _item, doubt in value.maybes)


def as_moment(value: Value) -> Moment | None:
    """A value as a date, also of a text field that is used as one."""
    if isinstance(value, str):
        return parse.moment(value.strip())
    return value if isinstance(value, Moment) else None
