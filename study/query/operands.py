"""What an operand is worth in a row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import TypeAlias

from core.rules.arithmetic import compute, divide, multiply, subtract, to_number
from core.rules.compare import contains, equal, less, to_moment
from core.rules.record import Record
from core.rules.values import Items, Moment, Range, Reason, Unknown, Value
from study.query.schema import Newest, Oldest, Rows
from study.query.subject import HIDDEN, MISSING, Cell, Line, State, related
from study.query.tree import VISITS, Constant, Operand, Places, Read, Ref, Source, Test
from study.visits.calendar import VisitState

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
    found = pick_lines(lines, rows, read.source)
    found += unusable(lines, rows, read.source)
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
    if left.source.name == _VISIT_STATE:
        doubt = _undecided(line, value, right)
        if doubt is not None:
            return doubt
    return _compared(test.op, value, right, line.subject.record)


_VISIT_STATE = f"{VISITS}.state"


def _undecided(line: Line, value: Value, right: list[Value]) -> Unknown | None:
    """That a visit's state is `unknown`, which may be any of the others, where that is not asked for itself."""
    state: VisitState = line.values[VISITS]
    named = any(equal(line.subject.record, other, value) is True for other in right)
    return None if named or not state.is_doubtful else Unknown(state.doubt)


def _explicit(op: str, cell: Cell) -> Truth:
    if isinstance(cell.value, Unknown) and cell.state is State.OPEN:
        # What may be hidden is blank in any case.
        is_empty = op != "blank" and cell.value.reason is Reason.APPLICABILITY_UNKNOWN
        return False if is_empty else cell.value
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
        return some(
            contains(record, one, value) if isinstance(value, Items) else equal(record, value, one)
            for one in right
        )
    if op == "contains":
        return _contained(record, value, right[0])
    strict = op in {">", "<"}
    first, second = (right[0], value) if op in {">", ">="} else (value, right[0])
    return less(record, first, second, or_equal=not strict)


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
            doubt = truth if doubt is None else doubt
        elif not truth:
            return False
    return True if doubt is None else doubt


def some(truths: Iterable[RowTruth]) -> Truth:
    """Or, three-valued; hidden blanks leave nothing open."""
    doubt: Unknown | None = None
    for truth in truths:
        if isinstance(truth, Unknown):
            doubt = truth if doubt is None else doubt
        elif truth:
            return True
    return False if doubt is None else doubt


def decided(truths: Iterable[RowTruth]) -> Truth:
    """`"holds": "every"`: all decided rows, and there is one."""
    found = list(truths)
    known = [truth for truth in found if isinstance(truth, bool)]
    return all(known) if known else some(found)


ValueOf: TypeAlias = Callable[[Line], Value]


def standing(lines: Sequence[Line], place: Places | None) -> list[Line]:
    """Those at the events or visits of `place`."""
    if place is None:
        return list(lines)
    return [line for line in lines if stands(line, place)]


def stands(line: Line, place: Places) -> bool:
    """Whether a row stands at the events, or is one of the visits, of `place`."""
    if line.form == VISITS and not line.event:
        return line.values["@visits.visit"] in place.visits
    return line.event in place.events


def pick_lines(
    lines: Sequence[Line], rows: Rows | None, source: Source | None, value_of: ValueOf | None = None
) -> list[Line]:
    """The rows that `rows` picks from lines in order; `source` None: of a form, whose blanks count."""
    if rows is None or rows == "all":
        return list(lines)
    told = [
        line
        for line in lines
        if source is None or line.cell(source).state in {State.VALUE, State.CODE}
    ]
    if isinstance(rows, Newest):
        return told[-rows.latest :]
    if isinstance(rows, Oldest):
        return told[: rows.first]
    if rows == "latest":
        return told[-1:]
    if rows == "first":
        return told[:1]
    read = value_of or (_reader(source) if source is not None else None)
    return _extreme(told, rows == "highest", read) if read is not None else told


def unusable(
    lines: Sequence[Line], rows: Rows | None, source: Source | None, value_of: ValueOf | None = None
) -> list[Line]:
    """Rows that might be among those `rows` asks for: of the highest and lowest those that cannot be compared,
    and what REDCap does not show.
    """
    if source is None or rows is None or rows == "all":
        return []
    read, of_end = value_of or _reader(source), rows in {"highest", "lowest"}
    if not of_end and not any(line.subject.data.missing_columns for line in lines[:1]):
        return []

    def is_open(line: Line) -> bool:
        cell = line.cell(source)
        value = read(line) if of_end and cell.state is State.VALUE else cell.value
        if cell.state is not State.VALUE:
            return isinstance(value, Unknown) and value.reason is Reason.NOT_EXPORTED
        return isinstance(value, Unknown) and of_end and not is_missing(value)

    return [line for line in lines if is_open(line)]


def is_missing(doubt: Unknown) -> bool:
    """Whether nothing was written, rather than something that cannot be used."""
    return doubt.reason in {Reason.MISSING, Reason.MISSING_CODE, Reason.APPLICABILITY_UNKNOWN}


def _reader(source: Source) -> ValueOf:
    return lambda line: line.subject.measure.value(line, source, line.cell(source))


def _extreme(lines: Sequence[Line], highest: bool, value_of: ValueOf) -> list[Line]:
    """Those that no other surely exceeds: ties, and what bounds leave open."""
    known = [(line, value) for line in lines if not isinstance(value := value_of(line), Unknown)]
    values = [value for _line, value in known]
    record = lines[0].subject.record if lines else None

    def exceeded(value: Value) -> bool:
        assert record is not None  # noqa: S101
        pairs = ((value, other) if highest else (other, value) for other in values)
        return any(less(record, low, high) is True for low, high in pairs)

    return [line for line, value in known if not exceeded(value)]
