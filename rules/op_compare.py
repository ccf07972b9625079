"""==, ===, !=, !==, <, <=, >, >=, in, before, after in clinical mode.

`==` and `===` mean the same: both sides are typed. `<` and `<=` take a third argument ("between");
`>` and `>=` do not, because JSON Logic would silently ignore it. A comparison with null is a test
of blank, one with a missing code a test of that code. Text can be compared for equality; it is
ordered only as the number or date that the other side is.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from rules import parse
from rules.arithmetic import to_number
from rules.compare import contains, equal, less, to_clock, to_moment
from rules.compiler import BROKEN, Compiler, operator
from rules.convert import text_of
from rules.expression import NOT_EXPORTED, Expr, Node, Scope, Type, blank, constant
from rules.record import Record
from rules.text import translate as _
from rules.values import Items, Reason, Unknown, Value

_LOOSE = {Type.ANY, Type.RAW}
_EQUATABLE = {
    frozenset(pair)
    for pair in (
        (Type.NUMBER, Type.CODE),
        (Type.NUMBER, Type.FLAG),
        (Type.NUMBER, Type.TEXT),
        (Type.DATE, Type.TEXT),
        (Type.TIME, Type.TEXT),
        (Type.CODE, Type.FLAG),
        (Type.CODE, Type.TEXT),
        (Type.FLAG, Type.TEXT),
    )
}
_ORDERED = {Type.NUMBER, Type.DATE, Type.TIME, Type.TEXT, Type.CODE}
_UNORDERABLE = {
    frozenset((Type.CODE, Type.TEXT)),
    frozenset((Type.CODE, Type.FLAG)),
    frozenset((Type.FLAG, Type.TEXT)),
}


@operator("==", "===", "!=", "!==", least=2, most=2)
def build_equality(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """Equality of typed values."""
    a, b = compiler.compile_all(arguments, path)
    node = equality(compiler, a, b, path)
    return Expr(_negated(node) if path.rsplit("/", 1)[1].startswith("!") else node, Type.FLAG)


def _negated(node: Node) -> Node:
    def evaluate(scope: Scope) -> Value:
        value = node(scope)
        return value if isinstance(value, Unknown) else not value

    return evaluate


def equality(compiler: Compiler, a: Expr, b: Expr, path: str) -> Node:
    """A node for a == b; notes a problem when the two can't be compared."""
    if a.type is Type.NULL or b.type is Type.NULL:
        return blank(b if a.type is Type.NULL else a)
    if a.is_literal and not b.is_literal:
        a, b = b, a
    if _is_missing_code(compiler, a, b):
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


def _is_missing_code(compiler: Compiler, a: Expr, b: Expr) -> bool:
    is_code = b.is_literal and str(b.literal) in compiler.context.missing_codes
    return is_code and a.reading is not None and a.type is not Type.LIST


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
        b = _literal_beside(compiler, b, a, path, ordering=ordering)
    elif a.is_literal:
        a = _literal_beside(compiler, a, b, path, ordering=ordering)
    if len(compiler.problems) == count and not _can_compare(a, b, ordering=ordering):
        message = _("Values of type “%(a)s” and “%(b)s” can't be compared.")
        compiler.problem(path, message % {"a": a.type, "b": b.type})
    return _read_as(compiler, a, b.type), _read_as(compiler, b, a.type)


_READERS: dict[Type, Callable[[Record, Value], Value]] = {
    Type.NUMBER: to_number,
    Type.DATE: to_moment,
    Type.TIME: to_clock,
}


def _read_as(compiler: Compiler, expr: Expr, type_: Type) -> Expr:
    """Text beside a number, date or time of day is one itself, whether or not that one is known."""
    read = _READERS.get(type_)
    if read is None or expr.type not in {Type.TEXT, Type.RAW}:
        return expr
    compiler.note_type(expr, type_)
    node = expr.node
    return replace(expr, node=lambda scope: read(scope.record, node(scope)))


def _literal_beside(
    compiler: Compiler, literal: Expr, other: Expr, path: str, *, ordering: bool
) -> Expr:
    value = literal.literal
    if other.type is Type.FLAG:
        return _flag_beside(compiler, literal, other, path, ordering=ordering)
    if other.type is Type.CODE:
        return _code_beside(compiler, literal, other, path, ordering=ordering)
    if not isinstance(value, str):
        return literal
    if other.type is Type.NUMBER:
        return compiler.as_number(literal, path)
    if other.type is Type.DATE:
        return compiler.as_date(literal, path)
    if other.type is Type.TIME:
        clock = parse.clock(value)
        if clock is None:
            return _not_a_value(compiler, literal, other, path)
        return constant(clock, Type.TIME, clock)
    return _text_beside_text(compiler, literal, path, ordering=ordering)


def _flag_beside(
    compiler: Compiler, literal: Expr, other: Expr, path: str, *, ordering: bool
) -> Expr:
    """0, 1, true or false, however they are written; beside a field's order they are numbers."""
    text = str(literal.literal).lower()
    number = parse.exact({"true": "1", "false": "0"}.get(text, text))
    if number is None or number not in {0, 1}:
        return _not_a_value(compiler, literal, other, path)
    if ordering and other.column is not None:
        return constant(number, Type.NUMBER, number)
    return constant(number == 1, Type.FLAG, number == 1)


def _code_beside(
    compiler: Compiler, literal: Expr, other: Expr, path: str, *, ordering: bool
) -> Expr:
    """A code, or what could be one: a number where some codes are, other text where some are not."""
    codes = other.column.choices if other.column else {}
    number = parse.exact(str(literal.literal))
    could_be = any((parse.exact(code) is None) is (number is None) for code in codes)
    is_code = str(literal.literal) in codes
    if isinstance(literal.literal, bool) or not (is_code or could_be):
        return _not_a_value(compiler, literal, other, path)
    is_number = ordering and number is not None
    return constant(number, Type.NUMBER, number) if is_number else literal


def _text_beside_text(compiler: Compiler, literal: Expr, path: str, *, ordering: bool) -> Expr:
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


def _not_a_value(compiler: Compiler, literal: Expr, other: Expr, path: str) -> Expr:
    message = _("“%(value)s” is not a value that “%(name)s” (%(type)s) can be compared with.")
    name = other.column.name if other.column else path
    return compiler.problem(
        path, message % {"value": literal.literal, "name": name, "type": other.type}
    )


def _can_compare(a: Expr, b: Expr, *, ordering: bool) -> bool:
    types = frozenset((a.type, b.type))
    if types & _LOOSE:
        return not ordering or not types & {Type.LIST, Type.NULL}
    if not ordering:
        return len(types) == 1 or types in _EQUATABLE
    if types == {Type.FLAG}:
        return a.column is not None is not b.column
    if not _has_ordered_codes(a) or not _has_ordered_codes(b):
        return False
    if len(types) == 1:
        return types <= _ORDERED
    return types in _EQUATABLE and types not in _UNORDERABLE


def _has_ordered_codes(expr: Expr) -> bool:
    return expr.type is not Type.CODE or expr.has_numeric_codes


# --- order --------------------------------------------------------------------------------------


@operator("<", "<=", least=2, most=3)
def build_less(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """a < b, or a < b < c."""
    exprs = compiler.compile_all(arguments, path)
    or_equal = path.endswith("=")
    nodes = [
        ordering(compiler, a, b, path, or_equal=or_equal) for a, b in itertools.pairwise(exprs)
    ]
    return Expr(nodes[0] if len(nodes) == 1 else _both(*nodes), Type.FLAG)


@operator(">", ">=", least=2, most=2)
def build_greater(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """a > b is b < a."""
    a, b = compiler.compile_all(arguments, path)
    return Expr(ordering(compiler, b, a, path, or_equal=path.endswith("=")), Type.FLAG)


def ordering(compiler: Compiler, a: Expr, b: Expr, path: str, *, or_equal: bool) -> Node:
    """A node for a < b (or a <= b)."""
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


@operator("before", "after", least=2, most=2)
def build_before(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """Strictly earlier or later; open where a partial date leaves it open."""
    a, b = compiler.compile_all(arguments, path)
    first = compiler.as_date(a, f"{path}/0").node
    second = compiler.as_date(b, f"{path}/1").node
    if path.endswith("/after"):
        first, second = second, first

    def evaluate(scope: Scope) -> Value:
        record = scope.record
        return less(record, to_moment(record, first(scope)), to_moment(record, second(scope)))

    return Expr(evaluate, Type.FLAG)


# --- in -----------------------------------------------------------------------------------------

_SEARCHABLE = {Type.TEXT, Type.RAW, Type.ANY}


@operator("in", least=2, most=2)
def build_in(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """Membership of a list (each item compared as with ==), or a piece of text in text."""
    needle, haystack = compiler.compile_all(arguments, path)
    if haystack.items is not None:
        return Expr(_one_of(compiler, needle, haystack.items, path), Type.FLAG)
    if haystack.type is Type.LIST:
        element = haystack.element or BROKEN
        needle, _element = _adapt(compiler, needle, element, path, ordering=False)
    elif haystack.type not in _SEARCHABLE or needle.type not in _SEARCHABLE | {Type.NUMBER}:
        message = _("“in” needs a list here, or text in text: “%(a)s” in “%(b)s”.")
        compiler.problem(path, message % {"a": needle.type, "b": haystack.type})
    elif needle.type is Type.NUMBER and not needle.is_literal:
        compiler.problem(path, _("A number is looked for in a list, not in text."))
    return Expr(_found_in(needle.node, haystack.node), Type.FLAG)


def _one_of(compiler: Compiler, needle: Expr, items: Sequence[Expr], path: str) -> Node:
    nodes = [equality(compiler, needle, i, f"{path}/1") for i in items if i.type is not Type.NULL]
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
        return _plain_text(needle) in _plain_text(haystack)

    return evaluate


def _plain_text(value: Value) -> str:
    return text_of(value) or ""
