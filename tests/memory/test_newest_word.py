"""A field has one value, and the newest word is its user's: in the prompt, in the answer and when shown."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils.timezone import now

from memory.hot import injection
from memory.models import UserMemory
from memory.people import facts
from tests.engines.chat.kit import UNREAD, ask, mute, prompts
from tests.memory.hot_kit import LINES, base, kill, said, write
from tests.support.study import Study

OWN, OTHERS = "- **最佳通知时间**: 08:30", "- **最佳通知时间**: 09:00"
BEFORE, SINCE = "以后请在下午三点半通知我", "不对,应该是下午四点通知我"
ASKED = "我的最佳通知时间是几点?"


@pytest.fixture
def corrected(study: Study) -> Study:
    """The user named a time, and corrected it; both statements stand beside what was read of them."""
    base(study, *LINES[:4], OWN, *LINES[4:6], OTHERS, *LINES[6:])
    for text, hours in ((BEFORE, 3), (SINCE, 1)):
        said(study, text, own=True, at=now() - timedelta(hours=hours))
    row = {"value": "16:00", "said": "16:00", "plain": "16:00", "quote": SINCE}
    said(
        study,
        "最佳通知时间:16:00",
        own=True,
        at=now() - timedelta(hours=1),
        field="最佳通知时间",
        value="16:00",
        details={"最佳通知时间": row},
    )
    return study


def told(text: str) -> list[str]:
    return [time for time in ("08:30", "09:00", "15:30", "三点半") if time in text]


@pytest.mark.parametrize("silent", [False, True])
def test_the_answer_is_the_newest_value_of_the_reader(corrected: Study, silent: bool) -> None:
    if silent:
        mute(corrected)
    text = ask("zhangyi", ASKED).text
    assert "16:00" in text
    assert told(text) == []


def test_what_is_shown_holds_no_older_value(corrected: Study) -> None:
    text = ask("zhangyi", "你记得我什么").text
    assert "最佳通知时间:16:00" in text
    assert "只要看结果" in text
    assert told(text) == []


def test_nor_does_the_prompt(corrected: Study) -> None:
    ask("zhangyi", UNREAD)
    head = prompts(corrected)[-1]["messages"][0]["content"]
    text = head[head.index("[Hot Memory]") :]
    assert "16:00" in text
    assert told(text.replace(OTHERS, "")) == [], "older, or said of the reader"
    injected = injection.inject(corrected.project, corrected["zhangyi"])
    assert {"line": OWN, "why": "outdated"} in injected.left_out


def test_others_keep_their_line_and_so_does_who_said_nothing(corrected: Study) -> None:
    shown = injection.inject(corrected.project, corrected["wanghushi"]).text
    assert OWN in shown
    assert OTHERS in shown


def test_a_field_of_many_values_keeps_its_lines(corrected: Study) -> None:
    row = {"value": "表格", "said": "表格", "plain": "表格", "quote": "我喜欢表格"}
    said(corrected, "表格", own=True, field="偏好", value="表格", details={"偏好": row})
    assert "只要看结果" in injection.inject(corrected.project, corrected["zhangyi"]).text


def test_a_statement_that_says_more_than_a_time_stays(corrected: Study) -> None:
    text = "以后请在下午三点半通知我,而且我喜欢表格"
    said(corrected, text, own=True, at=now() - timedelta(hours=4))
    assert "我喜欢表格" in facts.own(corrected["zhangyi"])


def test_what_an_editor_removed_does_not_overrule_a_line(corrected: Study) -> None:
    lines = injection.hot_text(corrected.project).split("\n")
    at = lines.index(OWN)
    write(corrected, *lines[:at], "- **最佳通知时间**: 16:00", *lines[at + 1 :])
    kill(corrected, "- **最佳通知时间**: 16:00")
    write(corrected, *lines)
    assert OWN in injection.inject(corrected.project, corrected["zhangyi"]).text


@pytest.mark.parametrize(
    ("text", "proposed"),
    [("以后下午四点通知我", True), ("以后16:00提醒我", True), ("以后下午五点通知我", False)],
)
def test_a_time_that_an_editor_removed_is_a_proposal(
    study: Study, text: str, proposed: bool
) -> None:
    line = "- **最佳通知时间**: 16:00"
    base(study, *LINES[:1], "## B中心CRC (user_id: crc_b)", line, *LINES[1:])
    kill(study, line)
    reply = ask("crc_b", text).text
    assert ("建议" in reply or "管理员" in reply) == proposed
    assert UserMemory.objects.filter(category="proposal").exists() == proposed


def test_a_long_fact_leaves_room_for_others(study: Study) -> None:
    said(study, "我只看入组进度", own=True, at=now() - timedelta(days=2))
    said(study, "我喜欢表格" * 300, own=True)
    text = facts.own(study["zhangyi"])
    assert "我只看入组进度" in text
    assert "我喜欢表格" in text
