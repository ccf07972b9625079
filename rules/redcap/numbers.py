"""Functions of numbers. Decimals throughout; halves are rounded away from zero."""

from __future__ import annotations

import re
import statistics
from collections.abc import Callable
from decimal import ROUND_DOWN, ROUND_HALF_UP, ROUND_UP, Context, Decimal

from rules.operands import UNTOLD, Operand, number
from rules.redcap.nodes import need

Counted = tuple[Callable[..., Operand], int, int | None]
"""A function and the least and greatest number of its arguments."""

_MAX_PLACES = 20
_WHOLE = re.compile(r"[-+]?[0-9]+")
_SIGNIFICANT = Context(prec=20)


def _rounding(how: str) -> Callable[..., Operand]:
    def rounded(value: Operand, digits: Operand = Decimal(0)) -> Decimal:
        places = int(need(digits))
        if abs(places) > _MAX_PLACES:
            raise ValueError
        return need(value).quantize(Decimal(1).scaleb(-places), rounding=how)

    return rounded


def _log(value: Operand, base: Operand = "") -> Decimal:
    """Natural without a base."""
    found = need(value)
    if found <= 0:
        raise ValueError
    if base == "":
        return found.ln()
    return _SIGNIFICANT.plus(found.ln() / need(base).ln())


def _is_integer(value: Operand) -> Operand:
    """Untold for 5.0: whole, but written with decimals."""
    if isinstance(value, str) and _WHOLE.fullmatch(value):
        return True
    found = number(value)
    if found is None or not found.is_finite() or found != found.to_integral_value():
        return False
    return True if isinstance(value, Decimal) and value.as_tuple().exponent == 0 else UNTOLD


FUNCTIONS: dict[str, Counted] = {
    "round": (_rounding(ROUND_HALF_UP), 1, 2),
    "roundup": (_rounding(ROUND_UP), 1, 2),
    "rounddown": (_rounding(ROUND_DOWN), 1, 2),
    "sqrt": (lambda value: need(value).sqrt(), 1, 1),
    "abs": (lambda value: abs(need(value)), 1, 1),
    "exponential": (lambda value: need(value).exp(), 1, 1),
    "log": (_log, 1, 2),
    "mod": (lambda value, divisor: need(value) % need(divisor), 2, 2),
    "isnumber": (lambda value: number(value) is not None, 1, 1),
    "isinteger": (_is_integer, 1, 1),
}

AGGREGATES: dict[str, Callable[[list[Decimal]], Decimal]] = {
    "sum": lambda numbers: sum(numbers, Decimal(0)),
    "mean": statistics.mean,
    "median": statistics.median,
    "stdev": statistics.stdev,
    "min": min,
    "max": max,
}
