"""最佳通知时间: what is denied, or is no time, replaces nothing (issue 4, "Grounded")."""

from __future__ import annotations

from datetime import time

import pytest

from memory.people import facts, screen
from memory.people.own_settings import best_time
from tests.memory.agent.kit import extracted, item, kept, save
from tests.support.study import Study

FIELD = "最佳通知时间"
LATE = "以后晚上10点半通知我"


@pytest.fixture
def late(study: Study) -> Study:
    """Who is told at 22:30."""
    study.stand_ins.script(extracted(item(FIELD, "22:30", LATE)))
    save("zhangyi", LATE)
    assert best_time(study["zhangyi"]) == time(22, 30)
    study.stand_ins.reset()
    return study


@pytest.mark.parametrize(
    ("message", "value", "quote"),
    [
        ("别在中午通知我", "12:00", "别在中午通知我"),
        ("别在中午通知我", "中午", "别在中午通知我"),
        ("别在中午通知我", "中午", "中午"),
        ("不要在中午通知我", "不要在中午", "不要在中午通知我"),
        ("请勿在中午12点通知我", "12:00", "中午12点"),
        ("以后25点通知我", "25点", "以后25点通知我"),
        ("以后25点通知我", "25:00", "25点通知我"),
        ("以后二十五点通知我", "二十五点", "二十五点通知我"),
        ("以后早上8点通知我", "早上", "早上8点通知我"),
    ],
)
def test_the_valid_time_stays(late: Study, message: str, value: str, quote: str) -> None:
    late.stand_ins.script(extracted(item(FIELD, value, quote)))
    save("zhangyi", message)
    assert best_time(late["zhangyi"]) == time(22, 30)
    assert len(kept("zhangyi")) == 1


@pytest.mark.parametrize(
    ("message", "value", "quote", "new"),
    [
        ("不对,应该是下午四点通知我", "16:00", "不对,应该是下午四点通知我", time(16)),
        ("别的科室的事下午四点通知我", "下午四点", "下午四点通知我", time(16)),
        ("别忘了早上8点提醒我", "8点", "别忘了早上8点提醒我", time(8)),
        ("不要在8点通知我,改在9点通知我", "9点", "不要在8点通知我,改在9点通知我", time(9)),
        ("请在８：４５通知我", "8:45", "请在８：４５通知我", time(8, 45)),
        ("以后早上通知我", "早上", "早上通知我", time(8)),
        ("性别登记的事早上九点提醒我", "早上九点", "早上九点提醒我", time(9)),
        ("以后深夜11点通知我", "深夜11点", "深夜11点通知我", time(23)),
    ],
)
def test_a_time_that_was_said_corrects_it(
    late: Study, message: str, value: str, quote: str, new: time
) -> None:
    late.stand_ins.script(extracted(item(FIELD, value, quote)))
    save("zhangyi", message)
    assert best_time(late["zhangyi"]) == new
    assert len(kept("zhangyi")) == 1


@pytest.mark.parametrize(
    "message",
    ["请在８：４５通知我", "通知我改到8:45", "深夜通知我", "勿在中午通知我", "记住别在中午通知我"],
)
def test_a_message_of_a_time_is_read(study: Study, message: str) -> None:
    assert screen.has_news(study["zhangyi"], message)


def test_the_prompt_says_what_the_time_and_the_interest_are(study: Study) -> None:
    message = "我最关心不良事件,请16:00通知我"
    study.stand_ins.script(
        extracted(
            item("关注点", "不良事件", "我最关心不良事件"), item(FIELD, "16:00", "请16:00通知我")
        )
    )
    save("zhangyi", message)
    told = facts.own(study["zhangyi"])
    assert "- 最佳通知时间:16:00" in told
    assert "- 关注点:不良事件" in told
