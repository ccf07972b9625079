"""Three-valued truth of conditions on rows; `None` is a hidden blank: neither true, false nor open."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from rules.compare import contains, equal, less
from rules.record import Record
from rules.values import Items, Reason, Unknown, Value
from study.query.cells import HIDDEN, Cell, Line, State
from study.query.operands import evaluate, value_of
from study.query.tree import Test

Truth: TypeAlias = bool | Unknown
RowTruth: TypeAlias = bool | Unknown | None


def of_row(test: Test, line: Line) -> RowTruth:
    """Whether a test holds in one row."""
    left = test.left
    cell = line.cell(left.source)
    if cell.state is State.HIDDEN:
        return None
    if test.op in {"blank", "filled", "missing_code"}:
        return _explicit(test.op, cell)
    value = value_of(left, line, cell)
    right = [evaluate(operand, line, left.source) for operand in test.right]
    if value is HIDDEN or any(other is HIDDEN for other in right):
        return None
    if isinstance(value, Unknown):
        return value
    return _compared(test.op, value, right, line.subject.record)


def _explicit(op: str, cell: Cell) -> Truth:
    if isinstance(cell.value, Unknown) and cell.state is State.OPEN:
        may_be_blank = op == "blank" or cell.value.reason is Reason.NOT_EXPORTED
        return cell.value if may_be_blank else False
    wanted = {"blank": State.BLANK, "filled": State.VALUE, "missing_code": State.CODE}
    return cell.state is wanted[op]


def _compared(op: str, value: Value, right: list[Value], record: Record) -> Truth:
    if op == "=":
        return equal(record, value, right[0])
    if op == "!=":
        return negated(equal(record, value, right[0]))
    if op == "between":
        low = less(record, right[0], value, or_equal=True)
        return every((low, less(record, value, right[1], or_equal=True)))
    if op == "in":
        return some(_is_one(record, value, one) for one in right)
    if op == "contains":
        return _contained(record, value, right[0])
    strict = op in {">", "<"}
    first, second = (right[0], value) if op in {">", ">="} else (value, right[0])
    return less(record, first, second, or_equal=not strict)


def _is_one(record: Record, value: Value, one: Value) -> Truth:
    return contains(record, one, value) if isinstance(value, Items) else equal(record, value, one)


def _contained(record: Record, value: Value, part: Value) -> Truth:
    if isinstance(value, Items):
        return contains(record, part, value)
    if isinstance(part, Unknown):
        return part
    return str(part).casefold() in str(value).casefold()


def negated(truth: Truth) -> Truth:
    """Not, three-valued."""
    return truth if isinstance(truth, Unknown) else not truth


def every(truths: Iterable[RowTruth]) -> Truth:
    """And, three-valued; a hidden blank satisfies nothing."""
    doubt: Unknown | None = None
    for truth in truths:
        if isinstance(truth, Unknown):
            doubt = _first(doubt, truth)
        elif not truth:
            return False
    return True if doubt is None else doubt


def some(truths: Iterable[RowTruth]) -> Truth:
    """Or, three-valued; hidden blanks leave nothing open."""
    doubt: Unknown | None = None
    for truth in truths:
        if isinstance(truth, Unknown):
            doubt = _first(doubt, truth)
        elif truth:
            return True
    return False if doubt is None else doubt


def decided(truths: Iterable[RowTruth]) -> Truth:
    """`"holds": "every"`: all decided rows, and there is one."""
    found = list(truths)
    known = [truth for truth in found if isinstance(truth, bool)]
    return all(known) if known else some(found)


def _first(doubt: Unknown | None, other: Unknown) -> Unknown:
    return other if doubt is None else doubt
