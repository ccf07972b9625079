"""cat, substr, matches: text as it was entered; a blank piece is UNKNOWN."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from core.rules.compiler import Call, Compiler, function, operator
from core.rules.expression import Expr, Node, Scope, Type, entered
from core.rules.limits import MAX_TEXT, RuleError, TooMuchError
from core.rules.pattern import Pattern, compile_pattern
from core.rules.text import gettext_noop
from core.rules.text import translate as _
from core.rules.values import Range, Unknown, Value

_MAX_INDEX = 1_000_000
_STATES_A_STEP = 200
_COMPILING = 1_000


@function("cat", takes=(Type.TEXT,), gives=Type.TEXT, repeats=True)
def cat(*pieces: str) -> str:
    """The pieces joined."""
    text = "".join(pieces)
    if len(text) > MAX_TEXT:
        raise TooMuchError(_("The text is too long."))
    return text


@function("substr", takes=(Type.TEXT, Type.NUMBER, Type.NUMBER), gives=Type.TEXT, least=2)
def substr(text: str, start: Decimal | Range, length: Decimal | Range | None = None) -> str:
    """In UTF-16 units; a negative start counts from the end, a negative length cuts there."""
    units = text.encode("utf-16-le", "surrogatepass")
    count, first = len(units) // 2, _index(start)
    first = max(count + first, 0) if first < 0 else min(first, count)
    last = count if length is None else (first if _index(length) >= 0 else count) + _index(length)
    return units[2 * first : 2 * max(first, min(last, count))].decode("utf-16-le", "surrogatepass")


def _index(number: Decimal | Range) -> int:
    if not isinstance(number, Decimal):
        return 0
    return int(max(Decimal(-_MAX_INDEX), min(Decimal(_MAX_INDEX), number)))


@operator("matches", least=2, most=2, words=gettext_noop("{0} has the form {1}"), is_truth=True)
def build_matches(compiler: Compiler, call: Call) -> Expr:
    """The whole value matches the pattern; see `pattern` for what a pattern may contain.

    A written pattern is checked at once; one that is computed or read is when it is there.
    """
    text, written = compiler.taken(call, 0, Type.TEXT), call.given[1]
    if isinstance(written, str):
        try:
            known = compile_pattern(written)
        except RuleError as error:
            return compiler.problem(call.at(1), str(error))
        return Expr(_matches(text, lambda _scope: known), Type.FLAG)
    pattern = compiler.argument(call, 1)
    if pattern.type not in {Type.TEXT, Type.RAW, Type.ANY}:
        return compiler.problem(call.at(1), _("A text is needed here."))
    return Expr(_matches(text, _computed(entered(pattern))), Type.FLAG)


def _computed(node: Node) -> Any:
    def evaluate(scope: Scope) -> Pattern | Unknown:
        written = node(scope)
        if isinstance(written, Unknown):
            return written
        scope.record.spend(_COMPILING)
        try:
            return compile_pattern(str(written))
        except RuleError:  # its message repeats the pattern, which may be a patient's data
            return Unknown(None, _("The pattern is not supported."))

    return evaluate


def _matches(text: Node, pattern_of: Any) -> Node:
    def evaluate(scope: Scope) -> Value:
        value, pattern = text(scope), pattern_of(scope)
        if isinstance(value, Unknown):
            return value
        if isinstance(pattern, Unknown):
            return pattern
        scope.record.spend(len(str(value)) * pattern.states // _STATES_A_STEP)
        return bool(pattern.fullmatch(str(value)))

    return evaluate
