"""==, ===, !=, !==, <, <=, >, >=, in, before, after.

`==` and `===` mean the same: both sides are typed. `<` and `<=` take a third argument ("between");
`>` and `>=` do not, because JSON Logic would silently ignore it. A comparison with null is a test
of blank, one with a missing code a test of that code. Text can be compared for equality; it is
ordered only as the number or date that the other side is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any

from core.rules import parse
from core.rules.compare import contains, equal, less
from core.rules.compiler import BROKEN, READERS, Call, Compiler, operator
from core.rules.convert import text_of
from core.rules.expression import NOT_EXPORTED, Expr, Node, Scope, Type, blank, constant, negated
from core.rules.text import gettext_noop
from core.rules.text import translate as _
from core.rules.values import Items, Reason, Unknown, Value

_COMPARES = {"is_truth": True, "is_standard": True}
_UNTYPED = {Type.ANY, Type.RAW}
_SEARCHABLE = {Type.TEXT, *_UNTYPED}
_ORDERED = {Type.NUMBER, Type.DATE, Type.TIME, Type.TEXT, Type.CODE}
_ORDERABLE = {
    frozenset((Type.NUMBER, Type.CODE)),
    frozenset((Type.NUMBER, Type.FLAG)),
    frozenset((Type.NUMBER, Type.TEXT)),
    frozenset((Type.DATE, Type.TEXT)),
    frozenset((Type.TIME, Type.TEXT)),
}
_EQUATABLE = _ORDERABLE | {
    frozenset((Type.CODE, Type.FLAG)),
    frozenset((Type.CODE, Type.TEXT)),
    frozenset((Type.FLAG, Type.TEXT)),
}


@operator("==", "===", least=2, most=2, sign="=", **_COMPARES)
def build_equal(compiler: Compiler, call: Call) -> Expr:
    """Equality of typed values."""
    a, b = compiler.arguments(call)
    return Expr(_equality(compiler, a, b, call.path), Type.FLAG)


@operator("!=", "!==", least=2, most=2, sign="≠", **_COMPARES)
def build_unequal(compiler: Compiler, call: Call) -> Expr:
    """Its opposite."""
    return Expr(negated(build_equal(compiler, call).node), Type.FLAG)


def _equality(compiler: Compiler, a: Expr, b: Expr, path: str) -> Node:
    """A node for a == b; notes a problem when the two can't be compared."""
    if a.type is Type.NULL or b.type is Type.NULL:
        return blank(b if a.type is Type.NULL else a)
    if a.is_literal and not b.is_literal:
        a, b = b, a
    is_code = b.is_literal and str(b.literal) in compiler.context.missing_codes
    if is_code and a.reading is not None and a.type is not Type.LIST:
        return _missing_code_test(a, str(b.literal))
    if b.literal == "" and isinstance(b.literal, str):
        return _never(a.node)
    a, b = _adapt(compiler, a, b, path, ordering=False)
    first, second = a.node, b.node
    return lambda scope: equal(scope.record, first(scope), second(scope))


def _never(node: Node) -> Node:
    """Comparison with "": a blank stays UNKNOWN missing, a value is never equal to it."""

    def evaluate(scope: Scope) -> Value:
        value = node(scope)
        if value is None or value == "":
            return Unknown(Reason.MISSING)
        return value if isinstance(value, Unknown) else False

    return evaluate


def _missing_code_test(expr: Expr, code: str) -> Node:
    """Asking for a missing code by name is an explicit test and is answered."""

    def evaluate(scope: Scope) -> Value:
        reading = expr.reading(scope) if expr.reading else None
        if reading is None:
            return NOT_EXPORTED
        value = reading.value
        if isinstance(value, Unknown) and value.reason is Reason.MISSING_CODE:
            return text_of(reading.raw) == code
        return value if isinstance(value, Unknown) else False

    return evaluate


# --- types --------------------------------------------------------------------------------------


def _adapt(compiler: Compiler, a: Expr, b: Expr, path: str, *, ordering: bool) -> tuple[Expr, Expr]:
    """Give a literal the type of the other side, then check that the two can be compared."""
    count = len(compiler.problems)
    if b.is_literal:
        b = _beside(compiler, b, a, path, ordering=ordering)
    elif a.is_literal:
        a = _beside(compiler, a, b, path, ordering=ordering)
    if len(compiler.problems) == count and not _can_compare(a, b, ordering=ordering):
        message = _("Values of type “%(a)s” and “%(b)s” can't be compared.")
        compiler.problem(path, message % {"a": a.type, "b": b.type})
    return _read_as(compiler, a, b.type), _read_as(compiler, b, a.type)


def _read_as(compiler: Compiler, expr: Expr, type_: Type) -> Expr:
    """Text beside a number, date or time of day is one itself, whether or not that one is known."""
    read = READERS.get(type_)
    if read is None or expr.type not in {Type.TEXT, Type.RAW}:
        return expr
    compiler.note_type(expr, type_)
    node = expr.node
    return replace(expr, node=lambda scope: read(scope.record, node(scope)))


def _beside(compiler: Compiler, literal: Expr, other: Expr, path: str, *, ordering: bool) -> Expr:
    """A literal as what the other side is."""
    value, column = literal.literal, other.column
    found: Expr | None = literal
    if other.type is Type.FLAG:
        found = _flag(value, is_number=ordering and column is not None)
    elif other.type is Type.CODE:
        found = _code(literal, column.choices if column else {}, ordering=ordering)
    elif not isinstance(value, str):
        return literal
    elif other.type is Type.NUMBER:
        return compiler.as_number(literal, path)
    elif other.type is Type.DATE:
        return compiler.as_date(literal, path)
    elif other.type is Type.TIME:
        is_short = bool(column and column.minutes_first) and value.count(":") == 1
        clock = parse.clock(value, minutes_first=is_short)
        found = None if clock is None else constant(clock, Type.TIME, clock)
    else:
        return _beside_text(compiler, literal, path, ordering=ordering)
    if found is not None:
        return found
    message = _("“%(value)s” is not a value that “%(name)s” (%(type)s) can be compared with.")
    name = column.name if column else path
    return compiler.problem(path, message % {"value": value, "name": name, "type": other.type})


def _flag(value: Any, *, is_number: bool) -> Expr | None:
    """0, 1, true or false, however they are written; beside a field's order they are numbers."""
    text = str(value).lower()
    number = parse.exact({"true": "1", "false": "0"}.get(text, text))
    if number is None or number not in {0, 1}:
        return None
    if is_number:
        return constant(number, Type.NUMBER, number)
    return constant(number == 1, Type.FLAG, number == 1)


def _code(literal: Expr, codes: Any, *, ordering: bool) -> Expr | None:
    """A code, or what could be one: a number where some codes are, other text where some are not."""
    number = parse.exact(str(literal.literal))
    could_be = any((parse.exact(code) is None) is (number is None) for code in codes)
    is_code = str(literal.literal) in codes
    if isinstance(literal.literal, bool) or not (is_code or could_be):
        return None
    is_number = ordering and number is not None
    return constant(number, Type.NUMBER, number) if is_number else literal


def _beside_text(compiler: Compiler, literal: Expr, path: str, *, ordering: bool) -> Expr:
    """Free text, and columns without a dictionary, take their type from the literal."""
    text = str(literal.literal)
    if parse.is_full_date(text):
        return constant(parse.moment(text), Type.DATE, text)
    if not ordering:
        return literal
    for value, type_ in (
        (parse.exact(text), Type.NUMBER),
        (parse.moment(text), Type.DATE),
        (parse.clock(text), Type.TIME),
    ):
        if value is not None:
            return constant(value, type_, text)
    return compiler.problem(path, _("Text can't be ordered: “%(text)s”.") % {"text": text})


def _can_compare(a: Expr, b: Expr, *, ordering: bool) -> bool:
    types = frozenset((a.type, b.type))
    if types & _UNTYPED:
        return not ordering or not types & {Type.LIST, Type.NULL}
    if not ordering:
        return len(types) == 1 or types in _EQUATABLE
    if types == {Type.FLAG}:
        return a.column is not None is not b.column
    if any(side.type is Type.CODE and not side.has_numeric_codes for side in (a, b)):
        return False
    return types <= _ORDERED if len(types) == 1 else types in _ORDERABLE


# --- order --------------------------------------------------------------------------------------


def _build_order(compiler: Compiler, call: Call) -> Expr:
    """a < b, or a < b < c; a > b is b < a."""
    exprs = compiler.arguments(call)
    if call.name.startswith(">"):
        exprs.reverse()
    or_equal = call.name.endswith("=")
    nodes = [_order(compiler, *pair, call.path, or_equal=or_equal) for pair in pairwise(exprs)]
    return Expr(nodes[0] if len(nodes) == 1 else _both(*nodes), Type.FLAG)


for _name, _sign, _most in (("<", "<", 3), ("<=", "≤", 3), (">", ">", 2), (">=", "≥", 2)):
    operator(_name, least=2, most=_most, sign=_sign, **_COMPARES)(_build_order)


def _order(compiler: Compiler, a: Expr, b: Expr, path: str, *, or_equal: bool) -> Node:
    a, b = _adapt(compiler, a, b, path, ordering=True)
    first, second = a.node, b.node
    return lambda scope: less(scope.record, first(scope), second(scope), or_equal=or_equal)


def _both(first: Node, second: Node) -> Node:
    def evaluate(scope: Scope) -> Value:
        a, b = first(scope), second(scope)
        if a is False or b is False:
            return False
        return a if isinstance(a, Unknown) else b

    return evaluate


def _build_dated(compiler: Compiler, call: Call) -> Expr:
    """Strictly earlier, or later; open where a partial date leaves it open."""
    order = (0, 1) if call.name == "before" else (1, 0)
    nodes = [compiler.taken(call, index, Type.DATE) for index in (0, 1)]
    first, second = (nodes[index] for index in order)
    return Expr(lambda scope: less(scope.record, first(scope), second(scope)), Type.FLAG)


for _name, _words, _negated in (
    ("before", gettext_noop("{0} is before {1}"), gettext_noop("{0} is not before {1}")),
    ("after", gettext_noop("{0} is after {1}"), gettext_noop("{0} is not after {1}")),
):
    operator(_name, least=2, most=2, words=_words, negated=_negated, is_truth=True)(_build_dated)


# --- in -----------------------------------------------------------------------------------------


@operator("in", least=2, most=2, **_COMPARES)
def build_in(compiler: Compiler, call: Call) -> Expr:
    """Membership of a list (each item compared as with ==), or a piece of text in text."""
    needle, haystack = compiler.arguments(call)
    if haystack.items is not None:
        return Expr(_one_of(compiler, needle, haystack.items, call.at(1)), Type.FLAG)
    if haystack.type is Type.LIST:
        element = haystack.element or BROKEN
        needle, _element = _adapt(compiler, needle, element, call.path, ordering=False)
    elif haystack.type not in _SEARCHABLE or needle.type not in _SEARCHABLE | {Type.NUMBER}:
        message = _("“in” needs a list here, or text in text: “%(a)s” in “%(b)s”.")
        compiler.problem(call.path, message % {"a": needle.type, "b": haystack.type})
    elif needle.type is Type.NUMBER and not needle.is_literal:
        compiler.problem(call.path, _("A number is looked for in a list, not in text."))
    return Expr(_found_in(needle.node, haystack.node), Type.FLAG)


def _one_of(compiler: Compiler, needle: Expr, items: Sequence[Expr], path: str) -> Node:
    nodes = [_equality(compiler, needle, i, path) for i in items if i.type is not Type.NULL]
    value_of = needle.node

    def evaluate(scope: Scope) -> Value:
        answers = [node(scope) for node in nodes]  # all: an impossible item fails behind a match
        if True in answers:
            return True
        doubts = [answer for answer in answers if isinstance(answer, Unknown)]
        if not nodes and isinstance(value_of(scope), Unknown):
            return value_of(scope)
        return doubts[0] if doubts else False

    return evaluate


def _found_in(needle_node: Node, haystack_node: Node) -> Node:
    def evaluate(scope: Scope) -> Value:
        needle, haystack = needle_node(scope), haystack_node(scope)
        if isinstance(haystack, Items):
            return contains(scope.record, needle, haystack)
        for value in (needle, haystack):
            if isinstance(value, Unknown):
                return value
            if value is None or value == "":
                return Unknown(Reason.MISSING)
        return (text_of(needle) or "") in (text_of(haystack) or "")

    return evaluate
