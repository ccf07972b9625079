"""Verdicts on filled numbers and texts are those of json-logic-qubit, the package the customer named."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_logic import jsonLogic

from tests.rules.support import untyped


def expected(logic: Any, data: Any) -> str:
    return "PASS" if jsonLogic(logic, data) else "FAIL"


NUMBERS = st.integers(-1000, 1000)
TEXTS = st.text("abcxyz", min_size=1, max_size=4)
FIELDS = st.sampled_from(["n1", "n2"]).map(lambda name: {"var": name})
NUMERIC = st.recursive(
    NUMBERS | FIELDS,
    lambda inner: st.builds(
        lambda op, a, b: {op: [a, b]}, st.sampled_from(["+", "-", "*", "max", "min"]), inner, inner
    ),
    max_leaves=5,
)
COMPARISONS = st.builds(
    lambda op, a, b: {op: [a, b]},
    st.sampled_from(["==", "===", "!=", "!==", "<", "<=", ">", ">="]),
    NUMERIC,
    NUMERIC,
)
LEAVES = (
    COMPARISONS
    | st.builds(lambda a, b, c: {"<=": [a, b, c]}, NUMBERS, FIELDS, NUMBERS)
    | st.builds(lambda t, ts: {"in": [t, ts]}, TEXTS, st.lists(TEXTS))
    | st.builds(lambda a, b: {"in": [a, b]}, TEXTS, TEXTS)
    | st.builds(lambda names: {"missing": names}, st.lists(st.sampled_from(["n1", "gone", "t"])))
    | st.builds(lambda t: {"==": [{"var": "t"}, t]}, TEXTS)
)
RULES = st.recursive(
    LEAVES,
    lambda inner: (
        st.builds(
            lambda op, items: {op: items},
            st.sampled_from(["and", "or"]),
            st.lists(inner, min_size=1, max_size=3),
        )
        | st.builds(lambda x: {"!": [x]}, inner)
        | st.builds(lambda x: {"!!": [x]}, inner)
        | st.builds(lambda c, a, b: {"if": [c, a, b]}, inner, inner, inner)
    ),
    max_leaves=6,
)


@pytest.mark.full
@settings(max_examples=400, deadline=None)
@given(logic=RULES, n1=NUMBERS, n2=NUMBERS, t=TEXTS)
def test_agrees_on_numbers_filled_text_and_logic(logic: Any, n1: int, n2: int, t: str) -> None:
    data = {"n1": n1, "n2": n2, "t": t, "gone": ""}
    assert untyped(logic, data, project={}) == expected(logic, data)


@settings(max_examples=150, deadline=None)
@given(
    items=st.lists(st.integers(1, 50), min_size=1, max_size=6),
    limit=st.integers(1, 50),
    name=st.sampled_from(["filter", "all", "some", "none"]),
)
def test_agrees_on_lists_without_falsy_elements(items: list[int], limit: int, name: str) -> None:
    logic = {name: [{"var": "items"}, {"<": [{"var": ""}, limit]}]}
    data = {"items": items}
    assert untyped(logic, data, project={}) == expected(logic, data)
