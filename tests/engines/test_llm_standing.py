"""What a check found of a study's models: what they may be asked, and in which structured mode."""

from __future__ import annotations

from typing import Any

import pytest

from core.integrations.llm import LlmClient, Message, Mode
from core.llm import standing
from core.llm.asking import Llm
from core.llm.models import LlmCheck
from core.llm.providers import client_for
from core.privacy.gate import Gate
from engines.setup import STEPS
from tests.engines.chat.kit import prompts, say
from tests.support.study import Study

SCHEMA = {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}


def client(study: Study, ability: str = standing.ASK) -> LlmClient:
    return client_for(study.project, standing.MODEL_OF[ability])


def found(study: Study, **met: int) -> None:
    for ability, count in met.items():
        purpose = standing.MODEL_OF[ability]
        endpoint = client(study, ability).endpoint
        standing.keep(study.project, purpose, endpoint, Mode.JSON_OBJECT, {ability: count}, "t")


def call(study: Study, ability: str = standing.ASK) -> Any:
    model = Llm(study.project).of(standing.MODEL_OF[ability])
    messages = [Message("user", Gate().text("填表, json"))]
    return model.ask(messages, purpose=ability, version="t", schema=SCHEMA).json()


def may(study: Study, ability: str = standing.ASK) -> bool:
    return Llm(study.project).of(standing.MODEL_OF[ability]).may(ability)


@pytest.mark.parametrize(("met", "is_asked"), [(7, False), (8, True), (10, True)])
def test_an_ability_below_the_bar_is_switched_off(study: Study, met: int, is_asked: bool) -> None:
    found(study, ask=met)
    assert may(study) is is_asked
    assert may(study, standing.SAY)


def test_another_model_was_never_checked(study: Study) -> None:
    found(study, ask=0)
    LlmCheck.objects.update(endpoint="https://other.example.com/v1 m")
    assert may(study)


def test_the_console_says_what_is_off(study: Study) -> None:
    (step,) = [one for one in STEPS if one.key == "model"]
    assert "6" not in step.look(study.project)[1]
    found(study, ask=6, say=9)
    told = step.look(study.project)[1]
    assert "6" in told
    assert "9" not in told


def test_the_mode_that_was_found_is_asked_first(study: Study) -> None:
    found(study, ask=10)
    study.stand_ins.script(say('{"a": 1}'))
    call(study)
    assert prompts(study)[0]["response_format"] == {"type": "json_object"}


def test_a_mode_that_is_refused_is_remembered_for_every_request(study: Study) -> None:
    refusal = {"status": 400, "raw": {"error": {"message": "json_schema is not supported"}}}
    study.stand_ins.script(refusal, say('{"a": 1}'), say('{"a": 2}'))
    assert call(study) == {"a": 1}
    assert call(study) == {"a": 2}
    kinds = [body["response_format"]["type"] for body in prompts(study)]
    assert kinds == ["json_schema", "json_object", "json_object"]
