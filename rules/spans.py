"""Products, quotients and extremes of Ranges: the bounds of all that the result can be.

Each end of a Range is a number and whether it is left out; an end without a bound is infinite.
Two Ranges are taken as independent, so that the bounds of `x * x` may be wider than they need be.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from decimal import Decimal
from typing import TypeAlias

from rules.values import Range, Reason

_End: TypeAlias = tuple[Decimal, bool]

_ZERO = Decimal(0)
_ENDLESS = Decimal("Infinity")


def product(a: Range, b: Range) -> Range:
    """All that x * y can be: the extremes lie in the corners."""
    corners = [_times(x, y) for x in _ends(a) for y in _ends(b)]
    low, high = min(value for value, _open in corners), max(value for value, _open in corners)
    return _range(_joined(low, corners, all), _joined(high, corners, all), a.reason)


def reciprocal(span: Range) -> Range | None:
    """All that 1 / x can be; None where x may be zero."""
    (low, low_open), (high, high_open) = _ends(span)
    if low > 0 or (low == 0 and low_open):
        return _range(_inverse(high, high_open), _inverse(low, low_open), span.reason)
    if high < 0 or (high == 0 and high_open):
        mirrored = reciprocal(_range((-high, high_open), (-low, low_open), span.reason))
        return None if mirrored is None else product(_exactly(Decimal(-1), span.reason), mirrored)
    return None


def extreme(choose: Callable[..., Decimal], spans: Sequence[Range], reason: Reason) -> Range:
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


def _exactly(value: Decimal, reason: Reason) -> Range:
    return Range(value, value, reason=reason)


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
