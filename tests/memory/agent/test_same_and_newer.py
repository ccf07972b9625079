"""Same fact skipped, newer value supersedes, two values in one message are asked (issue 4)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.utils.timezone import now

from memory import tasks
from memory.models import MemoryQuestion, MemoryTombstone, MemoryTurn, UserMemory
from memory.people import turns
from tests.engines.chat.kit import ask, say
from tests.memory.agent.kit import (
    SCENARIO,
    SCENARIO_ITEMS,
    extracted,
    invoke,
    item,
    kept,
    row_of,
    save,
)
from tests.memory.hot_kit import LINES, base, kill
from tests.support.study import Study

TWO_AGES = "我今年32岁,不过身份证上写的是我35岁"


@pytest.mark.usefixtures("immigration")
def test_the_same_again_is_skipped_and_listed(study: Study) -> None:
    study.stand_ins.script(extracted(*SCENARIO_ITEMS), extracted(*SCENARIO_ITEMS))
    save("zhangyi", SCENARIO)
    again = save("zhangyi", SCENARIO)
    assert again["saved_count"] == 0
    assert again["extracted_info"] == {}
    assert set(again["skipped_fields"]) == {one["field"] for one in SCENARIO_ITEMS}
    assert UserMemory.objects.count() == 5


@pytest.mark.usefixtures("immigration")
def test_what_the_caller_knows_is_skipped(study: Study) -> None:
    study.stand_ins.script(extracted(*SCENARIO_ITEMS))
    found = save("zhangyi", SCENARIO, age=32, annualIncome=800_000)
    assert set(found["skipped_fields"]) == {"age", "annualIncome"}
    assert found["saved_count"] == 3


@pytest.mark.usefixtures("immigration")
def test_a_newer_value_supersedes_and_the_rest_of_the_memory_goes_on(study: Study) -> None:
    study.stand_ins.script(
        extracted(*SCENARIO_ITEMS), extracted(item("education", "博士", "我博士毕业了"))
    )
    save("zhangyi", SCENARIO)
    save("zhangyi", "我博士毕业了")
    assert "浙江大学计算机博士毕业" in kept("zhangyi")
    old = row_of("浙江大学计算机硕士毕业")
    assert old.superseded_by is not None
    assert old.superseded_by.content == "浙江大学计算机博士毕业"


@pytest.mark.usefixtures("immigration")
def test_a_vague_value_does_not_supersede_an_exact_one(study: Study) -> None:
    study.stand_ins.script(
        extracted(item("age", "32", "我32岁")), extracted(item("age", "30+", "我三十多岁"))
    )
    save("zhangyi", "我32岁")
    assert save("zhangyi", "我三十多岁")["skipped_fields"] == ["age"]
    assert kept("zhangyi") == ["用户32岁"]


@pytest.mark.usefixtures("immigration")
def test_an_exact_value_supersedes_a_vague_one(study: Study) -> None:
    study.stand_ins.script(
        extracted(item("age", "30+", "我大概三十多岁")), extracted(item("age", "32", "我32岁"))
    )
    assert save("zhangyi", "我大概三十多岁")["extracted_info"] == {"age": "30+"}
    assert kept("zhangyi") == ["用户30+岁"]
    save("zhangyi", "我32岁")
    assert kept("zhangyi") == ["用户32岁"]


def test_values_that_stand_side_by_side(study: Study) -> None:
    study.stand_ins.script(
        extracted(item("关注点", "不良事件", "我关注不良事件")),
        extracted(item("关注点", "入组进度", "我还关注入组进度")),
    )
    save("zhangyi", "我关注不良事件")
    save("zhangyi", "我还关注入组进度")
    assert set(kept("zhangyi")) == {"关注点:不良事件", "关注点:入组进度"}
    (found,) = invoke("zhangyi", {"action": "summarize"})
    assert set(found["user_profile"]["preferences"]["关注点"]) == {"不良事件", "入组进度"}


@pytest.mark.full
@pytest.mark.usefixtures("immigration")
def test_a_contradiction_is_asked_once_and_not_stored(study: Study) -> None:
    study.stand_ins.script(extracted(item("age", "32", "我今年32岁"), item("age", "35", "我35岁")))
    assert save("zhangyi", TWO_AGES)["saved_count"] == 0
    assert kept("zhangyi") == []
    study.stand_ins.script(say("您好。"), say("您好。"))
    asked = ask("zhangyi", "你好").text
    assert "32岁" in asked
    assert "35岁" in asked
    assert "32岁" not in ask("zhangyi", "你好").text


@pytest.mark.usefixtures("immigration")
def test_the_answer_to_the_question_is_kept_without_a_model(study: Study) -> None:
    study.stand_ins.script(
        extracted(item("age", "32", "我今年32岁"), item("age", "35", "我35岁")), say("您好。")
    )
    save("zhangyi", TWO_AGES)
    ask("zhangyi", "你好")
    study.stand_ins.reset()
    reply = ask("zhangyi", "32岁")
    assert reply.intents == ["remember"]
    assert kept("zhangyi") == ["用户32岁"]
    assert MemoryQuestion.objects.count() == 0
    assert study.stand_ins.requests("llm") == []


@pytest.mark.usefixtures("immigration")
def test_a_clear_word_later_settles_it_too(study: Study) -> None:
    study.stand_ins.script(
        extracted(item("age", "32", "我今年32岁"), item("age", "35", "我35岁")),
        extracted(item("age", "35", "我是35岁")),
    )
    save("zhangyi", TWO_AGES)
    save("zhangyi", "我是35岁")
    assert kept("zhangyi") == ["用户35岁"]
    assert MemoryQuestion.objects.count() == 0


def test_a_statement_gives_way_to_the_field_that_says_all_of_it(study: Study) -> None:
    ask("zhangyi", "记住我在心内科")
    assert kept("zhangyi") == ["记住我在心内科"]
    study.stand_ins.script(extracted(item("department", "心内科", "我在心内科")))
    save("zhangyi", "记住我在心内科")
    assert kept("zhangyi") == ["科室:心内科"]


def test_a_preference_told_to_be_remembered_is_not_kept_twice(study: Study) -> None:
    ask("wanghushi", "以后汇报只看结论")
    study.stand_ins.script(extracted(item("偏好", "汇报只看结论", "以后汇报只看结论")))
    assert save("wanghushi", "以后汇报只看结论")["skipped_fields"] == ["偏好"]
    assert kept("wanghushi") == ["以后汇报只看结论"]


def test_what_an_editor_removed_is_only_proposed(study: Study) -> None:
    base(study)
    kill(study, "- **偏好**: 只要看结果")
    assert MemoryTombstone.objects.exists()
    study.stand_ins.script(extracted(item("偏好", "只要看结果", "我只要看结果")))
    save("zhangyi", "我只要看结果")
    assert UserMemory.objects.get().category == "proposal"


def test_a_bad_line_does_not_end_the_others(study: Study) -> None:
    found = invoke(
        "zhangyi",
        "{",
        {"action": "dance"},
        {"action": "load_context"},
        {"action": "save_info", "userMessage": "a", "more": 1},
        {"action": "load_context", "query": ""},
    )
    assert ["error" in row for row in found] == [True, True, True, True, False]
    assert found[-1] == {
        "action": "load_context",
        "memories": [],
        "user_profile_summary": None,
        "total_memories": 0,
    }


@pytest.mark.usefixtures("immigration")
def test_a_message_that_is_read_late_does_not_replace_what_was_said_since(study: Study) -> None:
    ten = now()
    with time_machine.travel(ten + timedelta(minutes=2), tick=False):
        study.stand_ins.script(
            extracted(item("age", "33", "我33岁"), item("major", "数学", "数学专业"))
        )
        save("zhangyi", "我33岁,数学专业")
        study.stand_ins.script(
            extracted(
                item("age", "32", "我32岁"),
                item("major", "计算机", "计算机专业"),
                item("education", "硕士", "硕士毕业"),
            )
        )
        turn = MemoryTurn.objects.create(
            project=study.project,
            user_id="zhangyi",
            user_message="我32岁,计算机专业,硕士毕业",
            created_at=ten,
        )
        done = turns.work(turn.pk)
    assert done is not None
    assert set(done.skipped_fields) == {"age", "major"}
    assert set(kept("zhangyi")) == {"用户33岁", "数学硕士毕业"}
    study.stand_ins.script(extracted(item("age", "34", "我34岁")))
    with time_machine.travel(ten + timedelta(minutes=3), tick=False):
        save("zhangyi", "我34岁")
    assert "用户34岁" in kept("zhangyi")


@pytest.mark.usefixtures("immigration")
def test_what_an_editor_removed_is_no_answer_to_a_question_either(study: Study) -> None:
    base(study, *LINES[:2], "- **年龄**: 用户35岁", *LINES[2:])
    kill(study, "- **年龄**: 用户35岁")
    study.stand_ins.script(
        extracted(item("age", "32", "我今年32岁"), item("age", "35", "我35岁")), say("您好。")
    )
    save("zhangyi", TWO_AGES)
    ask("zhangyi", "你好")
    reply = ask("zhangyi", "35岁").text
    assert UserMemory.objects.get().category == "proposal"
    assert reply == ask("wanghushi", "记一下:王PI下周出差").text


def question(study: Study, field: str, **more: Any) -> MemoryQuestion:
    options = [{"value": value, "said": value, "plain": value} for value in ("甲", "乙")]
    return MemoryQuestion.objects.create(
        project=study.project, user_id="zhangyi", field=field, options=options, **more
    )


def test_a_question_that_cannot_be_asked_does_not_hold_up_the_others(study: Study) -> None:
    question(study, "gone_from_the_schema")
    long = question(study, "specialty")
    long.options = [{"value": v, "said": v * 100, "plain": v} for v in "甲乙"]
    long.save()
    question(study, "department")
    study.stand_ins.script(say("您好。"))
    assert "科室" in ask("zhangyi", "你好").text


@pytest.mark.usefixtures("immigration")
def test_a_question_that_comes_up_again_is_kept_for_its_whole_week(study: Study) -> None:
    question(study, "age")
    MemoryQuestion.objects.update(created_at=now() - timedelta(days=6))
    study.stand_ins.script(extracted(item("age", "32", "我今年32岁"), item("age", "35", "我35岁")))
    save("zhangyi", TWO_AGES)
    with time_machine.travel(now() + timedelta(days=2)):
        tasks.forget_turns()
        assert MemoryQuestion.objects.count() == 1
