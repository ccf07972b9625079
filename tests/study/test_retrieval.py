"""Questions as wards ask them find the rule that answers, and what is quoted unasked is that rule."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from study.protocol.rules import Found, RuleIndex
from study.protocol.units import Unit

TESTS = Path(__file__).parents[1] / "assistant"
DOCUMENTS = Path(__file__).parents[2] / "demo" / "study" / "documents"


@pytest.fixture(scope="module")
def rules() -> RuleIndex:
    texts = [path.read_text("utf-8") for path in sorted(DOCUMENTS.glob("*.md"))]
    return RuleIndex(
        [(text.split("\n")[0].removeprefix("# LUNG-IIT").strip(), text) for text in texts]
    )


def test_a_chapter_of_the_protocol_goes_before_the_same_section_elsewhere() -> None:
    protocol = (
        "## 2 研究目的\n\n### 2.1 主要目的\n\n评价缓解率。\n\n### 2.2 次要目的\n\n评价安全性。\n"
    )
    consent = "## 2 研究的目的\n\n了解疗效。\n"
    for documents in (
        [("研究方案", protocol), ("知情同意书", consent)],
        [("知情同意书", consent), ("研究方案", protocol)],
    ):
        found = RuleIndex(documents).find("这个研究的研究目的是什么?", {})
        assert found.is_sure
        assert [unit.text for unit in found.quoted] == ["评价缓解率。", "评价安全性。"]


@pytest.mark.full
@pytest.mark.parametrize(
    "asked", ["本研究的目的是什么", "该试验的研究目的是什么", "本方案的目的是什么"]
)
def test_the_study_itself_is_no_word_that_is_looked_for(rules: RuleIndex, asked: str) -> None:
    found = rules.find(asked, {})
    assert found.rules
    assert "目的" in found.rules[0].title, found.rules[0]


def _cases(name: str) -> list[dict[str, Any]]:
    """Questions with their rules (document, section, words of it); none for what no document speaks of."""
    return [json.loads(line) for line in (TESTS / name).read_text("utf-8").splitlines()]


def _answers(unit: Unit, rules: list[list[str]]) -> bool:
    return any(
        document in unit.document
        and f"{unit.number}.".startswith(f"{section}.")
        and words in unit.lead + unit.text
        for document, section, words in rules
    )


def _found(rules: RuleIndex, case: dict[str, Any]) -> Found:
    return rules.find(case["text"], {})


@pytest.mark.full
@pytest.mark.parametrize(
    ("name", "least"),
    [("retrieval.jsonl", 0.95), ("retrieval_held.jsonl", 0.85), ("retrieval_held2.jsonl", 0.9)],
)
def test_the_rule_is_among_the_first_five(rules: RuleIndex, name: str, least: float) -> None:
    cases = [case for case in _cases(name) if case["rules"]]
    missed = [
        case["text"]
        for case in cases
        if not any(_answers(unit, case["rules"]) for unit in _found(rules, case).rules[:5])
    ]
    assert len(missed) <= (1 - least) * len(cases), missed


@pytest.mark.full
def test_what_is_quoted_unasked_is_the_rule(rules: RuleIndex) -> None:
    names = ("retrieval.jsonl", "retrieval_held.jsonl", "retrieval_held2.jsonl")
    cases = [case for name in names for case in _cases(name)]
    sure = [(case, found) for case in cases if (found := _found(rules, case)).is_sure]
    wrong = [
        f"{case['text']} → {found.rules[0].heading}: {found.rules[0].text}"
        for case, found in sure
        if not any(
            _answers(unit, case["rules"]) for unit in found.rules[: 99 if found.whole else 1]
        )
    ]
    assert len(wrong) <= 0.03 * len(sure), "\n".join(wrong)
    assert len(sure) - len(wrong) >= 0.35 * sum(bool(case["rules"]) for case in cases)


def test_a_heading_that_is_asked_for_is_meant_as_a_whole(rules: RuleIndex) -> None:
    found = _found(rules, {"text": "排除标准有哪些"})
    assert found.whole
    assert found.is_sure
    assert [unit.text[:2] for unit in found.rules if unit.lead] == [f"{n}." for n in range(1, 9)]


def test_words_of_a_model_help_to_find(rules: RuleIndex) -> None:
    question = "那批东西坏了咋整"
    assert not rules.find(question, {}).is_sure
    found = rules.find(question, {}, "药品 贮存温度超出范围 隔离封存")
    assert any("隔离封存" in unit.text for unit in found.rules[:5])


@pytest.mark.full
def test_a_section_that_is_cited_is_the_one_that_is_meant(rules: RuleIndex) -> None:
    found = _found(rules, {"text": "ALT 4倍上限要停药吗 研究方案 §5.2.3"})
    assert found.is_sure
    assert not found.whole
    assert "维持原剂量" in found.rules[0].text
    assert {unit.number for unit in found.rules} == {"5.2.3"}
    assert found.rules[0] in found.quoted
    whole = _found(rules, {"text": "CRF 填写指南 §8"})
    assert whole.whole
    assert {(unit.document, unit.number) for unit in whole.rules} == {("CRF 填写指南", "8")}
