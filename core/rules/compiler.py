"""From a clinical rule's JSON to closures, collecting every problem on the way.

The operators stand in `operators`; each registers all that is known of it. The compiler itself knows
literals, lists and how a literal takes the type of what stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from core.rules import parse
from core.rules.arithmetic import compute, to_number, truth
from core.rules.compare import to_clock, to_moment
from core.rules.context import Kind, StudyContext
from core.rules.expression import Conversion, Expr, Node, Scope, Type, constant, entered
from core.rules.limits import RuleError
from core.rules.record import Record
from core.rules.redcap.nodes import Ref
from core.rules.text import translate as _
from core.rules.values import Items, Unknown, Value


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a rule is refused: where (a path into its JSON) and what is wrong, for its author."""

    path: str
    message: str


@dataclass(frozen=True, slots=True)
class Call:
    """An operator as it stands in a rule: its name, what it is given, and where (a path into the JSON)."""

    name: str
    given: Sequence[Any]
    path: str

    def at(self, index: int) -> str:
        """Where an argument stands."""
        return f"{self.path}/{index}"


Builder: TypeAlias = "Callable[[Compiler, Call], Expr]"


@dataclass(frozen=True, slots=True)
class Operator:
    """All that is known of an operator.

    `build` makes its expression of `least` to `most` arguments (None: no limit). `words` tell it, {0} its
    first argument, {all} all of them, `sign` stands between them instead; `negated` tells `!` around it.
    `is_truth`: it is true or false by its form. `is_standard`: JSON Logic has it, too, with the same meaning.
    """

    build: Builder
    least: int
    most: int | None
    words: str = ""
    negated: str = ""
    sign: str = ""
    is_truth: bool = False
    is_standard: bool = False


OPERATORS: dict[str, Operator] = {}
BROKEN = constant(None, Type.ANY)
READERS: dict[Type, Callable[[Record, Any], Value]] = {
    Type.NUMBER: to_number,
    Type.DATE: to_moment,
    Type.TIME: to_clock,
}
"""How a value is read as a type; text that cannot be makes the rule FAIL."""


def operator(
    *names: str, least: int, most: int | None, **about: Any
) -> Callable[[Builder], Builder]:
    """Register a builder; `about` are further attributes of `Operator`."""

    def register(build: Builder) -> Builder:
        OPERATORS.update(dict.fromkeys(names, Operator(build, least, most, **about)))
        return build

    return register


def function(
    *names: str,
    takes: Sequence[Type],
    gives: Type,
    least: int | None = None,
    repeats: bool = False,
    **about: Any,
) -> Callable[[Callable[..., Value]], Callable[..., Value]]:
    """Register a function of known numbers, dates and texts (`takes`, of which `least` must be given).

    `repeats`: any number of the last type may follow. It gets Decimal or Range, Moment, str. What is unknown
    stays so, and the first unknown is the reason.
    """
    are_numbers, count = {*takes, gives} == {Type.NUMBER}, len(takes)

    def register(work: Callable[..., Value]) -> Callable[..., Value]:
        def build(compiler: Compiler, call: Call) -> Expr:
            further = [takes[-1]] * (len(call.given) - count) if repeats else []
            types = [*takes, *further][: len(call.given)]
            nodes = [compiler.taken(call, at, type_) for at, type_ in enumerate(types)]
            return Expr(of_known(work, nodes, are_numbers=are_numbers), gives)

        lowest, most = count if least is None else least, None if repeats else count
        operator(*names, least=lowest, most=most, **about)(build)
        return work

    return register


def of_known(
    function: Callable[..., Any], nodes: Sequence[Node], *, are_numbers: bool = False
) -> Node:
    """A node for `function` of values that are all known; the first one that is not is the result."""

    def evaluate(scope: Scope) -> Value:
        values: list[Any] = [node(scope) for node in nodes]
        if are_numbers:
            return compute(function, *values)
        for value in values:
            if isinstance(value, Unknown):
                return value
        result: Value = function(*values)
        return result

    return evaluate


class Compiler:
    """Compiles one rule; `problems` is empty when it may be used.

    `reads` are the (column, event) pairs the rule mentions, in order; event None is the row itself.
    `looks_for` are references whose row each place finds for itself, with the event from where they look.
    `is_saving` also refuses what can only be a mistake of the author, though it could be run.
    `types` are those that columns without one take from what stands beside them, `conversions` what
    columns are worth in the units they are compared in. `nodes` counts what was compiled, `cost` each as
    often as it may be evaluated: `times`, what the loops around it come to.
    """

    def __init__(self, context: StudyContext, *, is_saving: bool = False) -> None:
        self.context = context
        self.is_saving = is_saving
        self.problems: list[Problem] = []
        self.reads: dict[tuple[str, str | None], None] = {}
        self.looks_for: dict[tuple[Ref, str | None], None] = {}
        self.types: dict[str, Type] = {}
        self.conversions: list[Conversion] = []
        self.event: str | None = None
        self.elements: dict[str, Expr] | None = None
        self.nodes = 0
        self.cost = 0
        self.times = 1

    def problem(self, path: str, message: str) -> Expr:
        """Note a problem; the returned stand-in lets compilation go on and find the next one."""
        self.problems.append(Problem(path, message))
        return BROKEN

    def compile(self, logic: Any, path: str) -> Expr:
        """The expression for `logic`."""
        self.nodes += 1
        self.cost += self.times
        if isinstance(logic, list | tuple):
            return self._list(logic, path)
        if not isinstance(logic, dict):
            return self._literal(logic, path)
        if len(logic) != 1:
            message = _("An operator object has exactly one key; found %(count)d.")
            return self.problem(path, message % {"count": len(logic)})
        [(name, arguments)] = logic.items()
        known = OPERATORS.get(name)
        if known is None:
            return self.problem(path, _("Unknown operator “%(name)s”.") % {"name": name})
        arguments = arguments if isinstance(arguments, list | tuple) else [arguments]
        path = f"{path}/{name}"
        if len(arguments) < known.least or (known.most is not None and len(arguments) > known.most):
            message = _("“%(name)s” does not take %(count)d arguments.")
            return self.problem(path, message % {"name": name, "count": len(arguments)})
        return known.build(self, Call(name, arguments, path))

    def argument(self, call: Call, index: int) -> Expr:
        """The expression for an operator's argument."""
        return self.compile(call.given[index], call.at(index))

    def arguments(self, call: Call) -> list[Expr]:
        """The expressions for all of them."""
        return [self.argument(call, index) for index in range(len(call.given))]

    def taken(self, call: Call, index: int, type_: Type) -> Node:
        """A node that gives an argument as a number, date or text, or Unknown."""
        expr = self.argument(call, index)
        if type_ is Type.TEXT:
            if expr.type in {Type.LIST, Type.NULL}:
                self.problem(call.at(index), _("A text is needed here."))
            return entered(expr)
        return self.converted(expr, call.at(index), type_)

    def converted(self, expr: Expr, path: str, type_: Type) -> Node:
        """A node that gives an expression as a number or date, or Unknown."""
        adapt = self.as_number if type_ is Type.NUMBER else self.as_date
        read, node = READERS[type_], adapt(expr, path).node
        return lambda scope: read(scope.record, node(scope))

    def condition(self, call: Call, index: int) -> Node:
        """A node whose truth counts. A coded field is refused: "0" would be true in JSON Logic."""
        expr = self.argument(call, index)
        self.check_condition(expr, call.at(index))
        node = expr.node
        is_truth = expr.type is Type.FLAG and not expr.branches
        return node if is_truth else lambda scope: truth(node(scope))

    def check_condition(self, expr: Expr, path: str) -> None:
        """Note a problem where a value can't stand for true or false."""
        for branch in expr.branches:
            self.check_condition(branch, path)
        if expr.is_text_literal:
            self.problem(path, _("A text in quotes is always true; use true or false."))
        if expr.items is not None:  # a list is true because it is there, whatever stands in it
            self.problem(path, _("A written list is no condition."))
        if _is_coded(expr):
            name = expr.column.name if expr.column else ""
            message = _("The choice field “%(name)s” is no condition; compare it with a code.")
            self.problem(path, message % {"name": name})

    def _list(self, items: Sequence[Any], path: str) -> Expr:
        exprs = tuple(self.compile(item, f"{path}/{index}") for index, item in enumerate(items))
        nodes = [expr.node for expr in exprs]
        types = {expr.type for expr in exprs}
        element = exprs[0] if len(types) == 1 else Expr(BROKEN.node, Type.ANY)
        return Expr(
            lambda scope: Items(tuple(node(scope) for node in nodes)),
            Type.LIST,
            items=exprs,
            element=element,
        )

    def _literal(self, value: Any, path: str) -> Expr:
        if value is None:
            return constant(None, Type.NULL, None)
        if isinstance(value, bool):
            return constant(value, Type.FLAG, value)
        if isinstance(value, str):
            return constant(value.strip(), Type.TEXT, value.strip())
        if isinstance(value, float) and not math.isfinite(value):
            return self.problem(path, _("A number in a rule must be finite."))
        return constant(Decimal(str(value)), Type.NUMBER, Decimal(str(value)))

    def note_type(self, expr: Expr, type_: Type) -> None:
        """Remember the type a column without one takes here, for a result's `detail`."""
        if expr.reading is not None and expr.column is not None:
            self.types.setdefault(expr.column.name, type_)

    # --- literals take the type of what stands beside them --------------------------------------

    def as_number(self, expr: Expr, path: str) -> Expr:
        """`expr` where a number is needed."""
        is_fit = expr.type is Type.FLAG or (expr.type is Type.CODE and expr.has_numeric_codes)
        needed = _("A number is needed here, not a value of type “%(type)s”.")
        if is_fit:
            return expr
        return self._as(Type.NUMBER, expr, path, needed, _("“%(text)s” is not a number."))

    def as_date(self, expr: Expr, path: str) -> Expr:
        """`expr` where a date or datetime is needed."""
        needed = _("A date is needed here, not a value of type “%(type)s”.")
        told = _("“%(text)s” is not a date (year-month-day).")
        return self._as(Type.DATE, expr, path, needed, told)

    def _as(self, type_: Type, expr: Expr, path: str, needed: str, told: str) -> Expr:
        if expr.is_text_literal:
            text: str = expr.literal
            value: Value = parse.number(text) if type_ is Type.NUMBER else parse.moment(text)
            if value is None:
                return self.problem(path, told % {"text": text})
            return constant(value, type_, value)
        if expr.type in {Type.TEXT, Type.RAW}:
            self.note_type(expr, type_)
        if expr.type in {type_, Type.TEXT, Type.RAW, Type.ANY}:
            return expr
        return self.problem(path, needed % {"type": expr.type})

    def as_text_literal(self, expr: Expr, path: str) -> str:
        """A text that must be written in the rule itself."""
        if expr.is_text_literal:
            return str(expr.literal)
        self.problem(path, _("A text in quotes is needed here."))
        return ""


def _is_coded(expr: Expr) -> bool:
    """Radio, dropdown, form status, yes/no; a checkbox column is a tick and may stand alone."""
    if expr.branches:
        return False
    is_flag_field = expr.column is not None and expr.column.kind is Kind.FLAG
    return expr.type is Type.CODE or (is_flag_field and expr.reading is not None)


def refuse(problems: Sequence[Problem]) -> RuleError:
    """The error that names all problems."""
    return RuleError("\n".join(f"{problem.path}: {problem.message}" for problem in problems))
