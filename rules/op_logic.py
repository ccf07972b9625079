"""and, or, !, !!, if, is_blank, missing, missing_some in clinical mode.

Kleene logic: false decides an `and`, true an `or`, an unknown condition leaves an `if` open unless
both ways lead to the same value. Every operand is evaluated, so that an impossible value anywhere
fails the rule "whatever stands around it" (contracts.md). The results of `and` and `or` are
true or false, not JavaScript's last operand.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

from rules.arithmetic import truth
from rules.compare import less
from rules.compiler import Compiler, operator
from rules.expression import Expr, Node, Scope, Type, blank, constant, filled
from rules.op_study import variable
from rules.text import translate as _
from rules.values import Items, Unknown, Value


@operator("and", "or", least=1, most=None)
def build_connective(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """The first unknown operand gives the reason when nothing decides."""
    nodes = [compiler.condition(a, f"{path}/{i}") for i, a in enumerate(arguments)]
    decisive = path.endswith("/or")

    def evaluate(scope: Scope) -> Value:
        result: Value = not decisive
        for node in nodes:
            value = node(scope)
            if value is decisive:
                result = value
            elif isinstance(value, Unknown) and not isinstance(result, Unknown):
                result = value if result is not decisive else result
        return result

    return Expr(evaluate, Type.FLAG)


@operator("!", "!!", least=1, most=1)
def build_not(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """Directly on a var a test of blank (of the tick for yes/no and checkboxes), else Kleene."""
    expr = compiler.compile(arguments[0], f"{path}/0")
    node = filled(expr)
    if node is None:
        compiler.check_condition(expr, f"{path}/0")
        node = _truth_of(expr)
    return Expr(node if path.endswith("/!!") else _negated(node), Type.FLAG)


def _truth_of(expr: Expr) -> Node:
    return lambda scope: truth(expr.node(scope))


def _negated(node: Node) -> Node:
    def evaluate(scope: Scope) -> Value:
        value = node(scope)
        return value if isinstance(value, Unknown) else not value

    return evaluate


@operator("if", "?:", least=1, most=None)
def build_if(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """if/then/else-if chains; without an else the value is null, which counts as false."""
    pairs: list[tuple[Node, Expr]] = []
    for index in range(0, len(arguments) - 1, 2):
        condition = compiler.condition(arguments[index], f"{path}/{index}")
        pairs.append((condition, compiler.compile(arguments[index + 1], f"{path}/{index + 1}")))
    last = len(arguments) - 1
    otherwise = compiler.compile(arguments[last] if len(arguments) % 2 else None, f"{path}/{last}")
    if otherwise.type is Type.NULL and {expr.type for _node, expr in pairs} == {Type.FLAG}:
        otherwise = constant(False, Type.FLAG, False)
    node = otherwise.node
    for condition, consequence in reversed(pairs):
        node = _choose(condition, consequence.node, node)
    branches = (*(expr for _condition, expr in pairs), otherwise)
    column = next((expr.column for expr in branches if expr.column is not None), None)
    return Expr(node, _joined({expr.type for expr in branches}), column, branches=branches)


def _choose(condition: Node, yes: Node, no: Node) -> Node:
    """Both ways are evaluated: an impossible value fails the rule also on the way not taken."""

    def evaluate(scope: Scope) -> Value:
        which, first, second = condition(scope), yes(scope), no(scope)
        if not isinstance(which, Unknown):
            return first if which else second
        are_numbers = isinstance(first, Decimal) and isinstance(second, Decimal)
        is_same = (are_numbers or type(first) is type(second)) and first == second
        return first if is_same and not isinstance(first, Unknown) else which

    return evaluate


def _joined(types: set[Type]) -> Type:
    types = types - {Type.NULL} or {Type.NULL}
    return types.pop() if len(types) == 1 else Type.ANY


@operator("is_blank", least=1, most=1)
def build_is_blank(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """True for "" and white space; a missing code is an entry and not blank."""
    return Expr(blank(compiler.compile(arguments[0], f"{path}/0")), Type.FLAG)


@operator("missing", least=0, most=None)
def build_missing(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """The names that are blank. Names are written out, or chosen by `if` and `merge`."""
    names = _names(compiler, list(arguments), path)

    def evaluate(scope: Scope) -> Value:
        known, maybes = _blank_names(names(scope), scope)
        return Items(tuple(known), tuple(maybes))

    return Expr(evaluate, Type.LIST, element=_text_element())


@operator("missing_some", least=2, most=2)
def build_missing_some(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """An empty list when at least so many of the names are filled, else the blank ones."""
    need = compiler.as_number(compiler.compile(arguments[0], f"{path}/0"), f"{path}/0")
    names = _names(compiler, [arguments[1]], path)

    def evaluate(scope: Scope) -> Value:
        needed, listed = need.node(scope), names(scope)
        known, maybes = _blank_names(listed, scope)
        filled_for_sure = _count(len(listed) - len(known) - len(maybes))
        is_enough = less(scope.record, needed, filled_for_sure, or_equal=True)
        if is_enough is True:
            return Items(())
        could_do = less(scope.record, needed, _count(len(listed) - len(known)), or_equal=True)
        if could_do is False or not maybes:
            return is_enough if isinstance(is_enough, Unknown) else Items(tuple(known))
        return maybes[0][1]

    return Expr(evaluate, Type.LIST, element=_text_element())


def _count(number: int) -> Value:
    return Decimal(number)


def _text_element() -> Expr:
    return Expr(lambda scope: scope.item, Type.TEXT)


def _blank_names(
    names: list[tuple[str, Node]], scope: Scope
) -> tuple[list[Value], list[tuple[Value, Unknown]]]:
    known: list[Value] = []
    maybes: list[tuple[Value, Unknown]] = []
    for name, is_blank in names:
        value = is_blank(scope)
        if isinstance(value, Unknown):
            maybes.append((name, value))
        elif value:
            known.append(name)
    return known, maybes


_Names = Any


def _names(compiler: Compiler, logic: Any, path: str) -> _Names:
    """A function scope -> [(name, blank test)] for the argument of `missing`."""
    if isinstance(logic, str):
        test = blank(variable(compiler, logic, path))
        return lambda _scope: [(logic, test)]
    if isinstance(logic, list | tuple):
        parts = [_names(compiler, item, path) for item in logic]
        return lambda scope: [pair for part in parts for pair in part(scope)]
    if isinstance(logic, dict) and len(logic) == 1:
        [(name, arguments)] = logic.items()
        arguments = arguments if isinstance(arguments, list | tuple) else [arguments]
        if name == "merge":
            return _names(compiler, arguments, f"{path}/merge")
        if name in {"if", "?:"}:
            return _chosen_names(compiler, arguments, f"{path}/{name}")
    compiler.problem(path, _("“missing” takes field names."))
    return lambda _scope: []


def _chosen_names(compiler: Compiler, arguments: Sequence[Any], path: str) -> _Names:
    """With an undecided condition the names of every branch count: none may be overlooked."""
    branches = [
        (
            compiler.condition(arguments[index], f"{path}/{index}"),
            _names(compiler, arguments[index + 1], f"{path}/{index + 1}"),
        )
        for index in range(0, len(arguments) - 1, 2)
    ]
    otherwise = _names(compiler, arguments[-1] if len(arguments) % 2 else [], path)

    def evaluate(scope: Scope) -> list[tuple[str, Node]]:
        return list(_walk(branches, otherwise, scope))

    return evaluate


def _walk(branches: list[Any], otherwise: _Names, scope: Scope) -> Iterator[tuple[str, Node]]:
    answers = [condition(scope) for condition, _names in branches]  # all, as in `_choose`
    for which, (_condition, names) in zip(answers, branches, strict=True):
        if isinstance(which, Unknown):
            yield from ((name, _doubtful(test, which)) for name, test in names(scope))
        elif which:
            yield from names(scope)
            return
    yield from otherwise(scope)


def _doubtful(test: Node, why: Unknown) -> Node:
    def evaluate(scope: Scope) -> Value:
        return False if test(scope) is False else why

    return evaluate
