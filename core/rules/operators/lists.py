"""map, filter, reduce, all, some, none, merge.

Lists are written lists, ticked codes, and what these operators make of them. Inside the body only
the element is visible ({"var": ""}; `current` and `accumulator` in reduce), as in JSON Logic.
An item that may or may not belong to a list leaves a verdict open where it would decide it.
`all` of an empty list is false, as in JSON Logic.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from core.rules.arithmetic import truth
from core.rules.compiler import Call, Compiler, operator
from core.rules.expression import Expr, Node, Scope, Type, negated
from core.rules.text import translate as _
from core.rules.values import Items, Reason, Unknown, Value

_LISTS = {Type.LIST, Type.RAW, Type.ANY}
_Body = Callable[[Value], Value]
_Finish = Callable[[Items, _Body], Value]


def _source(compiler: Compiler, call: Call) -> Expr:
    expr = compiler.argument(call, 0)
    if expr.type not in _LISTS:
        return compiler.problem(call.at(0), _("A list is needed here."))
    return expr


def _element(source: Expr) -> Expr:
    known = source.element
    type_ = known.type if known is not None else Type.ANY
    column = known.column if known is not None else None
    most = known.most_items if known is not None and type_ is Type.LIST else None
    return Expr(lambda scope: scope.item, type_, column, is_element=True, most=most)


def _body(compiler: Compiler, call: Call, names: dict[str, Expr], source: Expr) -> tuple[Expr, int]:
    """What is evaluated for each item, and how many steps that is at least."""
    outer, compiler.elements = compiler.elements, names
    times, compiler.times = compiler.times, compiler.times * max(1, source.most_items)
    before = compiler.nodes
    try:
        return compiler.argument(call, 1), compiler.nodes - before
    finally:
        compiler.elements, compiler.times = outer, times


def _items(scope: Scope, value: Value) -> Items | Unknown:
    """A list; a single value is none, and an empty one would let a `none` pass."""
    if isinstance(value, Items | Unknown):
        return value
    return scope.record.force(Reason.TYPE_MISMATCH)


def _build(
    compiler: Compiler, call: Call, finish: _Finish, *, condition: bool
) -> tuple[Node, Expr, Expr]:
    source = _source(compiler, call)
    body, steps = _body(compiler, call, {"": _element(source)}, source)
    if condition:
        compiler.check_condition(body, call.at(1))
    source_node, body_node = source.node, body.node

    def evaluate(scope: Scope) -> Value:
        items = _items(scope, source_node(scope))
        if isinstance(items, Unknown):
            return items
        scope.record.spend(steps * (len(items.known) + len(items.maybes)))
        return finish(items, lambda item: body_node(replace(scope, item=item)))

    return evaluate, source, body


def _decided(items: Items, body: _Body, *, decisive: bool) -> Value:
    """`decisive` where the body is that of one item, else the first doubt, else its opposite."""
    results = [truth(body(item)) for item in items.known]
    if decisive in results:
        return decisive
    doubts = [result for result in results if isinstance(result, Unknown)]
    is_empty = not decisive and not items.known
    doubts += [w for i, w in items.maybes if is_empty or truth(body(i)) is not (not decisive)]
    return doubts[0] if doubts else not decisive and not is_empty


def _filter(items: Items, body: _Body) -> Value:
    results = [(item, truth(body(item))) for item in items.known]
    maybes = [(item, result) for item, result in results if isinstance(result, Unknown)]
    maybes += [(item, why) for item, why in items.maybes if truth(body(item)) is not False]
    return Items(tuple(item for item, result in results if result is True), tuple(maybes))


def _map(items: Items, body: _Body) -> Value:
    return Items(
        tuple(body(item) for item in items.known),
        tuple((body(item), why) for item, why in items.maybes),
    )


@operator("some", "none", "all", least=2, most=2, is_standard=True)
def build_quantifier(compiler: Compiler, call: Call) -> Expr:
    """Kleene some, none and all."""
    finish = partial(_decided, decisive=call.name != "all")
    node = _build(compiler, call, finish, condition=True)[0]
    return Expr(negated(node) if call.name == "none" else node, Type.FLAG)


@operator("filter", least=2, most=2)
def build_filter(compiler: Compiler, call: Call) -> Expr:
    """The items for which the body is true; undecided ones may belong."""
    node, source, _item = _build(compiler, call, _filter, condition=True)
    return Expr(node, Type.LIST, element=source.element, most=source.most_items)


@operator("map", least=2, most=2)
def build_map(compiler: Compiler, call: Call) -> Expr:
    """The body's value for each item."""
    node, source, body = _build(compiler, call, _map, condition=False)
    element = replace(body, is_element=True)
    return Expr(node, Type.LIST, element=element, most=source.most_items)


@operator("reduce", least=2, most=3)
def build_reduce(compiler: Compiler, call: Call) -> Expr:
    """Folding; UNKNOWN when it is not certain which items belong."""
    source = _source(compiler, call)
    start = compiler.compile(call.given[2] if len(call.given) == 3 else None, call.at(2)).node
    names = {
        "current": _element(source),
        "accumulator": Expr(lambda scope: scope.accumulator, Type.ANY, is_element=True),
    }
    expr, steps = _body(compiler, call, names, source)
    body = expr.node

    def evaluate(scope: Scope) -> Value:
        items, accumulator = _items(scope, source.node(scope)), start(scope)
        if isinstance(items, Unknown):
            return items
        if items.maybes:
            return items.maybes[0][1]
        scope.record.spend(steps * len(items.known))
        for item in items.known:
            accumulator = body(replace(scope, item=item, accumulator=accumulator))
        return accumulator

    return Expr(evaluate, Type.ANY)


@operator("merge", least=0, most=None)
def build_merge(compiler: Compiler, call: Call) -> Expr:
    """Lists and single values in one list."""
    exprs = compiler.arguments(call)
    elements = [expr.element if expr.type is Type.LIST else expr for expr in exprs]
    types = {element.type if element else Type.ANY for element in elements}

    def evaluate(scope: Scope) -> Value:
        known: list[Any] = []
        maybes: list[tuple[Any, Unknown]] = []
        for expr in exprs:
            value = expr.node(scope)
            known.extend(value.known if isinstance(value, Items) else [value])
            maybes.extend(value.maybes if isinstance(value, Items) else [])
        scope.record.spend(len(known) + len(maybes))
        return Items(tuple(known), tuple(maybes))

    most = sum(expr.most_items if expr.type is Type.LIST else 1 for expr in exprs)
    element = elements[0] if len(types) == 1 else None
    return Expr(evaluate, Type.LIST, element=element, most=most)
