"""Any text is a logic or refused by the parser's own error; what is well typed agrees with plain Python."""

from __future__ import annotations

import statistics
from decimal import ROUND_HALF_UP, Decimal
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rules.limits import RuleError
from core.rules.redcap.functions import FUNCTIONS
from core.rules.redcap.nodes import Open, Operand, number
from core.rules.redcap.parser import parse_logic
from tests.fuzz.checks import logic
from tests.rules.redcap.support import value

CELLS: dict[str, Operand] = {
    "three": Decimal(3),
    "minus": "-7",
    "half": Decimal("0.5"),
    "none": "",
    "word": "ab",
}
_WORDS = [
    *(f"{name}(" for name in FUNCTIONS), *("and ", "or ", "not ", "[a]", "[e][a(1)][2]", "'x'", "today"),
    *("(", ")", ",", "=", "<>", "==", "&&", "||", "!", "<=", "+", "-", "*", "/", "^", "1", "2.5", "#", "//\n"),
]  # fmt: skip
_ONCE = [
    ("[three]", Fraction(3)),
    ("[minus]", Fraction(-7)),
    ("[half]", Fraction(1, 2)),
    ("[none]", None),
]
Pair = tuple[str, Any]
"""The text of an expression, and what plain Python makes of it; None is blank."""


def _both(pairs: tuple[Pair, str, Pair]) -> Pair:
    (a, x), sign, (b, y) = pairs
    if x is None or y is None:
        return f"({a} {sign} {b})", None
    return f"({a} {sign} {b})", {"+": x + y, "-": x - y, "*": x * y}[sign]


def _aggregate(drawn: tuple[str, list[Pair]]) -> Pair:
    name, parts = drawn
    function = {"sum": sum, "min": min, "max": max, "median": statistics.median}[name]
    known = [worth for _text, worth in parts if worth is not None]
    return f"{name}({', '.join(text for text, _worth in parts)})", function(
        known
    ) if known else None


def _chosen(drawn: tuple[Pair, Pair, Pair]) -> Pair:
    (condition, holds), (a, x), (b, y) = drawn
    return f"if({condition}, {a}, {b})", x if holds else y


def _compared(drawn: tuple[Pair, str, Pair]) -> Pair:
    (a, x), sign, (b, y) = drawn
    x, y = x or 0, y or 0
    tests = {"=": x == y, "<>": x != y, "<": x < y, ">=": x >= y}
    return f"sum({a}, 0) {sign} sum({b}, 0)", tests[sign]


def _joined(drawn: tuple[Pair, str, Pair]) -> Pair:
    (a, x), word, (b, y) = drawn
    return f"({a} {word} {b})", (x and y) if word == "and" else (x or y)


numbers = st.deferred(lambda: _numbers)
conditions = st.deferred(lambda: _conditions)
_numbers = (
    st.sampled_from(_ONCE)
    | st.integers(0, 99).map(lambda n: (str(n), Fraction(n)))
    | st.tuples(numbers, st.sampled_from("+-*"), numbers).map(_both)
    | st.tuples(
        st.sampled_from(["sum", "min", "max", "median"]), st.lists(numbers, min_size=1, max_size=3)
    ).map(_aggregate)
    | st.tuples(conditions, numbers, numbers).map(_chosen)
    | numbers.map(lambda one: (f"abs({one[0]})", None if one[1] is None else abs(one[1])))
)
_conditions = (
    st.tuples(numbers, st.sampled_from(["=", "<>", "<", ">="]), numbers).map(_compared)
    | numbers.map(lambda one: (f"isblankormissingcode({one[0]})", one[1] is None))
    | st.tuples(conditions, st.sampled_from(["and", "or"]), conditions).map(_joined)
    | conditions.map(lambda one: (f"not ({one[0]})", not one[1]))
)


@pytest.mark.full
@settings(max_examples=120, deadline=None)
@given(numbers)
def test_numbers_agree_with_plain_python(drawn: Pair) -> None:
    text, expected = drawn
    found = number(value(text, CELLS))
    if expected is None or found is None:
        assert expected is found
        return
    assert abs(Fraction(found) - expected) <= Fraction(1, 10**9) * max(1, abs(expected))


@pytest.mark.full
@settings(max_examples=120, deadline=None)
@given(conditions)
def test_conditions_agree_with_plain_python(drawn: Pair) -> None:
    text, expected = drawn
    assert value(text, CELLS) is expected


@given(st.decimals(-1000, 1000, places=6), st.integers(0, 4))
def test_rounding_agrees_with_decimal(number: Decimal, places: int) -> None:
    expected = number.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    assert value(f"round([x], {places})", {"x": number}) == expected


@pytest.mark.full
@settings(max_examples=200, deadline=None)
@given(
    st.text("[]()'\"=<>!+-*/^ andortif,0123abc#\n&|", max_size=60)
    | st.lists(st.sampled_from(_WORDS), max_size=30).map(" ".join)
    | st.text(max_size=60)
)
def test_any_text_is_a_logic_or_refused(text: str) -> None:
    logic(text)


@pytest.mark.parametrize(
    "text",
    [
        *("(" * 5000, "[a]=" + "-" * 5000, "not " * 9000, "if(" * 70 + "1", "1+" * 40_000 + "1"),
        *("[a] or " * 3000, "'" + "x" * 70_000 + "'", "[a][b][c][d]", "[a:label]", "if(1, 2)", "eval('1')"),
    ],
)  # fmt: skip
def test_what_is_too_large_too_deep_or_unknown_is_refused(text: str) -> None:
    with pytest.raises(RuleError):
        parse_logic(text)


def test_a_long_logic_is_no_deep_one() -> None:
    text = " or ".join(["[three] = 4"] * 1000)
    assert value(text, CELLS) is False
    assert value("+".join(["1"] * 2000), CELLS) == 2000


def test_numbers_beyond_all_bounds_have_no_result() -> None:
    big = "((10)^(100))^(100)"
    assert value(f"(({big})^(100))^(100)", CELLS) == ""
    assert not isinstance(value(f"round({big}, 2) + exponential(99999999)", CELLS), Open)
