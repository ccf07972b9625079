"""Operators of the logic as nodes: constants, references, connectives, comparisons, arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal

from rules.operands import Open, Operand, compare, number, truth, undecided
from rules.redcap.view import Node, Ref, View

MISTAKES = (ArithmeticError, LookupError, TypeError, ValueError)
"""What a computation without a result raises; it is blank then."""


def constant(value: Operand) -> Node:
    """What is written in the logic."""
    return lambda _view: value


def field(ref: Ref) -> Node:
    """A reference."""
    return lambda view: view.read(ref)


def logical(parts: Sequence[Node], *, decisive: bool) -> Node:
    """`or` (decided by one that is true) and `and` (by one that is false); else the first open part."""

    def evaluate(view: View) -> Operand:
        doubt: Operand = not decisive
        for part in parts:
            side = truth(part(view))
            if side is decisive:
                return decisive
            if isinstance(side, Open) and not isinstance(doubt, Open):
                doubt = side
        return doubt

    return evaluate


def negate(node: Node) -> Node:
    """`not`."""

    def evaluate(view: View) -> Operand:
        value = truth(node(view))
        return value if isinstance(value, Open) else not value

    return evaluate


def compared(operator: str, left: Node, right: Node) -> Node:
    """A comparison; white space around texts is none of them."""
    return lambda view: compare(operator, _trimmed(left(view)), _trimmed(right(view)))


def _trimmed(value: Operand) -> Operand:
    return value.strip() if isinstance(value, str) else value


def chained(first: Node, steps: Sequence[tuple[str, Node]]) -> Node:
    """Arithmetic from left to right; with a blank operand the result is blank."""

    def evaluate(view: View) -> Operand:
        value = first(view)
        for operator, node in steps:
            value = known(_ARITHMETIC[operator], [value, node(view)])
        return value

    return evaluate


def known(function: Callable[..., Operand], values: Sequence[Operand]) -> Operand:
    """`function` of values that are all known; blank where it has no result."""
    for value in values:
        if isinstance(value, Open):
            return undecided(value)
    try:
        return function(*values)
    except MISTAKES:
        return ""


def need(value: Operand) -> Decimal:
    """A number; ValueError for anything else."""
    found = number(value)
    if found is None or not found.is_finite():
        raise ValueError
    return found


def _power(base: Operand, exponent: Operand) -> Decimal:
    power = need(exponent)
    if abs(power) > 100:
        raise ValueError
    return need(base) ** power


_ARITHMETIC: dict[str, Callable[..., Operand]] = {
    "+": lambda a, b: need(a) + need(b),
    "-": lambda a, b: need(a) - need(b),
    "*": lambda a, b: need(a) * need(b),
    "/": lambda a, b: need(a) / need(b),
    "^": _power,
}
