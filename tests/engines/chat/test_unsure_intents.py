"""The small model is asked what the offline detector does not know, and for nothing else (design.md 6)."""

from __future__ import annotations

import json

import pytest

from engines.assistant.chat.unsure import ORDERS, SCHEMA
from engines.assistant.intents import Intent, detect
from engines.models import TaskRun
from llm.models import LlmUsage
from memory.models import FeedbackTally, MemoryProposal, UserMemory, WeeklyReport
from tests.engines.chat.kit import ask, prompts, say
from tests.engines.liar.kit import bodies
from tests.support.study import Study

VAGUE = "就是那个啥来着"
_STORED = (TaskRun, WeeklyReport, UserMemory, MemoryProposal, FeedbackTally)


def left_behind() -> list[int]:
    """How much there is of everything that an order would start or store."""
    return [model.objects.count() for model in _STORED]


def purposes() -> list[str]:
    return list(LlmUsage.objects.order_by("pk").values_list("purpose", flat=True))


def intents(*said: str) -> dict[str, str]:
    """What the small model answers."""
    return say(json.dumps({"intents": said}))


def test_the_question_of_these_tests_is_unsure() -> None:
    found = detect(VAGUE)
    assert not found.sure
    assert found.intents == ["qa_query"]


def test_an_unsure_question_takes_the_models_intent(study: Study) -> None:
    study.stand_ins.script(intents("count_records"))
    reply = ask("zhangyi", VAGUE)
    assert reply.intents == ["count_records"]
    assert purposes()[0] == "intent"
    first = prompts(study)[0]
    assert first["response_format"]["type"] == "json_schema"
    assert first["temperature"] == 0


def test_the_model_is_asked_with_all_labels() -> None:
    labels = SCHEMA["properties"]["intents"]["items"]["enum"]
    assert set(labels) == {*Intent, "unsure"}


def test_an_unsure_message_may_want_several_things(study: Study) -> None:
    study.stand_ins.script(intents("count_records", "project_info"))
    assert ask("zhangyi", VAGUE).intents == ["count_records", "project_info"]


@pytest.mark.parametrize("order", sorted(ORDERS))
def test_an_order_that_only_the_model_sees_is_put_to_the_reader(study: Study, order: str) -> None:
    before = left_behind()
    study.stand_ins.script(intents(order))
    reply = ask("zhangyi", VAGUE)
    assert "目前什么都没有执行" in reply.text
    assert reply.task_run_ids == []
    assert left_behind() == before


def test_a_proposed_order_stands_beside_what_was_asked(study: Study) -> None:
    study.stand_ins.script(intents("project_info", "qc_task"))
    reply = ask("zhangyi", VAGUE)
    assert "目前什么都没有执行" in reply.text
    assert "需要确认" in reply.text
    assert not TaskRun.objects.exists()


@pytest.mark.parametrize("text", ["质控 P001", "质控 全部受试者", "生成周报", "👍", "👎"])
def test_the_words_that_are_proposed_are_sure(text: str) -> None:
    assert detect(text).sure


@pytest.mark.parametrize(
    "nonsense",
    [
        "",
        "我觉得是统计",
        '{"intents": ["unsure"]}',
        '{"intents": ["qc_task", "unsure"]}',
        '{"intents": []}',
        '{"intents": "count_records"}',
        '{"intents": [3]}',
        '{"intents": ["order_lunch"]}',
        "[1]",
        '{"x',
    ],
)
def test_the_offline_intent_stands_when_the_model_talks_nonsense(
    study: Study, nonsense: str
) -> None:
    study.stand_ins.script(say(nonsense), say("请您说明是哪位受试者。"))
    assert ask("zhangyi", VAGUE).intents == ["qa_query"]


def test_the_offline_intent_stands_when_the_model_is_down(study: Study) -> None:
    study.stand_ins.fault("llm", "status", 503, times=1)
    reply = ask("zhangyi", VAGUE)
    assert reply.intents == ["qa_query"]
    assert reply.text


@pytest.mark.parametrize(
    "text", ["驳回 数据不对", "忘掉我的电话", "你好", "P001 入组了吗?", "对P003做一次质控"]
)
def test_commands_greetings_and_clear_questions_are_never_asked_about(
    study: Study, text: str
) -> None:
    ask("zhangyi", text)
    assert "intent" not in purposes()


@pytest.mark.parametrize("text", ["同意", "弄一下"])
@pytest.mark.parametrize("said", ["qc_task", "general_chat"])
def test_what_is_too_short_to_be_sure_starts_and_stores_nothing(
    study: Study, text: str, said: str
) -> None:
    before = left_behind()
    study.stand_ins.script(intents(said))
    ask("zhangyi", text)
    assert purposes()[0] == "intent"
    assert left_behind() == before


def test_the_question_passes_the_gate(study: Study) -> None:
    own = json.loads(study.project.subjects.get(record_id="P001").identifiers)
    study.stand_ins.script(intents("general_chat"))
    ask("zhangyi", f"嗯{own['subject_name']}那个东西呢 {own['phone']}")
    wire = bodies(study, "llm")
    assert own["subject_name"] not in wire
    assert own["phone"] not in wire


def test_a_plain_part_beside_an_understood_question_is_not_asked_about(study: Study) -> None:
    ask("zhangyi", "P020 什么时候入组的?另外方案里的排除标准是什么?")
    assert "intent" not in purposes()
