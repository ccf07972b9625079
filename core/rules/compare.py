"""Comparisons in clinical mode: both sides brought to one type, then decided only if all that the
values can be lies on one side (*Comparisons* of contracts.md)."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from typing import Any, TypeVar

from core.rules import parse
from core.rules.arithmetic import settled, to_number
from core.rules.record import Record
from core.rules.values import (
    DAY,
    MINUTE,
    Clock,
    Code,
    Items,
    Moment,
    Range,
    Reason,
    Unknown,
    Value,
)

T = TypeVar("T")
Verdict = bool | Unknown
Span = tuple[Any, Any, bool, bool]
"""Lowest and highest, and whether each of them is left out."""


def equal(record: Record, a: Value, b: Value) -> Verdict:
    """a == b (and ===: clinical values are typed, the two mean the same)."""
    if isinstance(a, Unknown):
        return a
    if isinstance(b, Unknown):
        return b
    if isinstance(a, Items) or isinstance(b, Items):
        return _same_items(record, a, b)
    if isinstance(a, Code) or isinstance(b, Code):
        return _same_code(a, b)
    if isinstance(a, str) and isinstance(b, str):
        return a == b
    if a is None or b is None:
        return a is b
    pair = _unify(record, a, b)
    return pair if isinstance(pair, Unknown) else _equal_spans(*pair)


def less(record: Record, a: Value, b: Value, *, or_equal: bool = False) -> Verdict:
    """a < b, or a <= b."""
    if isinstance(a, Unknown):
        return a
    if isinstance(b, Unknown):
        return b
    pair = _unify(record, a, b)
    return pair if isinstance(pair, Unknown) else _less_spans(*pair, or_equal=or_equal)


# --- bringing both sides to one type ------------------------------------------------------------


def _unify(record: Record, a: Any, b: Any) -> Any:
    """A pair of numbers, Ranges or spans of time of the same precision; or Unknown."""
    if isinstance(a, Moment) or isinstance(b, Moment):
        return _pair(_same_precision, to_moment(record, a), to_moment(record, b))
    if isinstance(a, Clock) or isinstance(b, Clock):
        return _pair(_clock_seconds, to_clock(record, a), to_clock(record, b))
    if isinstance(a, str) and isinstance(b, str):
        first, second = _guess(a, b)
        if first is None or second is None:
            return record.force(Reason.TYPE_MISMATCH)
        return _unify(record, first, second)
    return _pair(_settled, to_number(record, a), to_number(record, b))


def _pair(function: Callable[[Any, Any], Any], a: Value, b: Value) -> Any:
    if isinstance(a, Unknown):
        return a
    return b if isinstance(b, Unknown) else function(a, b)


def _settled(a: Decimal | Range, b: Decimal | Range) -> tuple[Any, Any]:
    return settled(a), settled(b)


def _guess(a: str, b: str) -> tuple[Value, Value]:
    """Two untyped texts side by side: numbers, dates or times of day if both are."""
    numbers = parse.number(a), parse.number(b)
    if None not in numbers:
        return numbers
    moments = parse.moment(a), parse.moment(b)
    return moments if None not in moments else (parse.clock(a), parse.clock(b))


def to_moment(record: Record, value: Value) -> Moment | Unknown:
    """`value` as a date or datetime; text that is none makes the rule FAIL."""
    return value if isinstance(value, Moment) else _parsed(record, value, parse.moment)


def to_clock(record: Record, value: Value) -> Clock | Unknown:
    """`value` as a time of day; text that is none makes the rule FAIL."""
    return value if isinstance(value, Clock) else _parsed(record, value, parse.clock)


def _parsed(record: Record, value: Value, parser: Callable[[str], T | None]) -> T | Unknown:
    if isinstance(value, Unknown):
        return value
    if value is None or value == "":
        return Unknown(Reason.MISSING)
    parsed = parser(value) if isinstance(value, str) else None
    return record.force(Reason.TYPE_MISMATCH) if parsed is None else parsed


def _same_precision(a: Moment, b: Moment) -> tuple[Moment, Moment]:
    """A datetime against a date compares calendar days; seconds against minutes, minutes."""
    precision = min(a.precision, b.precision)
    return _truncated(a, precision), _truncated(b, precision)


def _truncated(value: Moment, precision: int) -> Moment:
    if value.precision == precision:
        return value
    cut: dict[str, Any] = (
        {"hour": 0, "minute": 0, "second": 0} if precision == DAY else {"second": 0}
    )
    return Moment(value.low.replace(**cut), value.high.replace(**cut), precision)


def _clock_seconds(a: Clock, b: Clock) -> tuple[Decimal, Decimal]:
    unit = 60 if MINUTE in {a.precision, b.precision} else 1
    return Decimal(a.seconds // unit), Decimal(b.seconds // unit)


# --- deciding -----------------------------------------------------------------------------------


def _reason(*values: Any) -> Unknown:
    is_date = any(isinstance(value, Moment) for value in values)
    found = next((value.reason for value in values if isinstance(value, Range)), None)
    return Unknown(Reason.PARTIAL_DATE if is_date else found)


def _span(value: Any) -> Span:
    if isinstance(value, Range):
        return value.low, value.high, value.low_open, value.high_open
    if isinstance(value, Moment):
        return value.low, value.high, False, False
    return value, value, False, False


def _less_spans(a: Any, b: Any, *, or_equal: bool) -> Verdict:
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        return a <= b if or_equal else a < b
    is_less = less_span(_span(a), _span(b), or_equal=or_equal)
    return _reason(a, b) if is_less is None else is_less


def less_span(a: Span, b: Span, *, or_equal: bool) -> bool | None:
    """a < b (or a <= b) for all that both can be; None where that is open."""
    a_low, a_high, a_low_open, a_high_open = a
    b_low, b_high, b_low_open, b_high_open = b
    if _is_below(a_high, b_low, touching=or_equal or a_high_open or b_low_open):
        return True
    if _is_below(b_high, a_low, touching=not or_equal or b_high_open or a_low_open):
        return False
    return None


def _is_below(high: Any, low: Any, *, touching: bool) -> bool:
    """Whether everything up to `high` lies below everything from `low` (None: unbounded)."""
    if high is None or low is None:
        return False
    return bool(high <= low if touching else high < low)


def _equal_spans(a: Any, b: Any) -> Verdict:
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        return a == b
    is_equal = equal_span(_span(a), _span(b))
    return _reason(a, b) if is_equal is None else is_equal


def equal_span(a: Span, b: Span) -> bool | None:
    """a == b for all that both can be; None where that is open."""
    a_low, a_high, a_low_open, a_high_open = a
    b_low, b_high, b_low_open, b_high_open = b
    if _is_below(a_high, b_low, touching=a_high_open or b_low_open):
        return False
    if _is_below(b_high, a_low, touching=b_high_open or a_low_open):
        return False
    is_exact = a_low == a_high == b_low == b_high and a_low is not None
    return True if is_exact and not (a_low_open or b_low_open) else None


def _same_code(a: Any, b: Any) -> Verdict:
    """Codes are names: `1` and `"1"` are the code 1; numbers count where the text differs."""
    if isinstance(b, Code) and not isinstance(a, Code):
        a, b = b, a
    other = b.code if isinstance(b, Code) else b
    if isinstance(other, str) and a.code == other:
        return True
    number = _as_code_number(b)
    return number is not None and a.number is not None and a.number == number


def _as_code_number(value: Any) -> Decimal | None:
    if isinstance(value, Code):
        return value.number
    if isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, Decimal):
        return value
    return parse.exact(value) if isinstance(value, str) else None


def _same_items(record: Record, a: Value, b: Value) -> Verdict:
    """Lists are equal as sets: ticked codes have no order."""
    if not isinstance(a, Items) or not isinstance(b, Items):
        return record.force(Reason.TYPE_MISMATCH)
    found = [contains(record, item, b) for item in a.known]
    found += [contains(record, item, a) for item in b.known]
    if False in found:
        return False
    doubts = [answer for answer in found if isinstance(answer, Unknown)]
    doubts += [why for _item, why in (*a.maybes, *b.maybes)]
    return doubts[0] if doubts else True


_STEPS_A_COMPARISON = 10


def contains(record: Record, needle: Value, haystack: Items) -> Verdict:
    """Kleene membership: one sure match decides, else the first doubt, else false.

    Every item is compared: an impossible one fails the rule even behind a match.
    """
    if isinstance(needle, Unknown):
        return needle
    record.spend(_STEPS_A_COMPARISON * (len(haystack.known) + len(haystack.maybes)))
    answers = [equal(record, needle, item) for item in haystack.known]
    if True in answers:
        return True
    doubts = [answer for answer in answers if isinstance(answer, Unknown)]
    doubts += [why for i, why in haystack.maybes if equal(record, needle, i) is not False]
    return doubts[0] if doubts else False
