"""What an operand is worth in a row."""

from __future__ import annotations

from decimal import Decimal

from rules.arithmetic import compute, divide, multiply, subtract, to_number
from rules.compare import to_moment
from rules.record import Record
from rules.values import Moment, Range, Reason, Unknown, Value
from study.query.cells import HIDDEN, MISSING, Cell, Line
from study.query.chosen import chosen, standing
from study.query.related import related
from study.query.tree import Constant, Operand, Read, Ref, Source

_HUNDRED = Decimal(100)


def evaluate(operand: Operand, line: Line, beside: Source) -> Value:
    """An operand on the right or behind `minus`; `beside` is the field whose range a limit is of."""
    if isinstance(operand, Constant):
        return operand.value
    if isinstance(operand, Ref):
        return _limit(operand, line, beside)
    own = other_line(operand, line)
    if own is None:
        return MISSING
    return value_of(operand, own, own.cell(operand.source))


def value_of(read: Read, line: Line, cell: Cell) -> Value:
    """The value of a cell in its comparable unit, less `minus`."""
    value = line.subject.measure.value(line, read.source, cell)
    if read.minus is None:
        return value
    minus = evaluate(read.minus, line, read.source)
    if value is HIDDEN or minus is HIDDEN:
        return HIDDEN
    return _computed(read.how, value, minus, line.subject.record)


def other_line(read: Read, line: Line) -> Line | None:
    """The row that an operand on the right reads: its own, else the one that belongs to `line`."""
    if not read.stands_alone:
        return related(line, read.source.form)
    lines = standing(line.subject.lines(read.source.form), read.place)
    rows = "latest" if read.rows in {None, "all"} else read.rows
    found = chosen(lines, rows, read.source)
    return found[-1] if found else None


def _limit(ref: Ref, line: Line, beside: Source) -> Value:
    limits = line.subject.measure.limits(line, beside)
    value = limits.low if ref.side == "low" else limits.high
    if value is None:
        return MISSING
    number = to_number(line.subject.record, value)
    return number if isinstance(number, Unknown) else compute(multiply, number, ref.times)


def _computed(how: str, value: Value, minus: Value, record: Record) -> Value:
    if how == "days":
        return _days(value, minus, record)
    left, right = to_number(record, value), to_number(record, minus)
    if how == "ratio":
        return compute(divide, left, right)
    difference = compute(subtract, left, right)
    if how == "diff":
        return difference
    return compute(divide, compute(multiply, difference, _HUNDRED), right)


def _days(value: Value, minus: Value, record: Record) -> Value:
    """Calendar days from `minus` to `value`; partial dates give bounds."""
    later, earlier = to_moment(record, value), to_moment(record, minus)
    if not isinstance(later, Moment) or not isinstance(earlier, Moment):
        return later if isinstance(later, Unknown) else earlier
    low, high = later.days[0] - earlier.days[1], later.days[1] - earlier.days[0]
    if low == high:
        return Decimal(low)
    return Range(Decimal(low), Decimal(high), reason=Reason.PARTIAL_DATE)
