"""The small model is asked what the offline detector does not know, and for nothing else (design.md 6)."""

from __future__ import annotations

import json

import pytest

from engines.chat.unsure import ASKABLE, UNSURE_BELOW
from engines.intents import detect
from engines.models import LlmUsage
from tests.engines.chat.kit import ask, prompts, say
from tests.engines.liar.kit import bodies
from tests.support.study import Study

VAGUE = "就是那个啥来着"


def purposes() -> list[str]:
    return list(LlmUsage.objects.order_by("pk").values_list("purpose", flat=True))


def test_the_question_of_these_tests_is_unsure() -> None:
    found = detect(VAGUE)
    assert found.confidence < UNSURE_BELOW
    assert found.intents == ["qa_query"]


def test_an_unsure_question_takes_the_models_intent(study: Study) -> None:
    study.stand_ins.script(say('{"intent": "count_records"}'))
    reply = ask("zhangyi", VAGUE)
    assert reply.intents == ["count_records"]
    assert purposes()[0] == "intent"
    first = prompts(study)[0]
    assert first["response_format"]["type"] == "json_schema"
    assert first["temperature"] == 0


@pytest.mark.parametrize(
    "nonsense",
    [
        "",
        "我觉得是统计",
        '{"intent": "unsure"}',
        '{"intent": "qc_task"}',
        '{"intent": 3}',
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
    "text",
    [
        "同意",
        "驳回 数据不对",
        "忘掉我的电话",
        "弄一下",
        "你好",
        "P001 入组了吗?",
        "对P003做一次质控",
    ],
)
def test_commands_greetings_and_clear_questions_are_never_asked_about(
    study: Study, text: str
) -> None:
    ask("zhangyi", text)
    assert "intent" not in purposes()


def test_no_order_can_come_from_the_model() -> None:
    assert not {"qc_task", "data_entry", "remember", "feedback", "generate_report"} & set(ASKABLE)


def test_the_question_passes_the_gate(study: Study) -> None:
    own = json.loads(study.project.subjects.get(record_id="P001").identifiers)
    study.stand_ins.script(say('{"intent": "general_chat"}'))
    ask("zhangyi", f"嗯{own['subject_name']}那个东西呢 {own['phone']}")
    wire = bodies(study, "llm")
    assert own["subject_name"] not in wire
    assert own["phone"] not in wire
