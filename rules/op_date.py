"""days_between, age_at, in_window: calendar arithmetic that keeps partial dates open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from rules.arithmetic import to_number
from rules.compare import to_moment
from rules.compiler import Compiler, operator
from rules.expression import Expr, Node, Scope, Type
from rules.redcap.dates import age
from rules.text import translate as _
from rules.values import Moment, Range, Reason, Unknown, Value

_PARTIAL = Unknown(Reason.PARTIAL_DATE)


def _dates(compiler: Compiler, arguments: Sequence[Any], path: str) -> list[Node]:
    exprs = compiler.compile_all(arguments, path)
    return [compiler.as_date(expr, f"{path}/{i}").node for i, expr in enumerate(exprs)]


def _between(
    nodes: Sequence[Node], finish: Callable[[tuple[int, int], tuple[int, int]], Value]
) -> Node:
    """Both dates as (earliest, latest) ordinals into `finish`."""
    first, second = nodes

    def evaluate(scope: Scope) -> Value:
        a = to_moment(scope.record, first(scope))
        b = to_moment(scope.record, second(scope))
        if isinstance(a, Moment) and isinstance(b, Moment):
            return finish(a.days, b.days)
        return a if isinstance(a, Unknown) else b

    return evaluate


def _span(low: int, high: int) -> Value:
    if low == high:
        return Decimal(low)
    return Range(Decimal(low), Decimal(high), reason=Reason.PARTIAL_DATE)


@operator("days_between", least=2, most=2)
def build_days_between(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """to - from in calendar days; partial dates give bounds."""
    nodes = _dates(compiler, arguments, path)
    return Expr(_between(nodes, lambda a, b: _span(b[0] - a[1], b[1] - a[0])), Type.NUMBER)


@operator("age_at", least=2, most=2)
def build_age_at(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """Completed years; a 29 February birthday counts from 1 March."""
    nodes = _dates(compiler, arguments, path)
    return Expr(
        _between(nodes, lambda a, b: _span(_age(a[1], b[0]), _age(a[0], b[1]))), Type.NUMBER
    )


def _age(birth: int, at: int) -> int:
    return age(date.fromordinal(birth), date.fromordinal(at))


@operator("in_window", least=5, most=5)
def build_in_window(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """target = anchor + (day - anchor_is_day) days, both ends of the window inclusive.

    With anchor_is_day 1 there is no Day 0: a negative day is that many days before the anchor,
    day 0 is refused (contracts.md, visit_window).
    """
    date_node, anchor_node = _dates(compiler, arguments[:2], path)
    exprs = [
        compiler.as_number(expr, path)
        for expr in compiler.compile_all(arguments[2:], f"{path}/plan")
    ]
    numbers = [expr.node for expr in exprs]
    anchor_is_day = compiler.context.anchor_is_day
    if anchor_is_day == 1 and exprs[0].literal == 0:
        return compiler.problem(f"{path}/2", _("There is no Day 0 when the anchor is Day 1."))
    for index, expr in enumerate(exprs[1:], start=3):
        if isinstance(expr.literal, Decimal) and expr.literal < 0:
            return compiler.problem(f"{path}/{index}", _negative_span())

    def evaluate(scope: Scope) -> Value:
        values = [to_number(scope.record, node(scope)) for node in numbers]
        actual = to_moment(scope.record, date_node(scope))
        anchor = to_moment(scope.record, anchor_node(scope))
        for value in (anchor, actual, *values):
            if isinstance(value, Unknown):
                return value
        plan = _whole(values)
        if isinstance(plan, Unknown) or (anchor_is_day == 1 and plan[0] == 0):
            return plan if isinstance(plan, Unknown) else Unknown(None, _("There is no Day 0."))
        if isinstance(actual, Moment) and isinstance(anchor, Moment):
            return _is_in_window(actual.days, anchor.days, plan, anchor_is_day)
        return _PARTIAL

    return Expr(evaluate, Type.FLAG)


def _whole(values: Sequence[Any]) -> tuple[int, int, int] | Unknown:
    for value in values:
        if isinstance(value, Range):
            return Unknown(value.reason)
        if value != value.to_integral_value() or abs(value) > 1_000_000:
            return Unknown(None, _("A window is counted in whole days."))
    day, minus, plus = (int(value) for value in values)
    return Unknown(None, _negative_span()) if minus < 0 or plus < 0 else (day, minus, plus)


def _negative_span() -> str:
    return _("The days before and after a planned day can't be negative.")


def _is_in_window(
    actual: tuple[int, int], anchor: tuple[int, int], plan: tuple[int, int, int], anchor_is_day: int
) -> Value:
    day, minus, plus = plan
    shift = day if anchor_is_day == 1 and day < 0 else day - anchor_is_day
    first, last = anchor[0] + shift, anchor[1] + shift
    if actual[0] >= last - minus and actual[1] <= first + plus:
        return True
    if actual[1] < first - minus or actual[0] > last + plus:
        return False
    return _PARTIAL
