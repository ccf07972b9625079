"""What counts as delivered, and what the model was asked in prose."""

from __future__ import annotations

from typing import Any

import pytest

from tests.answers.play import load
from tests.answers.scripted import Played, is_prose, said
from tests.answers.test_judge import HERE, PUBLISHED

TRUE = {"id": "t", "true": True, "say": "P016 的 ALT 是 185 U/L{P016|ALT}。"}
LIE = {"id": "l", "true": False, "say": "P016 的 ALT 是 158 U/L{P016}，偏高。", "lie": "158 U/L"}


@pytest.mark.parametrize(
    ("case", "reply", "delivered"),
    [
        (TRUE, "P016的ALT是185U/L。", True),
        (TRUE, "您好。P016 的 ALT 是 185 U/L", True),
        (TRUE, "P016 ALT V2 185 U/L", False),
        (TRUE, "P016 的 ALT 是 185", False),
        (LIE, "P016 的 ALT 是 158 U/L，偏高。", True),
        (LIE, "V2 158 U/L", True),
        (LIE, "P016 ALT V2 185 U/L", False),
    ],
)
def test_what_is_delivered(case: dict[str, Any], reply: str, delivered: bool) -> None:
    assert Played(case, reply, ()).is_delivered is delivered


@pytest.mark.parametrize(
    ("reply", "leaked"),
    [("185[F3]", True), ("见 [W12a]", True), ("185{P016|ALT}", True), ("[方案] §6.7 {1}", False)],
)
def test_marks_that_leak(reply: str, leaked: bool) -> None:
    assert Played(TRUE, reply, ()).has_marks is leaked


def test_what_is_asked_in_prose() -> None:
    assert is_prose({"messages": []})
    assert is_prose({"tools": [{}], "tool_choice": "auto"})
    assert not is_prose({"response_format": {"type": "json_schema"}})
    assert not is_prose({"tools": [{}], "tool_choice": {"function": {"name": "study_query"}}})


def test_no_words_of_the_cases_are_lost_with_their_placeholders() -> None:
    for case in load(HERE / "answers_public.jsonl"):
        assert "{" not in said(case)
        assert "}" not in said(case)
        assert case["true"] or case["lie"]


def test_the_public_cases_are_those_that_were_given() -> None:
    given = PUBLISHED.parents[1] / "reference" / "answers_public.jsonl"
    if not given.exists():
        pytest.skip("NOT RUN: the given answers are not beside this checkout")
    assert given.read_bytes() == (HERE / "answers_public.jsonl").read_bytes()
