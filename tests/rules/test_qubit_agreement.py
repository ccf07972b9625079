"""Cross-check with json-logic-qubit, the package the customer named, where it is right.

Rules and values are restricted to where it agrees with json-logic-js; every known deviation stands
in DEVIATIONS with its reason, and is checked to still deviate (so the table can't grow stale).
"""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from json_logic import jsonLogic

from engines.jsonlogic import apply

DEVIATIONS: list[tuple[Any, Any, str]] = [
    ({"<=": [{"var": "x"}, 75]}, {}, "null <= 75 is true in JavaScript"),
    ({"<=": [{"var": "x"}, 75]}, {"x": ""}, "raises ValueError on a blank"),
    ({">=": [{"var": "x"}, 18]}, {"x": "ND"}, "raises ValueError on text"),
    ({"==": [{"var": "x"}, 65]}, {"x": "65.0"}, "compares text with the number's text"),
    ({">=": [{"var": "x"}, 18]}, {"x": "1_000"}, "Python's int() accepts underscores"),
    ({"in": [True, [0, 1]]}, {}, "True equals 1 in Python"),
    ({"==": [True, "1"]}, {}, "compares the text True"),
    ({"==": ["None", None]}, {}, "null has the text None"),
    ({"some": [[0, 1], {"==": [{"var": ""}, 0]}]}, {}, "loses the element 0"),
    ({"!!": [{}]}, {}, "an empty object is false in Python"),
    ({"var": "x.-1"}, {"x": [1, 2]}, "a negative index reads from the end"),
    ({">": [3, 2, 1]}, {}, "raises TypeError on a third argument"),
    ({"max": [None, 3]}, {}, "raises on null"),
    ({"%": [-1, 3]}, {}, "Python's remainder has the sign of the divisor"),
    ({"/": [1, 0]}, {}, "raises ZeroDivisionError"),
    ({"cat": [None, True, 1.0]}, {}, "joins Python's texts"),
    ({"substr": ["a😀b", 1, 2]}, {}, "counts code points"),
    ({"in": [1, "0,1,2"]}, {}, "raises TypeError for a number in text"),
    (
        {"reduce": [[1], {"+": [{"var": "current"}, {"var": "accumulator"}]}, {"var": "x"}]},
        {"x": 5},
        "the start value is not evaluated (added in json-logic-js 2.0.5)",
    ),
]


def qubit(logic: Any, data: Any) -> Any:
    try:
        return jsonLogic(logic, data)
    except Exception as error:
        return type(error)


@pytest.mark.parametrize(("logic", "data", "reason"), DEVIATIONS)
def test_a_listed_deviation_still_deviates(logic: Any, data: Any, reason: str) -> None:
    assert reason
    ours, theirs = apply(logic, data), qubit(logic, data)
    assert type(ours) is not type(theirs) or ours != theirs


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


@settings(max_examples=400, deadline=None)
@given(logic=RULES, n1=NUMBERS, n2=NUMBERS, t=TEXTS)
def test_agrees_on_numbers_filled_text_and_logic(logic: Any, n1: int, n2: int, t: str) -> None:
    data = {"n1": n1, "n2": n2, "t": t}
    assert apply(logic, data) == jsonLogic(logic, data)


@settings(max_examples=150, deadline=None)
@given(
    items=st.lists(st.integers(1, 50), min_size=1, max_size=6),
    limit=st.integers(1, 50),
    name=st.sampled_from(["filter", "all", "some", "none"]),
)
def test_agrees_on_lists_without_falsy_elements(items: list[int], limit: int, name: str) -> None:
    logic = {name: [{"var": "items"}, {"<": [{"var": ""}, limit]}]}
    assert apply(logic, {"items": items}) == jsonLogic(logic, {"items": items})
