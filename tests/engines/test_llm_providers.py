"""Providers in order, the circuit breaker, abilities that turn out to be missing (issue 3, LLM layer)."""

from __future__ import annotations

from typing import Any

import pytest
from django.core.cache import cache
from pytest_django import Settings

from core.integrations.llm import LlmAbilityMissing, LlmError, LlmUnavailable, Message
from core.llm import acceptance, breaker
from core.llm.asking import Llm, TokenCapReached
from core.llm.models import LlmUsage
from core.llm.providers import LlmNotConfigured, clients_for, fallback, provider_of
from core.privacy.gate import Gate
from core.privacy.outbound_policy import OutsideRefused
from projects.models import Project
from tests.engines.accepted import accepted
from tests.engines.chat.kit import UNREAD, ask, prompts, say, trace
from tests.support.study import Study

SEVERAL = "P001 入组了吗?P003 的 V2 什么时候做?"
STEPS = "帮我查下最近那个爱抱怨的病人是谁"


@pytest.fixture
def second(study: Study, monkeypatch: pytest.MonkeyPatch) -> Study:
    """A second provider: the same stand-in under another model name."""
    for name, value in {
        "PRESET": "local",
        "BASE_URL": f"{study.stand_ins.url}/llm/v1",
        "API_KEY": "k",
        "MODEL": "second",
    }.items():
        monkeypatch.setenv(f"LLM_FALLBACK_{name}", value)
    return study


def hello() -> list[Message]:
    return [Message("user", Gate().text("你好"))]


def once(study: Study, **more: Any) -> Any:
    return Llm(study.project).ask(hello(), purpose="chat", version="t", tries=1, **more)


def models(study: Study) -> list[str]:
    return [body["model"] for body in prompts(study)]


def test_without_a_second_provider_there_is_one(study: Study) -> None:
    assert fallback() is None
    assert [client.model for client in clients_for(study.project)] == ["local"]


def test_a_second_that_was_not_accepted_chooses_no_answer(
    second: Study, settings: Settings
) -> None:
    settings.REQUIRE_MODEL_ACCEPTANCE = True
    acceptance.sign(accepted(second.project), "admin", "admin")
    second.stand_ins.fault("llm", "status", 503, times=1)
    assert "P001" in ask("zhangyi", SEVERAL).text
    assert models(second) == ["local"]


def test_the_second_answers_when_the_first_is_down(second: Study) -> None:
    second.stand_ins.fault("llm", "status", 503, times=1)
    second.stand_ins.script(say("您好"))
    assert once(second).content == "您好"
    assert models(second) == ["local", "second"]


@pytest.mark.parametrize("status", [401, 404, 500])
def test_a_refusal_too_leaves_it_to_the_second(second: Study, status: int) -> None:
    second.stand_ins.fault("llm", "status", status, times=1)
    assert once(second).content
    assert models(second)[-1] == "second"


@pytest.mark.full
def test_the_reader_does_not_notice(second: Study) -> None:
    plain = ask("zhangyi", SEVERAL).text
    LlmUsage.objects.all().delete()
    second.stand_ins.fault("llm", "status", 500, times=1)
    second.stand_ins.script(say('{"say": []}'))
    reply = ask("zhangyi", SEVERAL)
    assert reply.text == plain
    assert not reply.outside_down
    rows = LlmUsage.objects.order_by("pk")
    assert [(row.model, row.ok) for row in rows] == [("local", False), ("second", True)]


def test_a_question_is_read_by_the_second(second: Study) -> None:
    second.stand_ins.fault("llm", "status", 500, times=1)
    ask("zhangyi", UNREAD)
    asked = LlmUsage.objects.filter(purpose="ask").order_by("pk")
    assert [(row.model, row.ok) for row in asked][:2] == [("local", False), ("second", True)]


@pytest.mark.full
def test_both_down_leaves_the_plain_answer_and_asks_back_what_was_not_read(second: Study) -> None:
    plain = ask("zhangyi", SEVERAL).text
    second.stand_ins.fault("llm", "status", 500, times=None)
    assert ask("zhangyi", SEVERAL).text == plain
    assert set(models(second)) == {"local", "second"}
    assert "llm" in {item["thought"] for item in trace().trace}
    assert ask("zhangyi", UNREAD).asked_back


def test_a_first_without_a_model_is_passed_over(second: Study, settings: Settings) -> None:
    settings.LLM_PRESET = "qwen"
    assert [client.model for client in clients_for(second.project)] == ["second"]


def test_a_first_that_may_not_be_asked_is_passed_over(second: Study, settings: Settings) -> None:
    settings.LLM_BASE_URL = "http://llm.example.com/v1"
    assert [client.model for client in clients_for(second.project)] == ["second"]


def test_another_preset_has_its_own_address(study: Study, settings: Settings) -> None:
    """The address that a development house has by default is that of its stand-in."""
    project = study.project
    project.llm_preset, project.llm_base_url = "qwen", ""
    assert (settings.LLM_PRESET, settings.LLM_BASE_URL != "") == ("local", True)
    assert provider_of(project).base_url == ""
    project.llm_preset = ""
    assert provider_of(project).base_url == settings.LLM_BASE_URL


def test_nobody_configured(study: Study, settings: Settings) -> None:
    settings.LLM_PRESET = ""
    with pytest.raises(LlmNotConfigured):
        clients_for(study.project)
    settings.LLM_PRESET, settings.LLM_BASE_URL = "local", "http://llm.example.com/v1"
    with pytest.raises(OutsideRefused):
        clients_for(study.project)


def test_the_key_may_come_from_a_file(
    second: Study, monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.delenv("LLM_FALLBACK_MODEL")
    (tmp_path / "model").write_text("third\n")
    monkeypatch.setenv("LLM_FALLBACK_MODEL_FILE", str(tmp_path / "model"))
    client = fallback()
    assert client is not None
    assert client.model == "third"
    monkeypatch.setenv("LLM_FALLBACK_MODEL_FILE", str(tmp_path / "absent"))
    with pytest.raises(LlmNotConfigured):
        fallback()


def test_three_failures_open_the_circuit(study: Study) -> None:
    study.stand_ins.fault("llm", "status", 503, times=None)
    for _ in range(breaker.FAILURES):
        with pytest.raises(LlmUnavailable):
            once(study)
    asked = len(prompts(study))
    with pytest.raises(LlmUnavailable, match="circuit"):
        once(study)
    assert len(prompts(study)) == asked == breaker.FAILURES


def test_the_circuit_is_shared_and_a_success_closes_it(study: Study) -> None:
    endpoint = clients_for(study.project)[0].endpoint
    breaker.failed(endpoint)
    breaker.failed(endpoint)
    assert not breaker.is_open(endpoint)
    once(study)
    breaker.failed(endpoint)
    assert not breaker.is_open(endpoint)
    breaker.failed(endpoint)
    breaker.failed(endpoint)
    assert breaker.is_open(endpoint)
    assert not breaker.is_open("http://127.0.0.1/other model")
    breaker.worked(endpoint)
    assert once(study).content


def test_after_the_pause_one_failure_opens_it_again(study: Study) -> None:
    endpoint = clients_for(study.project)[0].endpoint
    for _ in range(breaker.FAILURES):
        breaker.failed(endpoint)
    cache.delete(breaker._key("open", endpoint))
    assert not breaker.is_open(endpoint)
    breaker.failed(endpoint)
    assert breaker.is_open(endpoint)


def test_an_open_circuit_goes_straight_to_the_second(second: Study) -> None:
    endpoint = clients_for(second.project)[0].endpoint
    for _ in range(breaker.FAILURES):
        breaker.failed(endpoint)
    once(second)
    assert models(second) == ["second"]


def test_a_refused_request_does_not_open_the_circuit(study: Study) -> None:
    study.stand_ins.fault("llm", "status", 400, times=None)
    for _ in range(breaker.FAILURES + 1):
        with pytest.raises(LlmError):
            once(study)
    assert not breaker.is_open(clients_for(study.project)[0].endpoint)


def unable(what: str) -> dict[str, Any]:
    return {"status": 400, "raw": {"error": {"message": f"this model does not support {what}"}}}


TOOL = {"type": "function", "function": {"name": "t", "description": "t", "parameters": {}}}


def test_an_endpoint_without_tools_is_remembered(study: Study) -> None:
    study.stand_ins.script(unable("tools"))
    llm = Llm(study.project)
    assert llm.has_tools
    with pytest.raises(LlmAbilityMissing):
        llm.ask(hello(), purpose="react", version="t", tools=[TOOL])
    assert not llm.has_tools
    assert not Llm(study.project).has_tools


def test_an_endpoint_without_schemas_is_asked_for_plain_json(study: Study) -> None:
    study.stand_ins.script(unable("response_format json_schema"), say('{"a": 1}'))
    messages = [Message("user", Gate().text("回答 json"))]
    done = Llm(study.project).ask(messages, purpose="x", version="t", schema={"type": "object"})
    assert done.json() == {"a": 1}
    kinds = [body["response_format"]["type"] for body in prompts(study)]
    assert kinds == ["json_schema", "json_object"]


@pytest.mark.full
def test_the_cap_leaves_plain_answers_and_stands_in_the_trace(study: Study) -> None:
    Project.objects.update(llm_daily_token_cap=1)
    LlmUsage.objects.create(project=study.project, purpose="chat", model="m", input_tokens=5)
    study.project.refresh_from_db()
    with pytest.raises(TokenCapReached):
        once(study)
    assert "2026-02-05" in ask("wanghushi", SEVERAL).text
    assert "token cap" in {item["thought"] for item in trace().trace}
    assert ask("wanghushi", STEPS).asked_back
    assert "token cap" in {item["thought"] for item in trace().trace}
    assert prompts(study) == []


def test_the_cap_holds_within_one_request(study: Study) -> None:
    Project.objects.update(llm_daily_token_cap=1)
    study.project.refresh_from_db()
    llm = Llm(study.project)
    llm.ask(hello(), purpose="chat", version="t")
    with pytest.raises(TokenCapReached):
        llm.ask(hello(), purpose="chat", version="t")
    assert len(prompts(study)) == 1
