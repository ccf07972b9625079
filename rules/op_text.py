"""cat, substr, matches in clinical mode: text as it was entered; a blank piece is UNKNOWN."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

from rules import js
from rules.arithmetic import EXACT, settle, to_number
from rules.compiler import Compiler, operator
from rules.convert import text_of
from rules.errors import RuleError
from rules.expression import NOT_EXPORTED, Expr, Node, Scope, Type
from rules.pattern import Pattern, compile_pattern
from rules.text import translate as _
from rules.values import Items, Reason, Unknown, Value, plain

_MAX_INDEX = 1_000_000
_NO_TEXT = {Type.LIST, Type.NULL}


def _text_nodes(compiler: Compiler, arguments: Sequence[Any], path: str) -> list[Node]:
    exprs = compiler.compile_all(arguments, path)
    for index, expr in enumerate(exprs):
        if expr.type in _NO_TEXT:
            compiler.problem(f"{path}/{index}", _("A text is needed here."))
    return [_entered(expr) for expr in exprs]


def _entered(expr: Expr) -> Node:
    """A column's text as entered (so "007" stays "007"), any other value in its plain form."""
    read = expr.reading
    if read is None:
        return lambda scope: _as_text(expr.node(scope))

    def evaluate(scope: Scope) -> Value:
        reading = read(scope)
        if reading is None:
            return NOT_EXPORTED
        value = reading.value
        if isinstance(value, Unknown):
            return value
        return _as_text(value) if isinstance(value, Items) else _raw_text(reading.raw)

    return evaluate


def _raw_text(raw: Any) -> str:
    return raw if isinstance(raw, str) else text_of(raw) or ""


def _as_text(value: Value) -> Value:
    if isinstance(value, Unknown):
        return value
    if isinstance(value, Decimal):
        return f"{EXACT.normalize(settle(value)):f}" if abs(value.adjusted()) < 40 else str(value)
    if isinstance(value, Items):
        return Unknown(None, _("A list is no text."))
    shown = plain(value)
    return Unknown(Reason.MISSING) if shown is None or shown == "" else js.to_string(shown)


@operator("cat", least=1, most=None)
def build_cat(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """The pieces joined."""
    nodes = _text_nodes(compiler, arguments, path)

    def evaluate(scope: Scope) -> Value:
        pieces = [node(scope) for node in nodes]
        for piece in pieces:
            if isinstance(piece, Unknown):
                return piece
        return "".join(str(piece) for piece in pieces)

    return Expr(evaluate, Type.TEXT)


@operator("substr", least=2, most=3)
def build_substr(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """As in JSON Logic, counted in UTF-16 units."""
    [text] = _text_nodes(compiler, arguments[:1], path)
    bounds = [
        compiler.as_number(compiler.compile(logic, f"{path}/{i}"), f"{path}/{i}").node
        for i, logic in enumerate(arguments[1:], start=1)
    ]

    def evaluate(scope: Scope) -> Value:
        value = text(scope)
        numbers = [to_number(scope.record, node(scope)) for node in bounds]
        for part in (value, *numbers):
            if isinstance(part, Unknown):
                return part
        return js.substr(value, *[_index(number) for number in numbers])

    return Expr(evaluate, Type.TEXT)


def _index(number: Any) -> int:
    if not isinstance(number, Decimal):
        return 0
    return int(max(Decimal(-_MAX_INDEX), min(Decimal(_MAX_INDEX), number)))


@operator("matches", least=2, most=2)
def build_matches(compiler: Compiler, arguments: Sequence[Any], path: str) -> Expr:
    """The whole value matches the pattern; see `pattern` for what a pattern may contain.

    A written pattern is checked at once; one that is computed or read is when it is there.
    """
    [text] = _text_nodes(compiler, arguments[:1], path)
    if isinstance(arguments[1], str):
        return _matches_written(compiler, text, arguments[1], f"{path}/1")
    pattern = compiler.compile(arguments[1], f"{path}/1")
    if pattern.type not in {Type.TEXT, Type.RAW, Type.ANY}:
        return compiler.problem(f"{path}/1", _("A text is needed here."))
    return Expr(_matches(text, _computed(_entered(pattern))), Type.FLAG)


def _matches_written(compiler: Compiler, text: Node, written: str, path: str) -> Expr:
    try:
        pattern = compile_pattern(written)
    except RuleError as error:
        return compiler.problem(path, str(error))
    return Expr(_matches(text, lambda _scope: pattern), Type.FLAG)


def _computed(node: Node) -> Callable[[Scope], Pattern | Unknown]:
    def evaluate(scope: Scope) -> Pattern | Unknown:
        written = node(scope)
        if isinstance(written, Unknown):
            return written
        try:
            return compile_pattern(str(written))
        except RuleError:  # its message repeats the pattern, which may be a patient's data
            return Unknown(None, _("The pattern is not supported."))

    return evaluate


def _matches(text: Node, pattern_of: Callable[[Scope], Pattern | Unknown]) -> Node:
    def evaluate(scope: Scope) -> Value:
        value, pattern = text(scope), pattern_of(scope)
        if isinstance(value, Unknown):
            return value
        if isinstance(pattern, Unknown):
            return pattern
        try:
            return pattern.fullmatch(str(value))
        except RuleError as error:
            return Unknown(None, str(error))

    return evaluate
