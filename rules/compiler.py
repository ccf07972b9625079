"""From a clinical rule's JSON to closures, collecting every problem on the way.

The operators live in the `op_*` modules; each registers a builder. The compiler itself knows
literals, lists and how a literal takes the type of what stands beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeAlias

from rules import parse
from rules.arithmetic import truth
from rules.context import Kind, StudyContext
from rules.errors import RuleError
from rules.expression import Conversion, Expr, Node, Type, constant
from rules.text import translate as _
from rules.values import Items


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a rule is refused: where (a path into its JSON) and what is wrong, for its author."""

    path: str
    message: str


Builder: TypeAlias = "Callable[[Compiler, Sequence[Any], str], Expr]"


@dataclass(frozen=True, slots=True)
class _Operator:
    build: Builder
    least: int
    most: int | None


_OPERATORS: dict[str, _Operator] = {}
BROKEN = constant(None, Type.ANY)


def operator(*names: str, least: int, most: int | None) -> Callable[[Builder], Builder]:
    """Register a builder for operators that take `least` to `most` arguments (None: no limit)."""

    def register(build: Builder) -> Builder:
        _OPERATORS.update(dict.fromkeys(names, _Operator(build, least, most)))
        return build

    return register


class Compiler:
    """Compiles one rule; `problems` is empty when it may be used.

    `reads` are the (column, event) pairs the rule mentions, in order; event None is the row itself.
    `is_saving` also refuses what can only be a mistake of the author, though it could be run.
    `types` are those that columns without one take from what stands beside them, `conversions` what
    columns are worth in the units they are compared in.
    """

    def __init__(self, context: StudyContext, *, is_saving: bool = False) -> None:
        self.context = context
        self.is_saving = is_saving
        self.problems: list[Problem] = []
        self.reads: dict[tuple[str, str | None], None] = {}
        self.types: dict[str, Type] = {}
        self.conversions: list[Conversion] = []
        self.event: str | None = None
        self.elements: dict[str, Expr] | None = None

    def problem(self, path: str, message: str) -> Expr:
        """Note a problem; the returned stand-in lets compilation go on and find the next one."""
        self.problems.append(Problem(path, message))
        return BROKEN

    def compile(self, logic: Any, path: str) -> Expr:
        """The expression for `logic`."""
        if isinstance(logic, list | tuple):
            return self._list(logic, path)
        if not isinstance(logic, dict):
            return self._literal(logic, path)
        if len(logic) != 1:
            message = _("An operator object has exactly one key; found %(count)d.")
            return self.problem(path, message % {"count": len(logic)})
        [(name, arguments)] = logic.items()
        known = _OPERATORS.get(name)
        if known is None:
            return self.problem(path, _("Unknown operator “%(name)s”.") % {"name": name})
        arguments = arguments if isinstance(arguments, list | tuple) else [arguments]
        path = f"{path}/{name}"
        if len(arguments) < known.least or (known.most is not None and len(arguments) > known.most):
            message = _("“%(name)s” does not take %(count)d arguments.")
            return self.problem(path, message % {"name": name, "count": len(arguments)})
        return known.build(self, arguments, path)

    def compile_all(self, arguments: Sequence[Any], path: str) -> list[Expr]:
        """The expressions for an operator's arguments."""
        return [self.compile(logic, f"{path}/{index}") for index, logic in enumerate(arguments)]

    def condition(self, logic: Any, path: str) -> Node:
        """A node whose truth counts. A coded field is refused: "0" would be true in JSON Logic."""
        expr = self.compile(logic, path)
        self.check_condition(expr, path)
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
        exprs = tuple(self.compile_all(items, path))
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
        if expr.is_text_literal:
            value = parse.number(expr.literal)
            if value is None:
                return self.problem(path, _("“%(text)s” is not a number.") % {"text": expr.literal})
            return constant(value, Type.NUMBER, value)
        if expr.type in {Type.TEXT, Type.RAW}:
            self.note_type(expr, Type.NUMBER)
        is_number = expr.type in {Type.NUMBER, Type.FLAG, Type.TEXT, Type.RAW, Type.ANY}
        if is_number or (expr.type is Type.CODE and expr.has_numeric_codes):
            return expr
        message = _("A number is needed here, not a value of type “%(type)s”.")
        return self.problem(path, message % {"type": expr.type})

    def as_date(self, expr: Expr, path: str) -> Expr:
        """`expr` where a date or datetime is needed."""
        if expr.is_text_literal:
            value = parse.moment(expr.literal)
            if value is None:
                message = _("“%(text)s” is not a date (year-month-day).")
                return self.problem(path, message % {"text": expr.literal})
            return constant(value, Type.DATE, value)
        if expr.type in {Type.TEXT, Type.RAW}:
            self.note_type(expr, Type.DATE)
        if expr.type in {Type.DATE, Type.TEXT, Type.RAW, Type.ANY}:
            return expr
        message = _("A date is needed here, not a value of type “%(type)s”.")
        return self.problem(path, message % {"type": expr.type})

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
