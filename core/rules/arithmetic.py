"""Numbers in clinical mode: exact decimals, and bounds for what is censored.

Sums and products are exact, so that 3 x 1.1 equals 3.3 (E13). A division keeps 50 digits, of which
40 count in what is made of it, so that a third times three equals one. A Range is followed through
all of it (`spans`); where it can't be, by a divisor that may be zero, the result is UNKNOWN for the
reason of the Range.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from decimal import (
    ROUND_HALF_DOWN,
    ROUND_HALF_UP,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    getcontext,
    localcontext,
)
from typing import TypeAlias

from core.rules import parse
from core.rules.record import Record
from core.rules.text import translate as _
from core.rules.values import Clock, Code, Items, Moment, Range, Reason, Unknown, Value

_End: TypeAlias = tuple[Decimal, bool]

_ZERO = Decimal(0)
_ENDLESS = Decimal("Infinity")


def _product(a: Range, b: Range) -> Range:
    """All that x * y can be: the extremes lie in the corners."""
    corners = [_times(x, y) for x in _ends(a) for y in _ends(b)]
    low, high = min(value for value, _open in corners), max(value for value, _open in corners)
    return _range(_joined(low, corners, all), _joined(high, corners, all), a.reason)


def _reciprocal(span: Range) -> Range | None:
    """All that 1 / x can be; None where x may be zero."""
    (low, low_open), (high, high_open) = _ends(span)
    if low > 0 or (low == 0 and low_open):
        return _range(_inverse(high, high_open), _inverse(low, low_open), span.reason)
    if high < 0 or (high == 0 and high_open):
        mirrored = _reciprocal(_range((-high, high_open), (-low, low_open), span.reason))
        minus_one = Range(Decimal(-1), Decimal(-1), reason=span.reason)
        return None if mirrored is None else _product(minus_one, mirrored)
    return None


def _extreme_range(choose: Callable[..., Decimal], spans: Sequence[Range], reason: Reason) -> Range:
    """All that the min or max can be.

    The smallest value comes down to the lowest end if one Range holds it, and reaches up to an end
    only if all of them do; for the largest it is the other way round.
    """
    ends = [_ends(span) for span in spans]
    lows, highs = [low for low, _high in ends], [high for _low, high in ends]
    at_low, at_high = (all, any) if choose is min else (any, all)
    low = _joined(choose(value for value, _open in lows), lows, at_low)
    high = _joined(choose(value for value, _open in highs), highs, at_high)
    return _range(low, high, reason)


def is_other_than_zero(span: Range) -> bool:
    """Whether zero lies outside."""
    (low, low_open), (high, high_open) = _ends(span)
    return low > 0 or high < 0 or (low == 0 and low_open) or (high == 0 and high_open)


def _ends(span: Range) -> tuple[_End, _End]:
    low = (-_ENDLESS, True) if span.low is None else (span.low, span.low_open)
    return low, (_ENDLESS, True) if span.high is None else (span.high, span.high_open)


def _range(low: _End, high: _End, reason: Reason) -> Range:
    return Range(_bound(low[0]), _bound(high[0]), low[1], high[1], reason)


def _bound(value: Decimal) -> Decimal | None:
    return value if value.is_finite() else None


def _joined(value: Decimal, ends: Iterable[_End], join: Callable[[Iterable[bool]], bool]) -> _End:
    """The end at `value`: left out if `join` (any, all) says so of the ends that lie there."""
    return value, join([is_open for other, is_open in ends if other == value])


def _times(x: _End, y: _End) -> _End:
    """A corner of a product; a zero that belongs to its Range makes zero, whatever the other is."""
    if (_ZERO, False) in (x, y):
        return _ZERO, False
    if x[0] == 0 or y[0] == 0:
        return _ZERO, True
    return x[0] * y[0], x[1] or y[1]


def _inverse(value: Decimal, is_open: bool) -> _End:
    if value == 0:
        return _ENDLESS, True
    return (1 / value, is_open) if value.is_finite() else (_ZERO, True)


_TRAPS = [DivisionByZero, InvalidOperation, Overflow]
CONTEXT = Context(prec=50, Emax=9999, Emin=-9999, traps=_TRAPS)
EXACT = Context(prec=1000, Emax=9999, Emin=-9999, traps=_TRAPS)
_COMPARE = Context(prec=40, Emax=9999, Emin=-9999, traps=[])
Number = Decimal | Range | Unknown


class Quotient(Decimal):
    """A number that comes from a division: digits beyond the 40th are what that left behind."""

    __slots__ = ()


def drop_noise(value: Decimal) -> Decimal:
    """Drop the digits that do not count; readings and literals count to the last."""
    return _COMPARE.plus(value) if isinstance(value, Quotient) else value


def settled(value: Decimal | Range) -> Decimal | Range:
    """`drop_noise` of a number or of the bounds of a Range."""
    if isinstance(value, Decimal):
        return drop_noise(value)
    return _bounded(value, drop_noise)


def _bounded(value: Range, function: Callable[[Decimal], Decimal]) -> Range:
    low = None if value.low is None else function(value.low)
    high = None if value.high is None else function(value.high)
    return replace(value, low=low, high=high)


def _is_divided(value: Number) -> bool:
    if isinstance(value, Range):
        return isinstance(value.low, Quotient) or isinstance(value.high, Quotient)
    return isinstance(value, Quotient)


def to_number(record: Record, value: Value) -> Number:
    """`value` as a number; text that is none makes the rule FAIL (type_mismatch)."""
    if isinstance(value, bool):
        return Decimal(value)
    if isinstance(value, Decimal | Range | Unknown):
        return value
    if isinstance(value, Code) and value.number is not None:
        return value.number
    if value is None or value == "":
        return Unknown(Reason.MISSING)
    parsed = parse.number(value) if isinstance(value, str) else None
    return record.force(Reason.TYPE_MISMATCH) if parsed is None else parsed


def compute(function: Callable[..., Number], *values: Number) -> Number:
    """`function` on known numbers; the first Unknown wins, an impossible result has no reason."""
    for value in values:
        if isinstance(value, Unknown):
            return value
    is_divided = function is divide or any(map(_is_divided, values))
    try:
        with localcontext(CONTEXT if is_divided else EXACT):
            result = function(*values)
    except ArithmeticError as error:
        return Unknown(None, no_result(error))
    if not is_divided or isinstance(result, Unknown):
        return result
    return Quotient(result) if isinstance(result, Decimal) else _bounded(result, Quotient)


def no_result(error: Exception) -> str:
    """What is told of a calculation that failed."""
    return _("The calculation has no result (%(why)s).") % {"why": type(error).__name__}


def _bounds(value: Decimal | Range) -> Range:
    return value if isinstance(value, Range) else Range(value, value)


def add(a: Decimal | Range, b: Decimal | Range) -> Number:
    """a + b."""
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        return a + b
    reason = next(v.reason for v in (a, b) if isinstance(v, Range))
    first, second = _bounds(a), _bounds(b)
    low = None if first.low is None or second.low is None else first.low + second.low
    high = None if first.high is None or second.high is None else first.high + second.high
    low_open, high_open = first.low_open or second.low_open, first.high_open or second.high_open
    return Range(low, high, low_open, high_open, reason)


def multiply(a: Decimal | Range, b: Decimal | Range) -> Number:
    """a x b."""
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        return a * b
    if a == 0 or b == 0:
        return _ZERO
    reason = next(v.reason for v in (a, b) if isinstance(v, Range))
    return replace(_product(_bounds(a), _bounds(b)), reason=reason)


def negate(a: Decimal | Range) -> Number:
    """-a."""
    return multiply(a, Decimal(-1))


def subtract(a: Decimal | Range, b: Decimal | Range) -> Number:
    """a - b."""
    negative = negate(b)
    return negative if isinstance(negative, Unknown) else add(a, negative)


def divide(a: Decimal | Range, b: Decimal | Range) -> Number:
    """a / b; by a Range only if that can't be zero."""
    if isinstance(b, Range):
        inverse = _reciprocal(b)
        return Unknown(b.reason) if inverse is None else multiply(a, inverse)
    if isinstance(a, Decimal):
        return a / b
    if b == 0:
        raise DivisionByZero
    sign = multiply(a, Decimal(1).copy_sign(b))
    if not isinstance(sign, Range):
        return sign
    low = None if sign.low is None else sign.low / abs(b)
    high = None if sign.high is None else sign.high / abs(b)
    return Range(low, high, sign.low_open, sign.high_open, sign.reason)


def remainder(a: Decimal | Range, b: Decimal | Range) -> Number:
    """a % b with the sign of a, as in JavaScript; of a Range only how far it can go."""
    if isinstance(b, Range):
        return Unknown(b.reason)
    if isinstance(a, Decimal):
        return _remainder(a, b)
    if b == 0:
        raise DivisionByZero
    is_positive = a.low is not None and a.low >= 0
    is_negative = a.high is not None and a.high <= 0
    low, high = _ZERO if is_positive else -abs(b), _ZERO if is_negative else abs(b)
    return Range(low, high, not is_positive, not is_negative, a.reason)


def _remainder(a: Decimal, b: Decimal) -> Decimal:
    """Exact however large the quotient: it only has to fit into the context."""
    quotient = a.adjusted() - b.adjusted()
    digits = b.adjusted() - min(_exponent(a), _exponent(b))
    exact = Context(prec=max(CONTEXT.prec, quotient + 2, digits + 2), Emax=9999, Emin=-9999)
    return +exact.remainder(a, b)


def _exponent(value: Decimal) -> int:
    return int(value.as_tuple().exponent)


def round_half_up(a: Decimal | Range, digits: int) -> Number:
    """Commercial rounding, half away from zero as REDCap rounds (E24).

    An end that a Range leaves out rounds as the numbers beside it: all below 0.5 round to 0.
    """
    if isinstance(a, Range):
        low = None if a.low is None else _round(a.low, digits, 1 if a.low_open else 0)
        high = None if a.high is None else _round(a.high, digits, -1 if a.high_open else 0)
        return Range(low, high, reason=a.reason)
    return _round(a, digits, 0)


def _round(value: Decimal, digits: int, tie: int) -> Decimal:
    """`tie`: 1 upwards, -1 downwards, 0 away from zero."""
    value = drop_noise(value)
    if value.adjusted() + digits > getcontext().prec - 2:
        return value
    is_outwards = tie == 0 or (tie > 0) == (value > 0)
    rounding = ROUND_HALF_UP if is_outwards else ROUND_HALF_DOWN
    return value.quantize(Decimal(1).scaleb(-digits), rounding=rounding)


def extreme(choose: Callable[..., Decimal], values: Sequence[Decimal | Range]) -> Number:
    """min or max; with a Range among the values the bounds of the result."""
    if all(isinstance(value, Decimal) for value in values):
        return choose(values)
    reason = next(value.reason for value in values if isinstance(value, Range))
    return _extreme_range(choose, [_bounds(value) for value in values], reason)


def truth(value: Value) -> bool | Unknown:
    """JSON Logic's truth on clinical values: 0, "" and an empty list are false."""
    if isinstance(value, bool | Unknown):
        return value
    if isinstance(value, Decimal):
        return value != 0
    if isinstance(value, Range):
        return True if is_other_than_zero(value) else Unknown(value.reason)
    if isinstance(value, Items):
        return True if value.known else value.maybes[0][1] if value.maybes else False
    if isinstance(value, Moment | Clock | Code):
        return True
    return bool(value)
