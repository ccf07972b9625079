"""+ - * / % min max round_half_up days_between age_at in_window before after.

Exact decimals and calendar days; a blank operand makes the result UNKNOWN, text that is no number or date
fails the rule, a division by zero is an ERROR. Choices count by their numeric codes, ticks as 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import date
from decimal import Decimal
from functools import reduce
from typing import Any

from core.rules import arithmetic
from core.rules.arithmetic import Number, compute
from core.rules.compiler import READERS, Call, Compiler, function, of_known, operator
from core.rules.expression import Expr, Scope, Type
from core.rules.redcap.dates import age
from core.rules.text import gettext_noop
from core.rules.text import translate as _
from core.rules.values import Items, Moment, Range, Reason, Unknown, Value

_MAX_DIGITS = 20
_MAX_DAYS = 1_000_000
_PARTIAL = Unknown(Reason.PARTIAL_DATE)
_NUMBERS = (Type.NUMBER, Type.NUMBER)
_DATES = (Type.DATE, Type.DATE)


@operator("+", least=1, most=None, sign="+", is_standard=True)
def build_sum(compiler: Compiler, call: Call) -> Expr:
    """The sum; of one argument the argument as a number."""
    return _folded(arithmetic.add, compiler, call)


@operator("*", least=1, most=None, sign="×", is_standard=True)
def build_product(compiler: Compiler, call: Call) -> Expr:
    """The product; of one argument the argument as a number."""
    return _folded(arithmetic.multiply, compiler, call)


@operator("-", least=1, most=2, sign="−", is_standard=True)
def build_difference(compiler: Compiler, call: Call) -> Expr:
    """a - b, or -a."""
    if len(call.given) == 2:
        return _folded(arithmetic.subtract, compiler, call)
    nodes = [compiler.taken(call, 0, Type.NUMBER)]
    return Expr(of_known(arithmetic.negate, nodes, are_numbers=True), Type.NUMBER)


def _folded(function: Callable[..., Number], compiler: Compiler, call: Call) -> Expr:
    nodes = [compiler.taken(call, index, Type.NUMBER) for index in range(len(call.given))]

    def evaluate(scope: Scope) -> Value:
        values: list[Any] = [node(scope) for node in nodes]
        total: Number = reduce(lambda a, b: compute(function, a, b), values)
        return total

    return Expr(evaluate, Type.NUMBER)


function("/", takes=_NUMBERS, gives=Type.NUMBER, sign="÷", is_standard=True)(arithmetic.divide)
function("%", takes=_NUMBERS, gives=Type.NUMBER, sign="mod", is_standard=True)(arithmetic.remainder)


@operator("min", least=1, most=None, words=gettext_noop("the lowest of {all}"), is_standard=True)
def build_min(compiler: Compiler, call: Call) -> Expr:
    """The smallest of numbers or dates, or of the one list; UNKNOWN when one of them is unknown."""
    return _extreme(min, compiler, call)


@operator("max", least=1, most=None, words=gettext_noop("the highest of {all}"), is_standard=True)
def build_max(compiler: Compiler, call: Call) -> Expr:
    """The largest, likewise."""
    return _extreme(max, compiler, call)


def _extreme(choose: Callable[..., Any], compiler: Compiler, call: Call) -> Expr:
    exprs = compiler.arguments(call)
    pool = exprs[0].items if len(exprs) == 1 and exprs[0].items else tuple(exprs)
    type_ = Type.DATE if any(expr.type is Type.DATE for expr in pool) else Type.NUMBER
    read = READERS[type_]
    if len(exprs) == 1 and exprs[0].type is Type.LIST:
        nodes = [exprs[0].node]
    else:
        adapt = compiler.as_date if type_ is Type.DATE else compiler.as_number
        nodes = [adapt(expr, call.at(index)).node for index, expr in enumerate(exprs)]

    def evaluate(scope: Scope) -> Value:
        values: list[Value] = []
        for node in nodes:
            value = node(scope)
            values.extend(_members(value) if isinstance(value, Items) else [value])
        found: list[Any] = [read(scope.record, value) for value in values]
        if not found:
            return Unknown(None, _("The list is empty."))
        if type_ is Type.NUMBER:
            return compute(lambda *known: arithmetic.extreme(choose, known), *found)
        doubts = [value for value in found if isinstance(value, Unknown)]
        if doubts:
            return doubts[0]
        return Moment(
            choose(moment.low for moment in found),
            choose(moment.high for moment in found),
            min(moment.precision for moment in found),
        )

    return Expr(evaluate, type_)


def _members(items: Items) -> list[Value]:
    """What belongs to a list; for what may belong to it, the doubt."""
    return [*items.known, *(why for _item, why in items.maybes)]


@operator("round_half_up", least=1, most=2, words=gettext_noop("{0} rounded to {1} digits"))
def build_round(compiler: Compiler, call: Call) -> Expr:
    """Rounded to so many decimals (none named: 0), half away from zero."""
    call = Call(call.name, [*call.given, 0][:2], call.path)
    value = compiler.taken(call, 0, Type.NUMBER)
    digits = compiler.as_number(compiler.argument(call, 1), call.at(1))
    if digits.is_literal and _places(digits.literal) is None:
        return compiler.problem(call.at(1), _whole_places())
    nodes = [value, compiler.converted(digits, call.at(1), Type.NUMBER)]
    return Expr(of_known(_rounded, nodes, are_numbers=True), Type.NUMBER)


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


# --- dates: what is partial stays open ----------------------------------------------------------


def _between(low: int, high: int) -> Value:
    if low == high:
        return Decimal(low)
    return Range(Decimal(low), Decimal(high), reason=Reason.PARTIAL_DATE)


@function(
    "days_between", takes=_DATES, gives=Type.NUMBER, words=gettext_noop("days from {0} to {1}")
)
def days_between(a: Moment, b: Moment) -> Value:
    """b - a in calendar days."""
    return _between(b.days[0] - a.days[1], b.days[1] - a.days[0])


@function("age_at", takes=_DATES, gives=Type.NUMBER, words=gettext_noop("age at {1}"))
def age_at(birth: Moment, at: Moment) -> Value:
    """Completed years; a 29 February birthday counts from 1 March."""
    (first, last), (start, end) = birth.days, at.days
    return _between(_age(last, start), _age(first, end))


def _age(birth: int, at: int) -> int:
    return age(date.fromordinal(birth), date.fromordinal(at))


@operator(
    "in_window",
    least=5,
    most=5,
    words=gettext_noop("{0} lies in the window of day {2} after {1} (−{3}/+{4} days)"),
    is_truth=True,
)
def build_in_window(compiler: Compiler, call: Call) -> Expr:
    """target = anchor + (day - anchor_is_day) days, both ends of the window inclusive.

    With anchor_is_day 1 there is no Day 0: a negative day is that many days before the anchor,
    day 0 is refused (contracts.md, visit_window).
    """
    actual, anchor = (compiler.taken(call, index, Type.DATE) for index in (0, 1))
    plan = {at: compiler.as_number(compiler.argument(call, at), call.at(at)) for at in (2, 3, 4)}
    anchor_is_day = compiler.context.anchor_is_day
    if anchor_is_day == 1 and plan[2].literal == 0:
        return compiler.problem(call.at(2), _("There is no Day 0 when the anchor is Day 1."))
    for index in (3, 4):
        literal = plan[index].literal
        if isinstance(literal, Decimal) and literal < 0:
            return compiler.problem(call.at(index), _negative_span())
    numbers = [compiler.converted(expr, call.at(at), Type.NUMBER) for at, expr in plan.items()]

    def is_in_window(anchor: Moment, actual: Moment, *values: Any) -> Value:
        plan = _whole(values)
        if isinstance(plan, Unknown) or (anchor_is_day == 1 and plan[0] == 0):
            return plan if isinstance(plan, Unknown) else Unknown(None, _("There is no Day 0."))
        return _is_in_window(actual.days, anchor.days, plan, anchor_is_day)

    return Expr(of_known(is_in_window, [anchor, actual, *numbers]), Type.FLAG)


def _whole(values: Sequence[Any]) -> tuple[int, int, int] | Unknown:
    for value in values:
        if isinstance(value, Range):
            return Unknown(value.reason)
        if value != value.to_integral_value() or abs(value) > _MAX_DAYS:
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
