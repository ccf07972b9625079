"""Readings and literals count to their last digit, in every tier; a division counts to 40 digits."""

from __future__ import annotations

from datetime import date
from decimal import ROUND_HALF_UP, Context, Decimal
from fractions import Fraction
from operator import eq, ge, gt, le, lt, ne
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.rules.context import StudyContext
from core.rules.ruleset import compile_rule_set
from tests.fuzz.checks import agreed
from tests.rules.support import DICTIONARY, result, var

ALT, AST = var("alt"), var("ast")
DAY = date(2024, 6, 1)
ONES = "1" * 38
ORDERS = {"<": lt, "<=": le, ">": gt, ">=": ge, "==": eq, "!=": ne}
LONG = st.builds(
    lambda sign, whole, tail: f"{sign}{whole}.{tail}",
    st.sampled_from(["", "-"]),
    st.sampled_from(["0", "7", ONES, "1" + "0" * 45]),
    st.sampled_from(["0", "1", "125", "0" * 41 + "1", "0" * 41 + "2", "3" * 60]),
)


def verdict(logic: Any, row: dict[str, str], dictionary: Any = DICTIONARY) -> str:
    """The one outcome."""
    context = StudyContext.build(dictionary, {})
    rules = compile_rule_set([{"field": "alt", "logic": logic, "message": "m"}], context)
    [found] = agreed(rules, [row], DAY)
    return str(found.outcome)


@pytest.mark.full
@settings(max_examples=150, deadline=None)
@given(st.sampled_from(sorted(ORDERS)), LONG, LONG)
def test_readings_and_literals_are_compared_exactly(operator: str, a: str, b: str) -> None:
    expected = "PASS" if ORDERS[operator](Fraction(a), Fraction(b)) else "FAIL"
    row = {"alt": a, "ast": b}
    is_order = operator[0] in "<>"  # without a dictionary equality is that of the texts
    for dictionary in (DICTIONARY, None) if is_order else (DICTIONARY,):
        assert verdict({operator: [ALT, AST]}, row, dictionary) == expected
        assert verdict({operator: [ALT, b]}, row, dictionary) == expected
        mixed = {"and": [{operator: [ALT, AST]}, {"<": [var("age"), 9]}, {operator: [ALT, b]}]}
        assert verdict(mixed, {**row, "age": "5"}, dictionary) == expected


@pytest.mark.full
@settings(max_examples=100, deadline=None)
@given(LONG, LONG)
def test_sums_and_products_are_exact(a: str, b: str) -> None:
    row = {"alt": a, "ast": b}
    exact = Context(prec=300)
    for operator, value in (
        ("+", exact.add(Decimal(a), Decimal(b))),
        ("-", exact.subtract(Decimal(a), Decimal(b))),
        ("*", exact.multiply(Decimal(a), Decimal(b))),
    ):
        assert verdict({"==": [{operator: [ALT, AST]}, f"{value:f}"]}, row) == "PASS"
        beyond = exact.add(value, Decimal("1e-150"))
        assert verdict({"<": [{operator: [ALT, AST]}, f"{beyond:f}"]}, row) == "PASS"


@pytest.mark.full
@settings(max_examples=100, deadline=None)
@given(LONG, st.integers(-3, 20))
def test_rounding_looks_at_every_digit(a: str, digits: int) -> None:
    step = Decimal(1).scaleb(-digits)
    rounded = Decimal(a).quantize(step, ROUND_HALF_UP, Context(prec=300))
    assert verdict({"==": [{"round_half_up": [ALT, digits]}, f"{rounded:f}"]}, {"alt": a}) == "PASS"


@pytest.mark.parametrize(
    ("logic", "alt", "expected"),
    [
        ({"==": [{"round_half_up": [ALT, 2]}, ONES + ".13"]}, ONES + ".125", "PASS"),
        ({"<": [ALT, 10**45 + 1]}, "1" + "0" * 45, "PASS"),
        ({"<=": [10**45 + 1, ALT, 10**45 + 3]}, "1" + "0" * 44 + "2", "PASS"),
        ({"in": [ALT, [10**45 + 1]]}, "1" + "0" * 45, "FAIL"),
        ({"<": [ALT, 1]}, "<1." + "0" * 45 + "1", "UNKNOWN"),
        ({"<=": [ALT, "1." + "0" * 45 + "1"]}, "<1." + "0" * 45 + "1", "PASS"),
        ({"==": [{"max": [ALT, 0]}, 10**45]}, "1" + "0" * 44 + "1", "FAIL"),
        ({"==": [{"%": [ALT, 10]}, 7]}, "1" + "0" * 60 + "7", "PASS"),
        ({"==": [{"cat": [{"+": [ALT, 0]}]}, ONES]}, ONES, "PASS"),
    ],
)
def test_the_last_digit_decides(logic: Any, alt: str, expected: str) -> None:
    assert verdict(logic, {"alt": alt}) == expected


@pytest.mark.parametrize(
    "logic",
    [
        {"==": [{"*": [{"/": [ALT, 3]}, 3]}, ALT]},
        {"==": [{"+": [{"/": [ALT, 3]}, {"/": [ALT, 3]}, {"/": [ALT, 3]}]}, ALT]},
        {"<=": [ALT, {"-": [{"*": [{"/": [ALT, 3]}, 3]}, 0]}]},
        {"==": [{"max": [{"*": [{"/": [ALT, 7]}, 7]}]}, ALT]},
        {"==": [{"if": [True, {"*": [{"/": [ALT, 7]}, 7]}, 1]}, ALT]},
        {"in": [ALT, {"map": [[{"/": [ALT, 3]}], {"*": [var(""), 3]}]}]},
        {"==": [{"round_half_up": [{"*": [{"/": [ALT, 3]}, 3]}, 1]}, ALT]},
        {"==": [{"if": [{"<": [AST, 1]}, {"*": [{"/": [ALT, 3]}, 0]}, 0]}, 0]},
    ],
    ids=str,
)
def test_what_a_division_leaves_behind_does_not_count(logic: Any) -> None:
    assert verdict(logic, {"alt": "1", "ast": ""}) == "PASS"


def test_a_censored_value_divided_and_multiplied_keeps_its_bound() -> None:
    logic = {"<": [{"*": [{"/": [ALT, 3]}, 3]}, 1]}
    assert verdict(logic, {"alt": "<1"}) == "PASS"
    assert verdict({"<=": [{"*": [{"/": [ALT, 3]}, 3]}, 1]}, {"alt": "<=1"}) == "PASS"
    assert verdict({">": [{"*": [{"/": [1, ALT]}, 3]}, 1]}, {"alt": "<3"}) == "UNKNOWN"
    assert result({">=": [{"*": [{"/": [1, ALT]}, 3]}, 1]}, {"alt": "<=0"}).outcome == "UNKNOWN"
