"""What goes along with a memory that is forgotten: older values, statements, unread messages, questions."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils.timezone import now

from memory.models import MemoryQuestion, MemoryTurn, UserMemory
from tests.engines.chat.kit import UNREAD, ask, prompts
from tests.memory.agent.kit import SCENARIO, SCENARIO_ITEMS, extracted, item, kept, save
from tests.memory.hot_kit import base, browser, lines_of, without
from tests.support.study import Study
from tests.support.tasks import drain


def aged(study: Study, *ages: int) -> None:
    """The user says one age after the other."""
    for age in ages:
        study.stand_ins.script(extracted(item("age", str(age), f"我{age}岁")))
        save("zhangyi", f"我{age}岁")


@pytest.mark.full
@pytest.mark.usefixtures("immigration")
def test_a_value_that_was_superseded_does_not_hold_again(study: Study) -> None:
    aged(study, 31, 32, 33)
    ask("zhangyi", "忘掉33岁")
    assert not UserMemory.objects.filter(user_id="zhangyi").exists()
    aged(study, 32)
    assert kept("zhangyi") == ["用户32岁"]


@pytest.mark.full
def test_a_long_chain_of_older_values_goes_in_the_console_too(study: Study) -> None:
    newer: UserMemory | None = None
    for number in range(30):
        newer = UserMemory.objects.create(
            project=study.project,
            user_id="zhangyi",
            memory_type="FACT",
            importance=70,
            field="department",
            value=f"第{number}科",
            content=f"科室:第{number}科",
            superseded_by=newer,
        )
    first = UserMemory.objects.get(superseded_by=None)
    browser("zhangyi").post(f"/admin/memory/usermemory/{first.pk}/forget/")
    assert not UserMemory.objects.exists()


@pytest.mark.full
@pytest.mark.parametrize("is_read", [True, False])
def test_a_statement_that_says_the_field_goes_with_it(study: Study, is_read: bool) -> None:
    ask("zhangyi", "记住我在心内科")
    ask("zhangyi", "记住我喜欢看表格")
    if is_read:
        study.stand_ins.script(extracted(item("department", "心内科", "我在心内科")))
        save("zhangyi", "记住我在心内科")
    ask("zhangyi", "忘掉我的科室")
    assert kept("zhangyi") == ["记住我喜欢看表格"]
    study.stand_ins.reset()
    ask("zhangyi", UNREAD)
    assert "心内" not in prompts(study)[-1]["messages"][0]["content"]


def test_a_statement_that_says_the_value_in_other_words_goes_too(study: Study) -> None:
    ask("zhangyi", "记住我在心内干活,喜欢看表格")
    study.stand_ins.script(extracted(item("department", "心内", "我在心内干活")))
    save("zhangyi", "我在心内干活")
    assert "科室:心内" in kept("zhangyi")
    ask("zhangyi", "忘掉我的科室")
    assert kept("zhangyi") == []


def test_what_was_said_twice_is_kept_once_whatever_went_before(study: Study) -> None:
    rows = [
        UserMemory.objects.create(
            project=study.project,
            user_id="zhangyi",
            memory_type="PREFERENCE",
            importance=60,
            field="statement",
            content="记住我喜欢看表格",
        )
        for _time in range(2)
    ]
    assert len(rows) == 2
    assert "处理失败" not in ask("zhangyi", "记住我喜欢看表格").text
    assert UserMemory.objects.count() == 2


@pytest.mark.full
@pytest.mark.usefixtures("immigration")
def test_a_message_that_nobody_has_read_yet_is_forgotten_as_well(study: Study) -> None:
    study.stand_ins.fault("llm", "status", 500, times=None)
    ask("zhangyi", "我今年32岁")
    ask("wanghushi", "我今年40岁")
    ask("zhangyi", "忘掉我的年龄")
    study.stand_ins.reset()
    study.stand_ins.script(extracted(item("age", "40", "我今年40岁")))
    for turn in MemoryTurn.objects.all():
        assert turn.user_id == "wanghushi"
    drain()
    assert kept("zhangyi") == []


@pytest.mark.parametrize("text", ["忘掉我的年龄", "忘掉我35岁", "忘掉关于我的一切"])
@pytest.mark.usefixtures("immigration")
def test_an_open_question_about_it_is_not_asked(study: Study, text: str) -> None:
    words = "我今年32岁,不过身份证上写的是我35岁"
    study.stand_ins.script(extracted(item("age", "32", "我今年32岁"), item("age", "35", "我35岁")))
    save("zhangyi", words)
    assert MemoryQuestion.objects.count() == 1
    assert "32岁" not in ask("zhangyi", text).text
    assert not MemoryQuestion.objects.exists()


@pytest.mark.usefixtures("immigration")
def test_what_was_just_said_is_only_what_is_named_of_it(study: Study) -> None:
    study.stand_ins.script(extracted(*SCENARIO_ITEMS))
    save("zhangyi", SCENARIO)
    before = kept("zhangyi")
    ask("zhangyi", "忘掉我刚才说的年龄")
    assert kept("zhangyi") == [content for content in before if content != "用户32岁"]


@pytest.mark.parametrize("text", ["忘掉刚才那句话", "忘掉我刚才说的"])
@pytest.mark.usefixtures("immigration")
def test_what_was_just_said_is_all_of_it_where_nothing_is_named(study: Study, text: str) -> None:
    aged(study, 32)
    UserMemory.objects.update(created_at=now() - timedelta(hours=1))
    study.stand_ins.script(extracted(item("major", "计算机", "我是学计算机专业的")))
    save("zhangyi", "我是学计算机专业的")
    ask("zhangyi", text)
    assert kept("zhangyi") == ["用户32岁"]


@pytest.mark.usefixtures("immigration")
def test_words_that_point_at_one_thing_are_no_wish_to_forget_everything(study: Study) -> None:
    aged(study, 32)
    ask("zhangyi", "忘掉我说的那句话")
    assert kept("zhangyi") == ["用户32岁"]


def test_all_of_a_kind_goes_from_the_memories_and_from_the_profile(study: Study) -> None:
    base(study)
    study.stand_ins.script(extracted(item("偏好", "汇报用表格", "我喜欢汇报用表格")))
    save("zhangyi", "我喜欢汇报用表格")
    assert kept("zhangyi") == ["汇报用表格"]
    ask("zhangyi", "忘掉我所有的偏好")
    assert kept("zhangyi") == []
    assert lines_of(study) == without("- **偏好**: 只要看结果")
