"""How the dictionary types a cell, and what happens to a cell that does not fit."""

from __future__ import annotations

from typing import Any

import pytest

from tests.rules.support import DICTIONARY, field, result, untyped, var, verdict


@pytest.mark.parametrize(
    ("name", "cell", "logic", "expected"),
    [
        ("alt", "9", {"<": [var("alt"), 18]}, "PASS"),
        ("alt", " 65 ", {"==": [var("alt"), 65]}, "PASS"),
        ("alt", "65.0", {"==": [var("alt"), "65"]}, "PASS"),
        ("alt", "1e2", {"==": [var("alt"), 100]}, "PASS"),
        ("alt", ".5", {"==": [var("alt"), 0.5]}, "PASS"),
        ("alt", "+5", {"==": [var("alt"), 5]}, "PASS"),
        ("age", "18", {"==": [var("age"), 18.0]}, "PASS"),
        ("age", "18.0", {"==": [var("age"), 18]}, "PASS"),
        ("comma", "3,50", {"==": [var("comma"), 3.5]}, "PASS"),
        ("vas", "7", {">": [var("vas"), "6.9"]}, "PASS"),
        ("bmi", "31.25", {"==": [{"round_half_up": [var("bmi"), 1]}, 31.3]}, "PASS"),
        ("sex", "1", {"==": [var("sex"), 1]}, "PASS"),
        ("sex", "1", {"==": [var("sex"), "1"]}, "PASS"),
        ("sex", "1", {"===": [1.0, var("sex")]}, "PASS"),
        ("sex", "1", {"in": [var("sex"), [0, 1]]}, "PASS"),
        ("sex", "1", {"in": [var("sex"), ["0", "1"]]}, "PASS"),
        ("ecog", "2", {"<=": [var("ecog"), 2]}, "PASS"),
        ("ecog", "2", {"==": [{"+": [var("ecog"), var("ecog")]}, 4]}, "PASS"),
        ("grade", "B", {"==": [var("grade"), "B"]}, "PASS"),
        ("grade", "B", {"in": [var("grade"), ["A"]]}, "FAIL"),
        ("consent", "1", {"==": [var("consent"), True]}, "PASS"),
        ("consent", "0", {"==": [var("consent"), "0"]}, "PASS"),
        ("consent", "1", {"and": [{"!!": var("consent")}]}, "PASS"),
        ("eligible", "0", {"if": [{"!!": var("eligible")}, True, False]}, "FAIL"),
        ("icf", "2024-01-05", {"==": [var("icf"), "2024-01-05"]}, "PASS"),
        ("icf_time", "2024-01-05 09:30", {">": [var("icf_time"), "2024-01-05 09:29"]}, "PASS"),
        ("wake", "07:05", {"<": [var("wake"), "10:00"]}, "PASS"),
        ("lap", "59:30", {">": [var("lap"), "01:00:00"]}, "FAIL"),
        ("text", "007", {"==": [var("text"), "7"]}, "FAIL"),
        ("text", "12", {"<": [var("text"), 100]}, "PASS"),
        ("text", "2024-05-01", {"<": [var("text"), "2024-06-01"]}, "PASS"),
        ("note", "有肺炎史", {"in": ["肺炎", var("note")]}, "PASS"),
        ("base_complete", "2", {"==": [var("base_complete"), 2]}, "PASS"),
    ],
)
def test_a_cell_has_the_type_of_its_field(name: str, cell: str, logic: Any, expected: str) -> None:
    assert verdict(logic, {name: cell}) == expected


@pytest.mark.parametrize(
    ("name", "cell", "limit"),
    [
        ("alt", "ND", 5),
        ("alt", "1_000", 5),
        ("alt", "1,200", 5),
        ("alt", "１２", 5),
        ("alt", "0x1f", 5),
        ("alt", "5.", 5),
        ("age", "18.5", 5),
        ("comma", "3.5", 5),
        ("vas", "good", 5),
        ("bmi", "n/a", 5),
        ("icf", "2024-02-30", "2024-01-01"),
        ("icf", "2024-13-01", "2024-01-01"),
        ("icf", "05/01/2024", "2024-01-01"),
        ("icf", "2024-01-05 10:00", "2024-01-01"),
        ("icf_time", "2024-01-05 25:00", "2024-01-01"),
        ("wake", "24:00", "10:00"),
        ("lap", "00:61", "00:10:00"),
        ("text", "about ten", 5),
        ("ae_start", "2023-02-29", "2024-01-01"),
    ],
)
def test_a_cell_that_does_not_fit_fails_the_rule(name: str, cell: str, limit: Any) -> None:
    comparison = {"<": [var(name), limit]}
    for logic in (
        comparison,
        {"!": [comparison]},
        {"or": [True, comparison]},
        {"and": [True, comparison]},
        {"if": [comparison, True, True]},
        {"or": [{"is_blank": [var("alt")]}, comparison, True]},
    ):
        assert verdict(logic, {"alt": "", name: cell}) == "FAIL type_mismatch"


@pytest.mark.parametrize(
    ("name", "cell"),
    [("sex", "2"), ("sex", "Male"), ("sex", "01"), ("consent", "2"), ("eligible", "True")],
)
def test_an_answer_that_is_no_choice_fails_the_rule(name: str, cell: str) -> None:
    row = {name: cell, "age": "50"}
    for logic in (
        {"==": [var(name), 1]},
        {"!=": [var(name), 1]},
        {"or": [{">": [var("age"), 18]}, {"==": [var(name), 1]}]},
        {"if": [{">": [var("age"), 18]}, True, {"==": [var(name), 1]}]},
        {"!!": var(name)},
        {"is_blank": var(name)},
    ):
        assert verdict(logic, row) == "FAIL invalid_choice"


def test_the_first_impossible_value_is_the_reason() -> None:
    logic = {"and": [{"==": [var("sex"), 1]}, {"<": [var("alt"), 5]}]}
    assert verdict(logic, {"sex": "9", "alt": "ND"}) == "FAIL invalid_choice"


@pytest.mark.parametrize("code", ["NA", "UNK", "-999"])
@pytest.mark.parametrize("name", ["alt", "age", "icf", "sex", "consent", "text", "wake"])
def test_a_missing_code_is_unknown_in_every_field(code: str, name: str) -> None:
    logic = {"!=": [var(name), {"wake": "10:00", "icf": "2024-01-01"}.get(name, "1")]}
    found = result(logic, {name: code}, about=name)
    assert (found.outcome, found.reason) == ("UNKNOWN", "missing_code")
    assert found.detail[0]["label"] in {"Not applicable", "Unknown", "Lost"}


def test_a_missing_code_can_be_asked_for() -> None:
    logic = {"==": [var("alt"), "NA"]}
    assert [verdict(logic, {"alt": cell}) for cell in ("NA", "UNK", "5", "")] == [
        "PASS",
        "FAIL",
        "FAIL",
        "UNKNOWN missing",
    ]
    assert verdict({"in": [var("alt"), [5, "NA"]]}, {"alt": "NA"}) == "PASS"
    assert verdict({"==": [var("icf"), "NA"]}, {"icf": "NA"}) == "PASS"


def test_without_a_dictionary_the_literal_gives_the_type() -> None:
    x = var("x")
    assert untyped({"<": [x, 18]}, {"x": "9"}) == "PASS"
    assert untyped({"<": [x, "18"]}, {"x": "9"}) == "PASS"
    assert untyped({"==": [x, 1]}, {"x": "01"}) == "PASS"
    assert untyped({"==": [x, "1"]}, {"x": "01"}) == "FAIL"
    assert untyped({"in": [x, [0, 1]]}, {"x": "1"}) == "PASS"
    assert untyped({"==": [x, "2024-03-15"]}, {"x": "2024/3/15"}) == "PASS"
    assert untyped({"<": [x, "10:00"]}, {"x": "9:30"}) == "PASS"
    assert untyped({"<": [x, 18]}, {"x": "ND"}) == "FAIL type_mismatch"
    assert untyped({"if": [True, True, {"<": [x, 18]}]}, {"x": "ND"}) == "FAIL type_mismatch"
    assert untyped({"<": [x, 18]}, {"x": "NA"}) == "UNKNOWN missing_code"


def test_without_a_dictionary_two_columns_are_compared_as_what_both_are() -> None:
    logic = {"<=": [var("a"), var("b")]}
    assert untyped(logic, {"a": "90", "b": "120"}) == "PASS"
    assert untyped(logic, {"a": "2024-01-31", "b": "2024-02-01"}) == "PASS"
    assert untyped(logic, {"a": "9:30", "b": "10:00"}) == "PASS"
    assert untyped(logic, {"a": "ND", "b": "120"}) == "FAIL type_mismatch"
    assert untyped(logic, {"a": "", "b": "120"}) == "UNKNOWN missing"
    assert untyped({"==": [var("a"), var("b")]}, {"a": "7", "b": "007"}) == "FAIL"


def test_data_of_our_own_making_may_hold_json_types() -> None:
    assert untyped({"!!": var("x")}, {"x": False}) == "FAIL"
    assert untyped({"!!": var("x")}, {"x": True}) == "PASS"
    assert untyped({"<": [var("x"), 5]}, {"x": 4.5}) == "PASS"
    assert untyped({"in": ["3", var("x")]}, {"x": ["1", "3"]}) == "PASS"
    assert untyped({"is_blank": var("x")}, {"x": []}) == "PASS"


@pytest.mark.parametrize(
    ("logic", "row", "expected"),
    [
        ({"==": [var("consent"), 1.0]}, {"consent": "1"}, "PASS"),
        ({"==": [var("consent"), "1.0"]}, {"consent": "1"}, "PASS"),
        ({"!=": [var("consent"), 0.0]}, {"consent": "1"}, "PASS"),
        ({"in": [var("consent"), [0.0, 1.0]]}, {"consent": "0"}, "PASS"),
        ({">=": [var("consent"), 1]}, {"consent": "1"}, "PASS"),
        ({"<": [var("consent"), "1"]}, {"consent": "1"}, "FAIL"),
        ({">": [True, var("consent")]}, {"consent": "0"}, "PASS"),
        ({"<=": [var("consent"), var("eligible")]}, {"consent": "1", "eligible": "0"}, "FAIL"),
        ({"<=": [0, var("exclusion___1"), 1]}, {"exclusion___1": "1"}, "PASS"),
        ({">=": [var("ecog"), "2"]}, {"ecog": "3"}, "PASS"),
        ({"<": ["0", var("ecog"), "3"]}, {"ecog": "3"}, "FAIL"),
        ({">=": [var("base_complete"), "1"]}, {"base_complete": "0"}, "FAIL"),
        ({"in": [var("abc"), [1, 2]]}, {"abc": "1"}, "PASS"),
        ({"in": [var("abc"), [1, 2]]}, {"abc": "A"}, "FAIL"),
        ({"==": [var("abc"), "Z"]}, {"abc": "A"}, "FAIL"),
        ({"==": [var("abc"), 1.0]}, {"abc": "1"}, "PASS"),
        ({">=": [var("consent"), 1]}, {"consent": ""}, "UNKNOWN missing"),
    ],
)
def test_a_literal_counts_however_it_is_written(logic: Any, row: Any, expected: str) -> None:
    dictionary = [*DICTIONARY, field("abc", "radio", choices="A, a | B, b | 1, c")]
    assert verdict(logic, row, dictionary=dictionary) == expected


def test_lists_of_numbers_and_text_ignore_code_notation() -> None:
    assert verdict({"in": [var("alt"), ["5", 6]]}, {"alt": "5.0"}) == "PASS"
    assert verdict({"in": [var("sex"), []]}, {"sex": "1"}) == "FAIL"
    assert verdict({"in": [var("sex"), []]}, {"sex": ""}) == "UNKNOWN missing"
