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

from engines.rules import arithmetic
from engines.rules.arithmetic import Number, compute, to_number
from engines.rules.compare import to_moment
from engines.rules.compiler import Compiler, operator
from engines.rules.expression import Expr, Node, Scope, Type
from engines.rules.text import translate as _
from engines.rules.values import Items, Moment, Range, Unknown, Value

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
            if isinstance(value, Items) and value.maybes:
                return value.maybes[0][1]
            values.extend(value.known if isinstance(value, Items) else [value])
        return finish(scope, choose, values)

    return Expr(evaluate, Type.DATE if is_date else Type.NUMBER)


def _number_extreme(scope: Scope, choose: Callable[..., Any], values: list[Value]) -> Value:
    numbers: list[Decimal | Range] = []
    for value in values:
        number = to_number(scope.record, value)
        if isinstance(number, Unknown):
            return number
        numbers.append(number)
    if not numbers:
        return Unknown(None, _("The list is empty."))
    return compute(lambda: arithmetic.extreme(choose, numbers))


def _date_extreme(scope: Scope, choose: Callable[..., Any], values: list[Value]) -> Value:
    moments: list[Moment] = []
    for value in values:
        moment = to_moment(scope.record, value)
        if isinstance(moment, Unknown):
            return moment
        moments.append(moment)
    return Moment(
        choose(moment.low for moment in moments),
        choose(moment.high for moment in moments),
        min(moment.precision for moment in moments),
    )


@operator("round_half_up", least=1, most=2)
def build_round(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """Rounded to so many decimals, half away from zero; the number of decimals is written out."""
    [node] = _numbers(compiler, arguments[:1], path)
    digits = arguments[1] if len(arguments) == 2 else 0
    is_whole = isinstance(digits, int | float) and not isinstance(digits, bool)
    if not is_whole or digits != int(digits) or abs(digits) > _MAX_DIGITS:
        return compiler.problem(f"{path}/1", _("The number of decimals must be a whole number."))
    places = int(digits)

    def evaluate(scope: Scope) -> Value:
        value = to_number(scope.record, node(scope))
        return compute(lambda known: arithmetic.round_half_up(known, places), value)

    return Expr(evaluate, Type.NUMBER)
