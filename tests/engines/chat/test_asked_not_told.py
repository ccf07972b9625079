"""What asks is answered, whatever order, opinion or stray matter its words are like."""

from __future__ import annotations

import pytest

from tests.engines.chat.kit import ask, silenced
from tests.support.study import Study


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("P001恢复得顺不顺利", "痊愈"),
        ("P014登记合并用药了吗", "没有"),
    ],
)
def test_a_question_is_neither_an_order_nor_an_opinion(study: Study, text: str, told: str) -> None:
    silenced(study)
    reply = ask("wanghushi", text)
    assert told in reply.text


@pytest.mark.full
def test_a_follow_up_stays_with_the_data(study: Study) -> None:
    silenced(study)
    ask("zhangyi", "B中心9月入了几个")
    assert "2026-08" in ask("zhangyi", "8月呢").text
    assert "演示医院A" in ask("zhangyi", "A中心呢").text


def test_results_of_all_are_no_order(study: Study) -> None:
    assert ask("zhangyi", "质控有没有没过的").task_run_ids == []


@pytest.mark.full
def test_a_short_follow_up_asks_of_what_was_listed(study: Study) -> None:
    silenced(study)
    ask("zhangyi", "P010那个四级的好了没")
    assert "很可能有关" in ask("zhangyi", "是不是药引起的").text
    ask("zhangyi", "3级以上AE有哪些")
    assert "AE结束日期" in ask("zhangyi", "都结束了没").text


def test_no_yes_answers_a_word_that_is_not_known(study: Study) -> None:
    silenced(study)
    reply = ask("wanghushi", "P004入组合规吗").text
    assert not reply.startswith("是")
