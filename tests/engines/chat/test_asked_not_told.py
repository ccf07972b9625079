"""What asks is answered, whatever order, opinion or stray matter its words are like."""

from __future__ import annotations

import pytest

from tests.engines.chat.kit import ask, silenced
from tests.support.study import Study


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("P001恢复得顺不顺利", "痊愈"),
        ("P003过敏史写的啥", "青霉素"),
        ("P014登记合并用药了吗", "没有"),
        ("漏服了怎么补", "12 小时"),
        ("恢复筛选以后每天最多筛几个人", "不超过四人"),
    ],
)
def test_a_question_is_neither_an_order_nor_an_opinion(study: Study, text: str, told: str) -> None:
    silenced(study)
    reply = ask("wanghushi", text)
    assert told in reply.text


def test_a_follow_up_stays_with_the_data(study: Study) -> None:
    silenced(study)
    ask("zhangyi", "B中心9月入了几个")
    assert "2026-08" in ask("zhangyi", "8月呢").text
    assert "演示医院A" in ask("zhangyi", "A中心呢").text


def test_a_question_set_right_is_asked_anew(study: Study) -> None:
    silenced(study)
    ask("wanghushi", "P002的ALT")
    reply = ask("wanghushi", "我不是问P002一个人,是问所有人")
    assert "P001" in reply.text
    assert "谷丙转氨酶" in reply.text


def test_what_holds_now_was_decided_last(study: Study) -> None:
    silenced(study)
    reply = ask("wanghushi", "交通补贴现在是多少钱").text
    assert reply.index("降到100元") < reply.find("提高到200元") % 10_000


def test_results_of_all_are_no_order(study: Study) -> None:
    assert ask("zhangyi", "质控有没有没过的").task_run_ids == []


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("谁疼得最厉害", "疼痛VAS评分最高"),
        ("照这速度啥时候能入满", "还差 3 例"),
        ("禁用药用了的有谁", "P019"),
        ("门诊CRC是哪周加的", "W15"),
        ("SAE上报时限", "24 小时"),
        ("P010最近血小板是不是低了", "148"),
    ],
)
def test_what_was_understood_counts_more_than_an_unsure_label(
    study: Study, text: str, told: str
) -> None:
    silenced(study)
    assert told in ask("zhangyi", text).text


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
