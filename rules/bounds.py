"""Numbers between written bounds: the truth of a condition whose column holds a complete number.

A study has as many different numbers as it likes. Where nothing is blank, censored, coded missing or
impossible, an order among numbers needs no typed reading (`compare.less` on two Decimals).
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, TypeAlias

Truth: TypeAlias = Callable[[Decimal], bool]
_ORDER: dict[str, Callable[[Any, Any], bool]] = {
    **{"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge},
}


def truth_of(logic: Any, name: str) -> Truth | None:
    """The truth of `logic` over the number in the column `name`; None for any other condition.

    Equality is another one: a written missing code asks for that code.
    """
    if isinstance(logic, bool):
        return lambda _number: logic
    if not isinstance(logic, dict) or len(logic) != 1:
        return None
    [(key, arguments)] = logic.items()
    arguments = arguments if isinstance(arguments, list | tuple) else [arguments]
    if key in _ORDER:
        return _ordered(_ORDER[key], arguments, name)
    parts = [truth_of(argument, name) for argument in arguments]
    known = [part for part in parts if part is not None]
    return _combined(key, known) if len(known) == len(parts) > 0 else None


def _combined(key: str, parts: list[Truth]) -> Truth | None:
    if key == "and":
        return lambda number: all(part(number) for part in parts)
    if key == "or":
        return lambda number: any(part(number) for part in parts)
    if key == "!":
        return lambda number: not parts[0](number)
    return parts[0] if key == "!!" else None


def _ordered(
    compare: Callable[[Any, Any], bool], arguments: Sequence[Any], name: str
) -> Truth | None:
    if len(arguments) < 2 or not all(a == {"var": name} or _is_number(a) for a in arguments):
        return None
    sides = [Decimal(str(a)) if _is_number(a) else None for a in arguments]
    first, *_between, last = sides
    if len(sides) == 2 and first is None and last is not None:
        return lambda number: compare(number, last)

    def evaluate(number: Decimal) -> bool:
        values = [number if side is None else side for side in sides]
        return all(compare(a, b) for a, b in itertools.pairwise(values))

    return evaluate


def _is_number(logic: Any) -> bool:
    if isinstance(logic, float):
        return math.isfinite(logic)
    return isinstance(logic, int) and not isinstance(logic, bool)
