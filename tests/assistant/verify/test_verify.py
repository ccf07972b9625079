"""Answers over the facts of the demo study: true ones go out, lies do not (design.md 5a.5)."""

from __future__ import annotations

from functools import cache

import pytest

from engines.assistant.lines.types import Sheet
from engines.assistant.verify import verify
from tests.assistant.verify.sheets import marked, sheet

TRUE = [
    ("P016的ALT", "P016的ALT在V2升至185 U/L{P016|ALT|V2|185}，V3回落到28{P016|ALT|V3|28}。"),
    ("P001入组了吗", "已入组，时间是 2026-02-05{P001|入组日期|2026-02-05}。"),
    (
        "两个中心各入了多少",
        "A中心15例{site_a|15}，B中心12例{site_b|12}，合计27例{site_a|15}{site_b|12}。",
    ),
    ("在吗", "在的，王护士，请问有什么可以帮您？"),
]
LIES = [
    ("P016的ALT", "P016的ALT在V2为158 U/L{P016|ALT|V2|185}。"),
    ("P001入组了吗", "P001已于2026年2月6日入组{P001|入组日期|2026-02-05}。"),
    ("两个中心各入了多少", "A中心12例{site_b|12}，B中心15例{site_a|15}。"),
    ("在吗", "在的，王护士。P005今天已完成V3访视，请放心。"),
]


@cache
def shown(question: str) -> Sheet:
    """The sources of a question of the PI."""
    return sheet("zhangyi", question)


@pytest.mark.parametrize(("question", "say"), TRUE)
def test_a_true_answer_goes_out_without_its_marks(question: str, say: str) -> None:
    told = shown(question)
    verdict = verify(marked(say, told), told)
    assert verdict.passed, verdict.spans
    assert "[" not in verdict.text


@pytest.mark.parametrize(("question", "say"), LIES)
def test_a_lie_is_refused_with_a_reason(question: str, say: str) -> None:
    told = shown(question)
    verdict = verify(marked(say, told), told)
    assert not verdict.passed
    assert all(span.reason for span in verdict.spans if span.refused_by)
