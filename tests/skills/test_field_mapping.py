"""Aliases in rules become fields (decisions.md, "rules name age")."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from skills.mapping import actual_rules

NAMES = {"age": "age_calculated", "ecog": "ecog_score"}


def logic(value: Any) -> Any:
    return actual_rules([{"field": "x", "logic": value}], NAMES)[0]["logic"]


def test_field_and_vars_are_replaced() -> None:
    rule = {
        "field": "age",
        "logic": {"and": [{">=": [{"var": "age"}, 18]}, {"<=": [{"var": ["ecog", 0]}, 2]}]},
        "message": "age stays here",
    }
    assert actual_rules([rule], NAMES) == [
        {
            "field": "age_calculated",
            "logic": {
                "and": [
                    {">=": [{"var": "age_calculated"}, 18]},
                    {"<=": [{"var": ["ecog_score", 0]}, 2]},
                ]
            },
            "message": "age stays here",
        }
    ]


def test_names_that_missing_lists_are_replaced() -> None:
    assert logic({"missing": ["age", "sex"]}) == {"missing": ["age_calculated", "sex"]}
    assert logic({"missing": "age"}) == {"missing": "age_calculated"}
    assert logic({"missing_some": [1, ["age", "ecog"]]}) == {
        "missing_some": [1, ["age_calculated", "ecog_score"]]
    }
    assert logic({"missing": [{"if": [{"var": "age"}, "x", "y"]}]}) == {
        "missing": [{"if": [{"var": "age_calculated"}, "x", "y"]}]
    }


def test_text_that_only_looks_like_an_alias_stays() -> None:
    assert logic({"==": [{"var": "sex"}, "age"]}) == {"==": [{"var": "sex"}, "age"]}
    assert logic({"age": 1}) == {"age": 1}
    assert logic({"var": "ages"}) == {"var": "ages"}
    assert logic({"var": {"cat": ["a", "ge"]}}) == {"var": {"cat": ["a", "ge"]}}
    assert logic({"var": []}) == {"var": []}
    assert logic({"var": 1}) == {"var": 1}


def test_a_rule_is_not_changed_in_place() -> None:
    rules = [{"field": "age", "logic": {"!": [{"var": "age"}]}}]
    before = copy.deepcopy(rules)
    actual_rules(rules, NAMES)
    assert rules == before


def test_very_deep_rules_do_not_crash() -> None:
    value: Any = {"var": "age"}
    for _ in range(20_000):
        value = {"!": value}
    value = logic(value)
    for _ in range(20_000):
        value = value["!"]
    assert value == {"var": "age_calculated"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
)


@given(JSON)
def test_without_aliases_nothing_changes(value: Any) -> None:
    assert actual_rules([{"field": "f", "logic": value}], {}) == [{"field": "f", "logic": value}]
