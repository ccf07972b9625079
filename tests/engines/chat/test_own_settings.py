"""What is said in passing changes no setting; what changes is told with its old value and can be taken back."""

from __future__ import annotations

from datetime import time

import pytest

from memory.models import MemoryTurn, UserMemory
from memory.people import turns
from memory.people.own_settings import best_time
from tests.engines.chat.kit import ask, mute
from tests.memory.agent.kit import extracted, item
from tests.support.study import Study

OWN = time(9)
"""wanghushi's, of her profile in hot memory."""


def read_in_background(study: Study, quote: str, value: str) -> None:
    """The Memory Manager reads the turns that wait; its model points at a notification time."""
    said = extracted(item("最佳通知时间", value, quote))
    for turn in MemoryTurn.objects.all():
        study.stand_ins.script(said)
        turns.work(turn.pk)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("明天下午三点提醒我给P003打电话", "15:00"),
        ("周五下午三点提醒我交周报", "15:00"),
        ("三点半提醒我开会", "03:30"),
        ("设个闹钟明早7点提醒我", "07:00"),
        ("入组满了提醒我", "15:00"),
        ("记得下周一上午十点提醒王护士打电话", "10:00"),
    ],
)
def test_a_reminder_is_refused_and_changes_nothing(study: Study, text: str, value: str) -> None:
    told = ask("wanghushi", text).text
    assert "我还不能设置提醒" in told
    assert "已记下" not in told
    read_in_background(study, text, value)
    assert best_time(study["wanghushi"]) == OWN
    assert not UserMemory.objects.exists()


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("我一般早上8点看消息,P001的ALT多少", "08:00"),
        ("我昨天下午3点才收到通知,P001 入组了吗?", "15:00"),
        ("P002什么时候来?我下午四点发通知给他", "16:00"),
    ],
)
def test_what_is_said_in_passing_changes_no_setting(study: Study, text: str, value: str) -> None:
    mute(study)
    ask("wanghushi", text)
    study.stand_ins.reset()
    read_in_background(study, text, value)
    assert best_time(study["wanghushi"]) == OWN
    assert not UserMemory.objects.filter(field="最佳通知时间").exists()


@pytest.mark.full
@pytest.mark.parametrize(
    "text", ["以后早上8点通知我", "把我的通知时间改成8点", "通知时间改为 08:00", "提醒放到早上八点"]
)
def test_a_change_is_told_with_the_old_value_and_taken_back(study: Study, text: str) -> None:
    mute(study)
    told = ask("wanghushi", text).text
    assert "09:00 → 08:00" in told
    assert "撤回" in told
    assert best_time(study["wanghushi"]) == time(8)

    ask("wanghushi", "P001 入组了吗?")
    assert "09:00" in ask("wanghushi", "撤回").text
    assert best_time(study["wanghushi"]) == OWN
    assert "没有可以撤回" in ask("wanghushi", "撤回").text


@pytest.mark.full
def test_taking_back_restores_the_value_before(study: Study) -> None:
    mute(study)
    ask("wanghushi", "通知时间改为 08:00")
    ask("wanghushi", "通知时间改为 10:00")
    ask("wanghushi", "撤回")
    assert best_time(study["wanghushi"]) == time(8)
    ask("wanghushi", "通知时间改为 11:30")
    assert best_time(study["wanghushi"]) == time(11, 30)


def test_what_only_may_be_a_setting_is_asked(study: Study) -> None:
    mute(study)
    told = ask("wanghushi", "以后我希望你们最好在早上8点钟左右那会儿通知我").text
    assert "通知时间改为 08:00" in told
    assert best_time(study["wanghushi"]) == OWN


def test_how_long_replies_are_is_told_back_too(study: Study) -> None:
    mute(study)
    told = ask("wanghushi", "以后回复不超过50字").text
    assert "未设置 → 50" in told
    ask("wanghushi", "撤回")
    assert not UserMemory.objects.exists()


def test_a_memory_is_taken_back_before_it_is_read(study: Study) -> None:
    mute(study)
    ask("wanghushi", "以后汇报只看结论")
    assert UserMemory.objects.count() == 1
    ask("wanghushi", "撤回")
    assert not UserMemory.objects.exists()
    assert not MemoryTurn.objects.exists()


@pytest.mark.parametrize("taken", ["以后汇报只看结论", "记住我喜欢看表格,电话13800138000"])
def test_what_waits_beside_it_is_read_all_the_same(study: Study, taken: str) -> None:
    mute(study)
    other = "我在心内科,P001 入组了吗?"
    ask("wanghushi", other)
    ask("wanghushi", taken)
    assert [turn.user_message for turn in MemoryTurn.objects.order_by("pk")] == [other, taken]
    ask("wanghushi", "撤回")
    assert [turn.user_message for turn in MemoryTurn.objects.all()] == [other]
