"""map, filter, reduce, all, some, none, merge in clinical mode.

Lists are written lists, ticked codes, and what these operators make of them. Inside the body only
the element is visible ({"var": ""}; `current` and `accumulator` in reduce), as in JSON Logic.
An item that may or may not belong to a list leaves a verdict open where it would decide it.
`all` of an empty list is false, as in JSON Logic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rules.arithmetic import truth
from rules.compiler import Compiler, operator
from rules.expression import Expr, Node, Scope, Type
from rules.record import Record
from rules.text import translate as _
from rules.values import Items, Reason, Unknown, Value

_LISTS = {Type.LIST, Type.RAW, Type.ANY}


def _source(compiler: Compiler, logic: Any, path: str) -> Expr:
    expr = compiler.compile(logic, path)
    if expr.type not in _LISTS:
        return compiler.problem(path, _("A list is needed here."))
    return expr


def _element(source: Expr) -> Expr:
    known = source.element
    type_ = known.type if known is not None else Type.ANY
    column = known.column if known is not None else None
    return Expr(lambda scope: scope.item, type_, column, is_element=True)


def _body(compiler: Compiler, logic: Any, path: str, names: dict[str, Expr]) -> Expr:
    outer, compiler.elements = compiler.elements, names
    try:
        return compiler.compile(logic, path)
    finally:
        compiler.elements = outer


def _items(record: Record, value: Value) -> Items | Unknown:
    """A list; a single value is none, and an empty one would let a `none` pass."""
    return value if isinstance(value, Items | Unknown) else record.force(Reason.TYPE_MISMATCH)


_Finish = Callable[[Items, Callable[[Value], Value]], Value]


def _build(
    compiler: Compiler, arguments: Sequence[Any], path: str, finish: _Finish, *, condition: bool
) -> tuple[Node, Expr, Expr]:
    source = _source(compiler, arguments[0], f"{path}/0")
    body = _body(compiler, arguments[1], f"{path}/1", {"": _element(source)})
    if condition:
        compiler.check_condition(body, f"{path}/1")
    source_node, body_node = source.node, body.node

    def evaluate(scope: Scope) -> Value:
        items = _items(scope.record, source_node(scope))
        if isinstance(items, Unknown):
            return items
        return finish(items, lambda item: body_node(replace(scope, item=item)))

    return evaluate, source, body


def _some(items: Items, body: Callable[[Value], Value]) -> Value:
    results = [truth(body(item)) for item in items.known]
    if True in results:
        return True
    doubts = [result for result in results if isinstance(result, Unknown)]
    doubts += [why for item, why in items.maybes if truth(body(item)) is not False]
    return doubts[0] if doubts else False


def _none(items: Items, body: Callable[[Value], Value]) -> Value:
    found = _some(items, body)
    return found if isinstance(found, Unknown) else not found


def _all(items: Items, body: Callable[[Value], Value]) -> Value:
    results = [truth(body(item)) for item in items.known]
    if False in results:
        return False
    doubts = [result for result in results if isinstance(result, Unknown)]
    doubts += [
        why for item, why in items.maybes if not items.known or truth(body(item)) is not True
    ]
    return doubts[0] if doubts else bool(items.known)


def _filter(items: Items, body: Callable[[Value], Value]) -> Value:
    known: list[Value] = []
    maybes: list[tuple[Value, Unknown]] = []
    for item in items.known:
        result = truth(body(item))
        if isinstance(result, Unknown):
            maybes.append((item, result))
        elif result:
            known.append(item)
    maybes += [(item, why) for item, why in items.maybes if truth(body(item)) is not False]
    return Items(tuple(known), tuple(maybes))


def _map(items: Items, body: Callable[[Value], Value]) -> Value:
    return Items(
        tuple(body(item) for item in items.known),
        tuple((body(item), why) for item, why in items.maybes),
    )


_QUANTIFIERS: dict[str, _Finish] = {"some": _some, "none": _none, "all": _all}


@operator("some", "none", "all", least=2, most=2)
def build_quantifier(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """Kleene some, none and all."""
    finish = _QUANTIFIERS[path.rsplit("/", 1)[1]]
    node, _list, _item = _build(compiler, arguments, path, finish, condition=True)
    return Expr(node, Type.FLAG)


@operator("filter", least=2, most=2)
def build_filter(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """The items for which the body is true; undecided ones may belong."""
    node, source, _item = _build(compiler, arguments, path, _filter, condition=True)
    return Expr(node, Type.LIST, element=source.element)


@operator("map", least=2, most=2)
def build_map(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """The body's value for each item."""
    node, _list, body = _build(compiler, arguments, path, _map, condition=False)
    return Expr(node, Type.LIST, element=replace(body, is_element=True))


@operator("reduce", least=2, most=3)
def build_reduce(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """Folding; UNKNOWN when it is not certain which items belong."""
    source = _source(compiler, arguments[0], f"{path}/0")
    start = compiler.compile(arguments[2] if len(arguments) == 3 else None, f"{path}/2")
    names = {
        "current": _element(source),
        "accumulator": Expr(lambda scope: scope.accumulator, Type.ANY, is_element=True),
    }
    body = _body(compiler, arguments[1], f"{path}/1", names).node

    def evaluate(scope: Scope) -> Value:
        items = _items(scope.record, source.node(scope))
        accumulator = start.node(scope)
        if isinstance(items, Unknown):
            return items
        if items.maybes:
            return items.maybes[0][1]
        for item in items.known:
            accumulator = body(replace(scope, item=item, accumulator=accumulator))
        return accumulator

    return Expr(evaluate, Type.ANY)


@operator("merge", least=0, most=None)
def build_merge(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """Lists and single values in one list."""
    exprs = compiler.compile_all(arguments, path)
    nodes = [expr.node for expr in exprs]
    elements = [expr.element if expr.type is Type.LIST else expr for expr in exprs]
    types = {element.type if element else Type.ANY for element in elements}

    def evaluate(scope: Scope) -> Value:
        known: list[Value] = []
        maybes: list[tuple[Value, Unknown]] = []
        for node in nodes:
            value = node(scope)
            known.extend(value.known if isinstance(value, Items) else [value])
            maybes.extend(value.maybes if isinstance(value, Items) else [])
        return Items(tuple(known), tuple(maybes))

    return Expr(evaluate, Type.LIST, element=elements[0] if len(types) == 1 else None)
