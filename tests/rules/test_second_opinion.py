"""json-logic-qubit is asked about rules that were admitted, over complete typed examples."""

from __future__ import annotations

from typing import Any

import pytest

from core.rules import second_opinion
from core.rules.context import StudyContext
from core.rules.rule import compile_rule
from core.rules.second_opinion import Difference, first_difference
from tests.rules.support import DICTIONARY, MISSING_CODES, var

CONTEXT = StudyContext.build(DICTIONARY, MISSING_CODES)


def opinion(logic: Any, context: StudyContext = CONTEXT) -> Difference | None:
    rule, refused = compile_rule({"field": "age", "logic": logic, "message": "m"}, "", context)
    assert rule is not None, refused
    return first_difference(rule, context)


@pytest.mark.parametrize(
    "logic",
    [
        {"and": [{">=": [var("age"), 18]}, {"<=": [var("age"), 75]}]},
        {"in": [var("ecog"), [0, 1]]},
        {"in": [var("ecog"), ["0", "1"]]},
        {"none": [var("exclusion"), {"==": [{"var": ""}, "2"]}]},
        {"==": [var("grade"), "A"]},
        {"==": [var("consent"), 1]},
        {"!": [{"in": [1, var("exclusion")]}]},
        {"<=": [var("dob"), var("icf")]},
        {"none": [var("exclusion"), {"==": [{"var": ""}, 2]}]},
        {"if": [{">": [var("age"), 60]}, {"<": [var("alt"), 120]}, True]},
    ],
)
def test_they_agree(logic: Any) -> None:
    assert opinion(logic) is None


@pytest.mark.parametrize(
    ("logic", "example", "ours"),
    [
        ({"in": [var("age"), ["18"]]}, {"age": 18}, True),
        ({"!!": [var("age")]}, {"age": 0}, True),
        ({"!": [var("age")]}, {"age": 0}, False),
    ],
)
def test_a_difference_is_told_with_its_example(logic: Any, example: Any, ours: bool) -> None:
    assert opinion(logic) == Difference(example, ours, not ours)


@pytest.mark.parametrize(
    "logic",
    [
        {"==": [{"days_between": [var("dob"), var("icf")]}, 1]},
        {"across_events": ["e1", {"!!": [var("age")]}]},
        {"==": [{"cat": [var("text"), "x"]}, "ax"]},
        {"==": [1, 1]},
    ],
)
def test_it_is_not_asked_about_other_operators(logic: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_opinion, "jsonLogic", lambda *_asked: pytest.fail("asked"))
    assert opinion(logic) is None


def test_it_is_not_asked_without_types(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_opinion, "jsonLogic", lambda *_asked: pytest.fail("asked"))
    assert opinion({"!!": [var("age")]}, StudyContext.build(None)) is None


def test_what_it_cannot_read_is_no_opinion() -> None:
    assert opinion({"<": [{"max": [var("dob"), "2024-01-01"]}, "2024-01-01"]}) is None
