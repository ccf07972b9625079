"""and, or, !, !!, if, is_blank, missing, missing_some.

Kleene logic: false decides an `and`, true an `or`, an unknown condition leaves an `if` open unless
both ways lead to the same value. Every operand is evaluated, so that an impossible value anywhere
fails the rule "whatever stands around it" (contracts.md). The results of `and` and `or` are
true or false, not JavaScript's last operand.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any, TypeAlias

from core.rules.arithmetic import truth
from core.rules.compare import less
from core.rules.compiler import Call, Compiler, operator
from core.rules.expression import Expr, Node, Scope, Type, blank, constant, filled, negated
from core.rules.operators.study import variable
from core.rules.text import gettext_noop
from core.rules.text import translate as _
from core.rules.values import Items, Unknown, Value

_Named: TypeAlias = "tuple[str, Node]"
"""A field, and whether it is blank."""
_Names: TypeAlias = "Callable[[Scope], list[_Named]]"


@operator("and", "or", least=1, most=None, is_truth=True, is_standard=True)
def build_connective(compiler: Compiler, call: Call) -> Expr:
    """The first unknown operand gives the reason when nothing decides."""
    nodes = [compiler.condition(call, index) for index in range(len(call.given))]
    decisive = call.name == "or"

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


def _truth_of(compiler: Compiler, call: Call) -> Node:
    """Directly on a var a test of blank (of the tick for yes/no and checkboxes), else Kleene."""
    expr = compiler.argument(call, 0)
    node = filled(expr)
    if node is not None:
        return node
    compiler.check_condition(expr, call.at(0))
    return lambda scope: truth(expr.node(scope))


@operator("!", least=1, most=1, is_truth=True, is_standard=True)
def build_not(compiler: Compiler, call: Call) -> Expr:
    """The opposite of `!!`."""
    return Expr(negated(_truth_of(compiler, call)), Type.FLAG)


@operator(
    "!!",
    least=1,
    most=1,
    words=gettext_noop("{0} is filled in"),
    negated=gettext_noop("{0} is blank"),
    is_truth=True,
    is_standard=True,
)
def build_truth(compiler: Compiler, call: Call) -> Expr:
    """Whether a var is there, or something is true."""
    return Expr(_truth_of(compiler, call), Type.FLAG)


@operator("if", "?:", least=1, most=None, is_standard=True)
def build_if(compiler: Compiler, call: Call) -> Expr:
    """if/then/else-if chains; without an else the value is null, which counts as false."""
    pairs: list[tuple[Node, Expr]] = []
    for index in range(0, len(call.given) - 1, 2):
        pairs.append((compiler.condition(call, index), compiler.argument(call, index + 1)))
    last = len(call.given) - 1
    otherwise = compiler.compile(call.given[last] if last % 2 == 0 else None, call.at(last))
    if otherwise.type is Type.NULL and {expr.type for _node, expr in pairs} == {Type.FLAG}:
        otherwise = constant(False, Type.FLAG, False)
    node = otherwise.node
    for condition, consequence in reversed(pairs):
        node = _choose(condition, consequence.node, node)
    branches = (*(expr for _condition, expr in pairs), otherwise)
    column = next((expr.column for expr in branches if expr.column is not None), None)
    types = {expr.type for expr in branches} - {Type.NULL} or {Type.NULL}
    type_ = types.pop() if len(types) == 1 else Type.ANY
    return Expr(node, type_, column, branches=branches)


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


@operator(
    "is_blank",
    least=1,
    most=1,
    words=gettext_noop("{0} is blank"),
    negated=gettext_noop("{0} is filled in"),
    is_truth=True,
)
def build_is_blank(compiler: Compiler, call: Call) -> Expr:
    """True for "" and white space; a missing code is an entry and not blank."""
    return Expr(blank(compiler.argument(call, 0)), Type.FLAG)


# --- names of fields ----------------------------------------------------------------------------


@operator("missing", least=0, most=None)
def build_missing(compiler: Compiler, call: Call) -> Expr:
    """The names that are blank. Names are written out, or chosen by `if` and `merge`."""
    names = _names(compiler, list(call.given), call.path)
    return _listed(lambda scope: _blank_names(names(scope), scope))


@operator("missing_some", least=2, most=2)
def build_missing_some(compiler: Compiler, call: Call) -> Expr:
    """An empty list when at least so many of the names are filled, else the blank ones."""
    need = compiler.as_number(compiler.argument(call, 0), call.at(0)).node
    names = _names(compiler, [call.given[1]], call.path)

    def evaluate(scope: Scope) -> Value:
        needed, listed = need(scope), names(scope)
        blanks = _blank_names(listed, scope)
        most = len(listed) - len(blanks.known)
        least = Decimal(most - len(blanks.maybes))
        is_enough = less(scope.record, needed, least, or_equal=True)
        if is_enough is True:
            return Items(())
        could_do = less(scope.record, needed, Decimal(most), or_equal=True)
        if could_do is False or not blanks.maybes:
            return is_enough if isinstance(is_enough, Unknown) else Items(blanks.known)
        return blanks.maybes[0][1]

    return _listed(evaluate)


def _listed(node: Node) -> Expr:
    return Expr(node, Type.LIST, element=Expr(lambda scope: scope.item, Type.TEXT))


def _blank_names(names: list[_Named], scope: Scope) -> Items:
    found = [(name, is_blank(scope)) for name, is_blank in names]
    known = tuple(name for name, value in found if not isinstance(value, Unknown) and value)
    return Items(known, tuple((name, why) for name, why in found if isinstance(why, Unknown)))


def _names(compiler: Compiler, logic: Any, path: str) -> _Names:
    """A function scope -> [(name, blank test)] for the argument of `missing`."""
    if isinstance(logic, str):
        test = blank(variable(compiler, logic, path))
        return lambda _scope: [(logic, test)]
    if isinstance(logic, list | tuple):
        parts = [_names(compiler, item, path) for item in logic]
        return lambda scope: [pair for part in parts for pair in part(scope)]
    if isinstance(logic, dict) and len(logic) == 1:
        [(name, given)] = logic.items()
        given = given if isinstance(given, list | tuple) else [given]
        if name == "merge":
            return _names(compiler, given, f"{path}/merge")
        if name in {"if", "?:"}:
            return _chosen_names(compiler, Call(name, given, f"{path}/{name}"))
    compiler.problem(path, _("“missing” takes field names."))
    return lambda _scope: []


def _chosen_names(compiler: Compiler, call: Call) -> _Names:
    """With an undecided condition the names of every branch count: none may be overlooked."""
    given = call.given
    branches = [
        (compiler.condition(call, at), _names(compiler, given[at + 1], call.at(at + 1)))
        for at in range(0, len(given) - 1, 2)
    ]
    otherwise = _names(compiler, given[-1] if len(given) % 2 else [], call.path)

    def walk(scope: Scope) -> Iterator[_Named]:
        answers = [condition(scope) for condition, _names in branches]  # all, as in `_choose`
        for which, (_condition, names) in zip(answers, branches, strict=True):
            if isinstance(which, Unknown):
                yield from ((name, _doubtful(test, which)) for name, test in names(scope))
            elif which:
                yield from names(scope)
                return
        yield from otherwise(scope)

    return lambda scope: list(walk(scope))


def _doubtful(test: Node, why: Unknown) -> Node:
    return lambda scope: False if test(scope) is False else why
