"""Numbers in clinical mode: exact decimals, and bounds for what is censored.

Decimal with 50 digits, compared at 40, so that 3 x 1.1 equals 3.3 and a third times three equals
one (E13). A Range goes through sums, scaling and rounding; where it can't be followed the result
is UNKNOWN for the reason of the range.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import (
    ROUND_HALF_UP,
    Context,
    Decimal,
    DivisionByZero,
    InvalidOperation,
    Overflow,
    localcontext,
)

from engines.rules import parse
from engines.rules.record import Record
from engines.rules.text import translate as _
from engines.rules.values import Clock, Code, Items, Moment, Range, Reason, Unknown, Value

CONTEXT = Context(
    prec=50, Emax=9999, Emin=-9999, traps=[DivisionByZero, InvalidOperation, Overflow]
)
_COMPARE = Context(prec=40, Emax=9999, Emin=-9999, traps=[])
_ZERO = Decimal(0)
Number = Decimal | Range | Unknown


def settle(value: Decimal) -> Decimal:
    """Drop the digits beyond the 40th, which only division leaves behind."""
    return _COMPARE.plus(value)


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
    try:
        with localcontext(CONTEXT):
            return function(*values)
    except ArithmeticError as error:
        return Unknown(
            None, _("The calculation has no result (%(why)s).") % {"why": type(error).__name__}
        )


def _bounds(value: Decimal | Range) -> Range:
    return value if isinstance(value, Range) else Range(value, value)


def _give_up(*values: Number) -> Unknown:
    return Unknown(next(value.reason for value in values if isinstance(value, Range)))


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
    """a x b; a Range only by an exact factor."""
    if isinstance(a, Decimal) and isinstance(b, Decimal):
        return a * b
    if isinstance(a, Range) and isinstance(b, Range):
        return _give_up(a)
    span, by = (a, b) if isinstance(a, Range) else (b, a)
    if not isinstance(span, Range) or not isinstance(by, Decimal) or by == 0:
        return _ZERO
    low = None if span.low is None else span.low * by
    high = None if span.high is None else span.high * by
    if by > 0:
        return Range(low, high, span.low_open, span.high_open, span.reason)
    return Range(high, low, span.high_open, span.low_open, span.reason)


def negate(a: Decimal | Range) -> Number:
    """-a."""
    return multiply(a, Decimal(-1))


def subtract(a: Decimal | Range, b: Decimal | Range) -> Number:
    """a - b."""
    negative = negate(b)
    return negative if isinstance(negative, Unknown) else add(a, negative)


def divide(a: Decimal | Range, b: Decimal | Range) -> Number:
    """a / b; a Range only by an exact divisor."""
    if isinstance(b, Range):
        return _give_up(b)
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
    """a % b with the sign of a, as in JavaScript."""
    if isinstance(a, Range) or isinstance(b, Range):
        return _give_up(a, b)
    return a % b


def round_half_up(a: Decimal | Range, digits: int) -> Number:
    """Commercial rounding, half away from zero as REDCap rounds (E24)."""
    if isinstance(a, Range):
        low = None if a.low is None else _round(a.low, digits)
        high = None if a.high is None else _round(a.high, digits)
        return Range(low, high, reason=a.reason)
    return _round(a, digits)


def _round(value: Decimal, digits: int) -> Decimal:
    value = settle(value)
    if value.adjusted() + digits > CONTEXT.prec - 2:
        return value
    return value.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)


def extreme(choose: Callable[..., Decimal], values: Sequence[Decimal | Range]) -> Number:
    """min or max; with a Range among the values the bounds of the result."""
    if all(isinstance(value, Decimal) for value in values):
        return choose(values)
    spans = [_bounds(value) for value in values]
    reason = next(value.reason for value in values if isinstance(value, Range))
    lows = [span.low for span in spans if span.low is not None]
    highs = [span.high for span in spans if span.high is not None]
    # an open end takes part only on the side where it can decide
    low = choose(lows) if lows and (choose is max or len(lows) == len(spans)) else None
    high = choose(highs) if highs and (choose is min or len(highs) == len(spans)) else None
    return Range(low, high, reason=reason)


def truth(value: Value) -> bool | Unknown:
    """JSON Logic's truth on clinical values: 0, "" and an empty list are false."""
    if isinstance(value, bool | Unknown):
        return value
    if isinstance(value, Decimal):
        return value != 0
    if isinstance(value, Range):
        excludes_zero = (value.low is not None and value.low > 0) or (
            value.high is not None and value.high < 0
        )
        return True if excludes_zero else Unknown(value.reason)
    if isinstance(value, Items):
        return True if value.known else value.maybes[0][1] if value.maybes else False
    if isinstance(value, Moment | Clock | Code):
        return True
    return bool(value)
