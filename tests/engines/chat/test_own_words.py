"""What readers say of their own replies holds; what they say of the study is a proposal (decisions.md)."""

from __future__ import annotations

from datetime import timedelta

import pytest

from core.house import clock
from memory.hot import injection
from memory.hot.distill import distil
from memory.models import UserMemory
from tests.engines.chat.kit import ask, prompts, silenced
from tests.memory.hot_kit import write
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
    silenced(study)
    for wish in ("以后回复不要超过50字", "以后回复不超过90字", "以后周报不超过20字"):
        ask("wanghushi", wish)
    assert 50 < len(ask("wanghushi", "P001的情况").text) <= 90
    assert distil(study.project, clock.today(study.project.timezone))
    assert "周报不超过20字" in injection.hot_text(study.project)
    assert 50 < len(ask("wanghushi", "P001的情况").text) <= 90


@pytest.mark.full
def test_a_profile_gives_way_to_what_its_user_says_since(study: Study) -> None:
    """The demo study's profile of the PI says 100."""
    assert "100 → 140" in ask("zhangyi", "以后回复不超过140字").text
    assert 100 < len(ask("zhangyi", "P001的情况").text) <= 140


@pytest.mark.full
def test_a_length_is_raised_again_after_the_day_was_distilled(study: Study) -> None:
    silenced(study)
    today = clock.today(study.project.timezone)
    ask("wanghushi", "以后回复不超过50字")
    assert distil(study.project, today)
    assert "50 → 90" in ask("wanghushi", "以后回复不超过90字").text
    assert 50 < len(ask("wanghushi", "P001的情况").text) <= 90
    assert distil(study.project, today + timedelta(days=1))
    memory = injection.hot_text(study.project)
    assert "- **偏好**: 以后回复不超过90字" in memory
    assert "不超过50字" not in memory


@pytest.mark.full
def test_a_length_that_is_said_again_is_the_newest_one(study: Study) -> None:
    silenced(study)
    for length in (50, 90, 50):
        told = ask("wanghushi", f"以后回复不超过{length}字").text
    assert "90 → 50" in told
    assert len(ask("wanghushi", "P001的情况").text) <= 50
    ask("wanghushi", "撤回")
    assert 50 < len(ask("wanghushi", "P001的情况").text) <= 90


def test_no_more_is_promised_than_an_answer_may_have(study: Study) -> None:
    assert "100 → 150" in ask("zhangyi", "以后回复不超过300字").text


@pytest.mark.full
def test_who_wants_it_short_gets_no_longer_answer(study: Study) -> None:
    """What two 👎 "too long" write into a profile was read by the briefing alone."""
    ask_for = "有哪些受试者入组了,他们的入组日期是什么"
    long = ask("wanghushi", ask_for).text
    write(study, "# 用户画像", "## 王护士 (user_id: wanghushi)", "- **偏好**: 简洁")
    short = ask("wanghushi", ask_for).text
    assert len(short) <= 150 < len(long)


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
