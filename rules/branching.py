"""REDCap's branching logic, three-valued (reference/redcap_dify.md 1.14, edge cases E06-E08).

A comparison with a blank, missing-coded or unexported field is undecided and names that field;
a blank field that is itself hidden, or a calculation without a result, is a real blank, as in
REDCap. A comparison with '' is a test of blank, one with a missing code a test of that code; both
are decided. The aggregate functions leave blanks out (*Functions of REDCap's logic*); what is no
number leaves their result open.
"""

from __future__ import annotations

import functools
import re
import statistics
from collections.abc import Callable
from decimal import ROUND_HALF_UP, Decimal
from typing import Any, TypeAlias

from rules import parse
from rules.errors import RuleError
from rules.limits import MAX_DEPTH
from rules.operands import (
    UNTOLD,
    Open,
    Operand,
    compare,
    is_blank_or_code,
    number,
    truth,
    undecided,
)

Lookup: TypeAlias = Callable[[str, str, str | None], Operand]
Node: TypeAlias = Callable[[Lookup, Decimal], Operand]

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<comment>(?:\#|//)[^\n]*)|(?P<field>\[[^\[\]]+\])|(?P<text>'[^']*'|"[^"]*")|(?P<number>[0-9]+\.?[0-9]*|\.[0-9]+)
      |(?P<operator><>|!=|!|<=|>=|=|<|>|\+|-|\*|/|\^|\(|\)|,)|(?P<word>[A-Za-z_][A-Za-z_0-9]*)
    )""",
    re.VERBOSE,
)
_COMPARISONS = frozenset({"=", "<>", "!=", "<", ">", "<=", ">="})
_DAYS = frozenset({"today", "now"})
_FUNCTIONS: dict[str, Callable[..., Operand]] = {}


@functools.lru_cache(maxsize=4096)
def parse_logic(text: str) -> Node:
    """A function for one branching logic; RuleError when it is outside the known subset."""
    parser = _Parser(_tokens(text))
    node = parser.expression()
    if parser.peek() is not None:
        raise RuleError(f"unexpected {parser.peek()!r}")
    return node


def _tokens(text: str) -> list[tuple[str, str]]:
    tokens: list[tuple[str, str]] = []
    position, text = 0, text.rstrip()
    while position < len(text):
        found = _TOKEN.match(text, position)
        if not found or found.lastgroup is None:
            raise RuleError(f"unexpected {text[position : position + 10]!r}")
        if found.lastgroup != "comment":
            tokens.append((found.lastgroup, found[found.lastgroup]))
        position = found.end()
    return tokens


class _Parser:
    """Recursive descent: or < and < not < comparison < sum < product < power < primary."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    def peek(self) -> str | None:
        """The next token's text, words in lower case."""
        if self._at >= len(self._tokens):
            return None
        kind, text = self._tokens[self._at]
        return text.lower() if kind == "word" else text

    def _next(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise RuleError("unexpected end")
        self._at += 1
        return self._tokens[self._at - 1]

    def _accept(self, *texts: str) -> str | None:
        text = self.peek()
        is_word = text is not None and self._tokens[self._at][0] in {"word", "operator"}
        if text is not None and is_word and text in texts:
            self._at += 1
            return text
        return None

    def _expect(self, text: str) -> None:
        if self._accept(text) is None:
            raise RuleError(f"expected {text!r}")

    def expression(self) -> Node:
        """One whole logical expression."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise RuleError("nested too deeply")
        node = self._conjunction()
        while self._accept("or"):
            node = _logical(node, self._conjunction(), decisive=True)
        self._depth -= 1
        return node

    def _conjunction(self) -> Node:
        node = self._negation()
        while self._accept("and"):
            node = _logical(node, self._negation(), decisive=False)
        return node

    def _negation(self) -> Node:
        negations = 0
        while self._accept("not", "!"):
            negations += 1
        node = self._comparison()
        return _negate(node) if negations % 2 else node

    def _comparison(self) -> Node:
        node = self._chain(("+", "-"), lambda: self._chain(("*", "/"), self._power))
        operator = self.peek()
        if operator in _COMPARISONS:
            self._at += 1
            right = self._chain(("+", "-"), lambda: self._chain(("*", "/"), self._power))
            return _compare(operator, node, right)
        return node

    def _chain(self, operators: tuple[str, ...], operand: Callable[[], Node]) -> Node:
        node = operand()
        while operator := self._accept(*operators):
            node = _call(_ARITHMETIC[operator], [node, operand()])
        return node

    def _power(self) -> Node:
        node = self._primary()
        if self._accept("^"):
            return _call(_ARITHMETIC["^"], [node, self._primary()])
        return node

    def _primary(self) -> Node:
        if self._accept("-"):
            minus = 1
            while self._accept("-"):
                minus += 1
            node = self._primary()
            zero = _constant(Decimal(0))
            return _call(_ARITHMETIC["-"], [zero, node]) if minus % 2 else node
        kind, text = self._next()
        if text == "(":
            node = self.expression()
            self._expect(")")
            return node
        if kind == "field":
            return self._field(text[1:-1])
        if kind == "text":
            return _constant(text[1:-1].strip())
        if kind == "number":
            return _constant(Decimal(text))
        if kind == "word":
            return self._function(text.lower())
        raise RuleError(f"unexpected {text!r}")

    def _field(self, name: str) -> Node:
        event: str | None = None
        if self._at < len(self._tokens) and self._tokens[self._at][0] == "field":
            event, name = name, self._next()[1][1:-1]
        _name, _parenthesis, rest = name.partition("(")
        return _field(_stem(name), rest.removesuffix(")").strip(), event)

    def _function(self, name: str) -> Node:
        if name in {"true", "false"}:
            return _constant(name == "true")
        if name in _DAYS:
            return _constant(name)
        if name not in _FUNCTIONS and name not in _AGGREGATES:
            raise RuleError(f"unknown function {name!r}")
        self._expect("(")
        arguments = [self.expression()]
        while self._accept(","):
            arguments.append(self.expression())
        self._expect(")")
        if name == "isblankormissingcode":
            return _blank_test(arguments[0])
        if name in _AGGREGATES:
            return _aggregate(_AGGREGATES[name], arguments)
        return _call(_FUNCTIONS[name], arguments, needs_today=name == "datediff")


def _stem(name: str) -> str:
    """The field of `exclusion(3)`, and of `sex:value`, which is the field's value as it is."""
    return name.partition("(")[0].removesuffix(":value").strip()


# --- nodes ------------------------------------------------------------------------------------


def _constant(value: Operand) -> Node:
    return lambda _lookup, _today: value


def _field(name: str, code: str, event: str | None) -> Node:
    return lambda lookup, _today: lookup(name, code, event)


def _blank_test(node: Node) -> Node:
    return lambda lookup, today: is_blank_or_code(node(lookup, today))


def _logical(left: Node, right: Node, *, decisive: bool) -> Node:
    def evaluate(lookup: Lookup, today: Decimal) -> Operand:
        sides = truth(left(lookup, today)), truth(right(lookup, today))
        if decisive in sides:
            return decisive
        return next((side for side in sides if isinstance(side, Open)), not decisive)

    return evaluate


def _negate(node: Node) -> Node:
    def evaluate(lookup: Lookup, today: Decimal) -> Operand:
        value = truth(node(lookup, today))
        return value if isinstance(value, Open) else not value

    return evaluate


def _call(
    function: Callable[..., Operand], nodes: list[Node], *, needs_today: bool = False
) -> Node:
    def evaluate(lookup: Lookup, today: Decimal) -> Operand:
        values = [node(lookup, today) for node in nodes]
        cause = next((value for value in values if isinstance(value, Open)), None)
        if cause is not None:
            return undecided(cause)
        try:
            return function(today, *values) if needs_today else function(*values)
        except (ArithmeticError, LookupError, TypeError, ValueError):
            return ""

    return evaluate


def _aggregate(function: Callable[[list[Decimal]], Decimal], nodes: list[Node]) -> Node:
    """`function` of what is not blank; blank where nothing else is there."""

    def evaluate(lookup: Lookup, today: Decimal) -> Operand:
        values = [node(lookup, today) for node in nodes]
        blanks = [value for value in values if isinstance(value, Open) and value.is_blank]
        filled = [value for value in values if value not in blanks and value != ""]
        doubt = next((value for value in filled if isinstance(value, Open)), None)
        if doubt is not None:
            return undecided(doubt)
        numbers = [known for value in filled if (known := number(value)) is not None]
        if len(numbers) < len(filled):
            return UNTOLD
        try:
            return function(numbers) if numbers else next(iter(blanks), "")
        except (ArithmeticError, statistics.StatisticsError):
            return ""

    return evaluate


def _compare(operator: str, left: Node, right: Node) -> Node:
    return lambda lookup, today: compare(operator, left(lookup, today), right(lookup, today))


def _need(value: Operand) -> Decimal:
    found = number(value)
    if found is None:
        raise ValueError
    return found


def _power(base: Operand, exponent: Operand) -> Decimal:
    power = _need(exponent)
    if abs(power) > 100:
        raise ValueError
    return _need(base) ** power


_ARITHMETIC: dict[str, Callable[..., Operand]] = {
    "+": lambda a, b: _need(a) + _need(b),
    "-": lambda a, b: _need(a) - _need(b),
    "*": lambda a, b: _need(a) * _need(b),
    "/": lambda a, b: _need(a) / _need(b),
    "^": _power,
}

_SECONDS = {
    "s": Decimal(1),
    "m": Decimal(60),
    "h": Decimal(3600),
    "d": Decimal(86400),
    "M": Decimal("30.44") * 86400,
    "y": Decimal("365.2425") * 86400,
}


def _datediff(
    today: Decimal, first: Operand, second: Operand, unit: Operand, *rest: Operand
) -> Any:
    """REDCap's datediff: unsigned unless the last argument is true; M = 30.44 d, y = 365.2425 d."""
    seconds = _epoch(today, second) - _epoch(today, first)
    is_signed = bool(rest) and str(rest[-1]).lower() == "true"
    return (seconds if is_signed else abs(seconds)) / _SECONDS[str(unit)]


def _epoch(today: Decimal, value: Operand) -> Decimal:
    if str(value).lower() in _DAYS:
        return today * 86400
    moment = parse.moment(str(value))
    if moment is None or moment.is_partial:
        raise ValueError
    clock = moment.low.hour * 3600 + moment.low.minute * 60 + moment.low.second
    return Decimal(moment.low.toordinal() * 86400 + clock)


def _round(value: Operand, digits: Operand = Decimal(0)) -> Decimal:
    places = int(_need(digits))
    if abs(places) > 20:
        raise ValueError
    return _need(value).quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)


_FUNCTIONS.update(
    {
        "datediff": _datediff,
        "if": lambda condition, yes, no: yes if truth(condition) else no,
        "round": _round,
        "abs": lambda value: abs(_need(value)),
        "contains": lambda text, part: str(part).lower() in str(text).lower(),
        "isblankormissingcode": lambda value: value == "",
    }
)

_AGGREGATES: dict[str, Callable[[list[Decimal]], Decimal]] = {
    "sum": lambda numbers: sum(numbers, Decimal(0)),
    "mean": statistics.mean,
    "median": statistics.median,
    "stdev": statistics.stdev,
    "min": min,
    "max": max,
}
