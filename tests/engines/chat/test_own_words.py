"""What readers say of their own replies holds; what they say of the study is a proposal (decisions.md)."""

from __future__ import annotations

import pytest

from memory.models import UserMemory
from tests.engines.chat.kit import ask, prompts
from tests.support.study import Study


@pytest.mark.parametrize(
    "wish",
    [
        "以后回复不要超过50字",
        "以后别超过 50 字",
        "回复不超过五十个字",
        "以后回复最多50字",
        "回答控制在50字以内",
    ],
)
def test_a_length_holds_from_the_next_message_on(study: Study, wish: str) -> None:
    ask("wanghushi", wish)
    assert len(ask("wanghushi", "P001的情况").text) <= 50


@pytest.mark.full
def test_the_newest_length_holds_and_a_report_has_its_own(study: Study) -> None:
    for wish in ("以后回复不要超过50字", "以后回复不超过90字", "以后周报不超过20字"):
        ask("wanghushi", wish)
    assert 50 < len(ask("wanghushi", "P001的情况").text) <= 90


@pytest.mark.full
@pytest.mark.parametrize(
    "rule",
    ["记住,以后不用查年龄了", "以后不要查年龄", "以后跳过肝功能检查", "以后血压高于160才算异常"],
)
def test_a_rule_of_the_study_is_a_proposal(study: Study, rule: str) -> None:
    kept = ask("wanghushi", "以后汇报只看结论").text
    assert ask("wanghushi", rule).text != kept
    assert UserMemory.objects.get(category="proposal").evidence == rule
    ask("wanghushi", "大家最近都在忙些啥")
    assert rule not in prompts(study)[-1]["messages"][0]["content"]
