"""*Blanks* of contracts.md: explicit tests answer, everything else is UNKNOWN; never a PASS."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.support import result, untyped, var, verdict

ALT = var("alt")
COMPUTED = [
    {"<": [ALT, 120]},
    {"<=": [ALT, 120]},
    {">": [ALT, 0]},
    {">=": [ALT, 0]},
    {"<": [0, ALT, 120]},
    {"==": [ALT, 5]},
    {"===": [ALT, 5]},
    {"!=": [ALT, 5]},
    {"!==": [ALT, 5]},
    {"==": [ALT, ""]},
    {"!=": [ALT, ""]},
    {"in": [ALT, [1, 2]]},
    {"!": [{"in": [ALT, [1, 2]]}]},
    {"in": ["a", var("text")]},
    {"in": [var("text"), "abc"]},
    {"<": [{"+": [ALT, 1]}, 5]},
    {"<": [{"-": [ALT]}, 5]},
    {"<": [{"*": [ALT, 0]}, 5]},
    {"<": [{"/": [ALT, 2]}, 5]},
    {"<": [{"%": [ALT, 2]}, 5]},
    {"<": [{"max": [ALT, 3]}, 5]},
    {"<": [{"min": [ALT, 3]}, 5]},
    {"<": [{"round_half_up": [ALT, 1]}, 5]},
    {"<": [{"to_unit": [ALT, "mg/dL", "mmol/L", "glucose"]}, 5]},
    {"==": [{"cat": [ALT, "x"]}, "x"]},
    {"==": [{"substr": [var("text"), 0, 1]}, "x"]},
    {"matches": [var("text"), ".*"]},
    {"before": [var("icf"), "2024-01-01"]},
    {"after": [var("icf"), "2024-01-01"]},
    {"<": [{"days_between": [var("icf"), "2024-01-01"]}, 5]},
    {">": [{"age_at": [var("dob"), {"today": []}]}, 5]},
    {"in_window": ["2024-01-01", var("icf"), 1, 3, 3]},
    {"==": [var("sex"), 1]},
    {"!=": [var("sex"), 1]},
    {"in": [var("ecog"), [0, 1]]},
    {"==": [var("consent"), 1]},
    {"and": [ALT]},
    {"or": [ALT]},
    {"if": [ALT, True, False]},
    {"if": [{"<": [ALT, 1]}, True, False]},
    {"some": [[ALT], {">": [var(""), 1]}]},
    {"all": [[ALT], {">": [var(""), 1]}]},
    {"none": [[ALT], {">": [var(""), 1]}]},
    {"<": [{"reduce": [[ALT, 1], {"+": [var("current"), var("accumulator")]}, 0]}, 5]},
    {"in": [1, {"map": [[ALT], {"+": [var(""), 1]}]}]},
    {"!!": [{"filter": [[ALT], {">": [var(""), 1]}]}]},
    {"in": [5, {"merge": [ALT]}]},
    ALT,
    {"!": [{"<": [ALT, 1]}]},
    {"!!": [{"<": [ALT, 1]}]},
    {"across_events": ["e1", {"<": [ALT, 1]}]},
    {"<": [{"var": ["alt", 5]}, 120]},
    {"is_blank": [{"+": [ALT, 1]}]},
    {"is_blank": [{"-": [ALT]}]},
    {"is_blank": [{"if": [True, ALT, 0]}]},
    {"!": [{"is_blank": [{"days_between": [var("icf"), "2024-01-01"]}]}]},
    {"is_blank": [{"cat": [ALT, "x"]}]},
    {"is_blank": [{"across_events": ["e1", {"+": [ALT, 1]}]}]},
    {"==": [{"+": [ALT, 1]}, None]},
    {"===": [None, {"max": [ALT, 3]}]},
    {"!=": [{"+": [ALT, 1]}, None]},
    {"!==": [{"if": [True, ALT, 0]}, None]},
]
BLANK = dict.fromkeys(["alt", "text", "icf", "dob", "sex", "ecog", "consent"], " ")


@pytest.mark.parametrize("logic", COMPUTED, ids=str)
def test_a_blank_leaves_every_other_operator_open(logic: Any) -> None:
    row = {**BLANK, "redcap_event_name": "e1"}
    assert verdict(logic, row) == "UNKNOWN missing"


@pytest.mark.parametrize("logic", COMPUTED, ids=str)
def test_an_absent_key_is_not_exported_for_every_operator(logic: Any) -> None:
    assert verdict(logic, {"redcap_event_name": "e1"}) == "UNKNOWN not_exported"
    assert untyped(logic, {"redcap_event_name": "e1"}) == "UNKNOWN not_exported"


EXPLICIT = [
    {"is_blank": [ALT]},
    {"!": [ALT]},
    {"!": ALT},
    {"==": [ALT, None]},
    {"===": [None, ALT]},
    {"!!": [{"missing": ["alt"]}]},
    {"!!": [{"missing": [["alt", "age"]]}]},
    {"==": [{"missing": ["alt"]}, ["alt"]]},
    {"!!": [{"missing_some": [2, ["alt", "age"]]}]},
    {"!": [{"!!": [ALT]}]},
    {"!": [{"!=": [ALT, None]}]},
    {"across_events": ["e1", {"is_blank": ALT}]},
    {"is_blank": [{"across_events": ["e1", ALT]}]},
    {"!": [{"across_events": ["e1", ALT]}]},
    {"some": [[ALT], {"!": [var("")]}]},
    {"some": [[ALT], {"is_blank": [var("")]}]},
    {"some": [[ALT], {"==": [var(""), None]}]},
    {"!!": [{"filter": [[ALT], {"is_blank": var("")}]}]},
]


@pytest.mark.parametrize("logic", EXPLICIT, ids=str)
@pytest.mark.parametrize("cell", ["", "   ", "\t", None])
def test_an_explicit_test_is_true_for_a_blank(logic: Any, cell: Any) -> None:
    row = {"alt": cell, "age": "50", "redcap_event_name": "e1"}
    assert verdict(logic, row) == "PASS"
    assert untyped(logic, row) == "PASS"


@pytest.mark.parametrize("logic", EXPLICIT, ids=str)
@pytest.mark.parametrize("cell", ["0", "5", "NA", "<0.5"])
def test_an_explicit_test_is_false_for_any_entry(logic: Any, cell: str) -> None:
    row = {"alt": cell, "age": "50", "redcap_event_name": "e1"}
    is_element = "{'var': ''}" in str(
        logic
    )  # of an element only the value is known, not what was entered
    assert verdict(logic, row) == (
        "UNKNOWN missing_code" if is_element and cell == "NA" else "FAIL"
    )


@pytest.mark.parametrize("logic", EXPLICIT, ids=str)
def test_an_explicit_test_of_an_absent_key_stays_open(logic: Any) -> None:
    assert verdict(logic, {"age": "50", "redcap_event_name": "e1"}) == "UNKNOWN not_exported"


def test_a_required_field_is_checked_with_two_exclamation_marks() -> None:
    assert verdict({"!!": var("icf")}, {"icf": ""}) == "FAIL"
    assert verdict({"!!": var("icf")}, {"icf": "2024-01-05"}) == "PASS"
    assert verdict({"!!": var("vas")}, {"vas": "0"}) == "PASS"
    assert verdict({"!!": var("sex")}, {"sex": "0"}) == "PASS"


@pytest.mark.parametrize("name", ["consent", "eligible", "exclusion___1"])
def test_on_yes_no_and_boxes_it_means_ticked(name: str) -> None:
    assert [verdict({"!!": var(name)}, {name: cell}) for cell in ("1", "0", "")] == [
        "PASS",
        "FAIL",
        "FAIL",
    ]
    assert [verdict({"!": var(name)}, {name: cell}) for cell in ("1", "0", "")] == [
        "FAIL",
        "PASS",
        "PASS",
    ]


def test_a_missing_code_is_neither_a_tick_nor_none() -> None:
    for operator in ("!!", "!"):
        assert verdict({operator: var("consent")}, {"consent": "UNK"}) == "UNKNOWN missing_code"


def test_missing_some_with_an_absent_key_decides_when_it_can() -> None:
    logic = {"!": [{"missing_some": [1, ["alt", "ast"]]}]}
    assert verdict(logic, {"alt": "5"}) == "PASS"
    assert verdict(logic, {"alt": ""}) == "UNKNOWN not_exported"
    logic = {"!": [{"missing_some": [2, ["alt", "ast", "age"]]}]}
    assert verdict(logic, {"alt": "", "age": ""}) == "FAIL"


def test_a_computed_value_that_is_known_can_be_asked_for_its_blank() -> None:
    for logic in ({"+": [ALT, 1]}, {"if": [{"<": [ALT, 9]}, ALT]}, {"cat": ["x", ALT]}):
        assert verdict({"is_blank": [logic]}, {"alt": "5"}) == "FAIL"
        assert verdict({"!=": [logic, None]}, {"alt": "5"}) == "PASS"
    assert verdict({"is_blank": [{"if": [{"<": [ALT, 9]}, ALT]}]}, {"alt": "10"}) == "PASS"
    assert verdict({"is_blank": [{"substr": [var("text"), 5]}]}, {"text": "abc"}) == "PASS"


def test_missing_with_names_chosen_by_merge_and_if() -> None:
    logic = {"!": {"missing": {"merge": ["age", {"if": [{"==": [var("sex"), 0]}, ["alt"], []]}]}}}
    assert verdict(logic, {"age": "5", "sex": "1", "alt": ""}) == "PASS"
    assert verdict(logic, {"age": "5", "sex": "0", "alt": ""}) == "FAIL"
    assert verdict(logic, {"age": "5", "sex": "", "alt": ""}) == "UNKNOWN missing"
    assert verdict(logic, {"age": "5", "sex": "", "alt": "1"}) == "PASS"
    assert verdict(logic, {"age": "", "sex": "", "alt": "1"}) == "FAIL"


def test_the_blank_is_in_the_detail() -> None:
    found = result({"<": [ALT, 120]}, {"alt": " "}, about="alt")
    assert found.detail == [
        {
            "var": "alt",
            "event": None,
            "instrument": None,
            "instance": None,
            "raw": " ",
            "label": None,
            "value": None,
            "reason": "missing",
        }
    ]
