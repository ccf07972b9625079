"""+ - * / % min max round_half_up in clinical mode.

Exact decimals; a blank operand makes the result UNKNOWN, text that is no number fails the rule,
a division by zero is an ERROR. Choices count by their numeric codes, ticks as 0 or 1. `min` and
`max` also take dates, and a list as their only argument.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import reduce
from typing import Any

from rules import arithmetic
from rules.arithmetic import Number, compute, to_number
from rules.compare import to_moment
from rules.compiler import Compiler, operator
from rules.expression import Expr, Node, Scope, Type
from rules.text import translate as _
from rules.values import Items, Moment, Range, Unknown, Value

_MAX_DIGITS = 20
_BINARY: dict[str, Callable[..., Number]] = {
    "+": arithmetic.add,
    "-": arithmetic.subtract,
    "*": arithmetic.multiply,
    "/": arithmetic.divide,
    "%": arithmetic.remainder,
}


def _numbers(compiler: Compiler, arguments: Sequence[Any], path: str) -> list[Node]:
    exprs = compiler.compile_all(arguments, path)
    return [compiler.as_number(e, f"{path}/{i}").node for i, e in enumerate(exprs)]


@operator("+", "*", least=1, most=None)
def build_sum(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """Sum and product; with one argument the argument as a number."""
    return Expr(_folded(_BINARY[path[-1]], _numbers(compiler, arguments, path)), Type.NUMBER)


@operator("/", "%", least=2, most=2)
def build_quotient(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """Quotient, and remainder with the sign of the dividend."""
    return Expr(_folded(_BINARY[path[-1]], _numbers(compiler, arguments, path)), Type.NUMBER)


@operator("-", least=1, most=2)
def build_difference(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """a - b, or -a."""
    nodes = _numbers(compiler, arguments, path)
    if len(nodes) == 1:
        [only] = nodes
        return Expr(
            lambda scope: compute(arithmetic.negate, to_number(scope.record, only(scope))),
            Type.NUMBER,
        )
    return Expr(_folded(arithmetic.subtract, nodes), Type.NUMBER)


def _folded(function: Callable[..., Number], nodes: list[Node]) -> Node:
    def evaluate(scope: Scope) -> Value:
        record = scope.record
        values = [to_number(record, node(scope)) for node in nodes]
        return reduce(lambda a, b: compute(function, a, b), values)

    return evaluate


@operator("min", "max", least=1, most=None)
def build_extreme(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """The smallest or largest of numbers or dates; UNKNOWN when one of them is unknown."""
    exprs = compiler.compile_all(arguments, path)
    choose: Callable[..., Any] = min if path.endswith("/min") else max
    pool = exprs[0].items if len(exprs) == 1 and exprs[0].items else tuple(exprs)
    is_date = any(expr.type is Type.DATE for expr in pool)
    if len(exprs) == 1 and exprs[0].type is Type.LIST:
        nodes = [expr.node for expr in exprs]
    else:
        adapt = compiler.as_date if is_date else compiler.as_number
        nodes = [adapt(expr, f"{path}/{index}").node for index, expr in enumerate(exprs)]
    finish = _date_extreme if is_date else _number_extreme

    def evaluate(scope: Scope) -> Value:
        values: list[Value] = []
        for node in nodes:
            value = node(scope)
            values.extend(_members(value) if isinstance(value, Items) else [value])
        return finish(scope, choose, values)

    return Expr(evaluate, Type.DATE if is_date else Type.NUMBER)


def _members(items: Items) -> list[Value]:
    """What belongs to a list; for what may belong to it, the doubt."""
    return [*items.known, *(why for _item, why in items.maybes)]


def _number_extreme(scope: Scope, choose: Callable[..., Any], values: list[Value]) -> Value:
    numbers = [to_number(scope.record, value) for value in values]
    if not numbers:
        return Unknown(None, _("The list is empty."))
    return compute(lambda *known: arithmetic.extreme(choose, known), *numbers)


def _date_extreme(scope: Scope, choose: Callable[..., Any], values: list[Value]) -> Value:
    found = [to_moment(scope.record, value) for value in values]
    for value in found:
        if isinstance(value, Unknown):
            return value
    moments = [moment for moment in found if isinstance(moment, Moment)]
    if not moments:
        return Unknown(None, _("The list is empty."))
    return Moment(
        choose(moment.low for moment in moments),
        choose(moment.high for moment in moments),
        min(moment.precision for moment in moments),
    )


@operator("round_half_up", least=1, most=2)
def build_round(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """Rounded to so many decimals (none named: 0), half away from zero."""
    exprs = compiler.compile_all([*arguments, 0][:2], path)
    value, digits = (compiler.as_number(e, f"{path}/{i}") for i, e in enumerate(exprs))
    if digits.is_literal and _places(digits.literal) is None:
        return compiler.problem(f"{path}/1", _whole_places())
    nodes = [value.node, digits.node]

    def evaluate(scope: Scope) -> Value:
        return compute(_rounded, *[to_number(scope.record, node(scope)) for node in nodes])

    return Expr(evaluate, Type.NUMBER)


def _rounded(value: Decimal | Range, digits: Decimal | Range) -> Number:
    if isinstance(digits, Range):
        return Unknown(digits.reason)
    places = _places(digits)
    if places is None:
        return Unknown(None, _whole_places())
    return arithmetic.round_half_up(value, places)


def _whole_places() -> str:
    return _("The number of decimals must be a whole number.")


def _places(digits: Any) -> int | None:
    """A whole number of decimals within reason; None for anything else."""
    is_whole = isinstance(digits, Decimal) and digits == digits.to_integral_value()
    return int(digits) if is_whole and abs(digits) <= _MAX_DIGITS else None
