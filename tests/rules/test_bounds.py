"""Bounds on numbers are told from the value alone, with the same verdict as the typed reading."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from engines.hard_rules import RuleError, RuleSet, StudyContext, compile_rule_set
from rules.bounds import truth_of
from tests.rules.support import DICTIONARY, MISSING_CODES, var

DAY = date(2024, 6, 1)
LIMITS = st.sampled_from([0, 1, 18, -999, 75.5, 0.1, 1e-9, 10**31 + 1, 10**46 + 1, 10**400, -(2**1024),
                          -0.0, 3, True, False])  # fmt: skip
ORDERS = st.sampled_from(["<", "<=", ">", ">="])
LEAVES = st.builds(lambda op, a: {op: [var("alt"), a]}, ORDERS, LIMITS) | st.builds(
    lambda op, a, b: {op: [a, var("alt"), b]}, st.sampled_from(["<", "<="]), LIMITS, LIMITS
)
CONDITIONS = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(
            lambda op, parts: {op: parts},
            st.sampled_from(["and", "or"]),
            st.lists(inner, min_size=1, max_size=3),
        )
        | st.builds(lambda op, part: {op: [part]}, st.sampled_from(["!", "!!"]), inner)
    ),
    max_leaves=5,
)
CELLS = ["", " ", "0", "1", "18", "75.5", "0.1", "0.10", ".1", "1e-9", "-999", "-999.0", "NA", "ND",
         "<5", ">100", "1" + "0" * 30 + "1", "1" + "0" * 45 + "1", "1" + "0" * 46,
         "3.00000000000000000000000000000000001", "-0"]  # fmt: skip


def compiled(*logics: Any) -> RuleSet:
    rules = [{"field": "alt", "logic": logic, "message": "m"} for logic in logics]
    return compile_rule_set(rules, StudyContext.build(DICTIONARY, MISSING_CODES))


@settings(max_examples=60, deadline=None)
@given(CONDITIONS, CONDITIONS)
def test_every_cell_gets_the_verdict_of_the_typed_reading(first: Any, second: Any) -> None:
    mixed = {"and": [first, {"<": [var("age"), 30]}, second]}  # bounds as leaves, too
    try:
        rules = compiled(first, second, mixed)
    except RuleError:
        reject()
    for row in [{}, *({"alt": cell, "age": "20"} for cell in CELLS)]:
        expected = [(r.outcome, r.reason) for r in rules.evaluate("1", [row], DAY)]
        assert rules.verdicts([row], DAY) == expected, row


@pytest.mark.parametrize(
    "logic",
    [
        {"==": [var("a"), 5]},
        {"<": [var("a"), "5"]},
        {"<": [var("a"), var("b")]},
        {"<": [var("a")]},
        {"<": [var("a"), float("inf")]},
        {"if": [{"<": [var("a"), 1]}, True, False]},
        {"and": []},
        {"and": [{"<": [var("a"), 5]}, {"!!": [var("a")]}]},
        var("a"),
    ],
    ids=str,
)
def test_other_conditions_are_left_to_the_typed_reading(logic: Any) -> None:
    assert truth_of(logic, "a") is None


def test_a_bound_holds_at_both_ends() -> None:
    truth = truth_of({"<=": [0.1, {"var": "a"}, 0.3]}, "a")
    assert truth is not None
    assert [truth(Decimal(text)) for text in ("0.1", "0.3", "0.0999", "0.31")] == [
        *(True, True, False, False)
    ]
