"""Each purpose is asked of its own provider and model (seeds 001, 003, 004; the environment wins)."""

from __future__ import annotations

import io
import json

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from pytest_django import Settings

from core.llm import acceptance
from core.llm.models import LlmUsage
from core.llm.providers import (
    LlmNotConfigured,
    client_for,
    clients_for,
    provider_of,
)
from core.privacy.outbound_policy import OutsideRefused
from engines.models import AgentTrace
from projects.endpoints import Purpose
from projects.models import Project
from tests.engines.accepted import accepted
from tests.engines.chat.kit import UNREAD, ask, calls, prompts, reasons, say
from tests.engines.chat.kit import call as tool_call
from tests.support.study import Study

STEPS = "帮我查下最近那个爱抱怨的病人是谁"
VAGUE = UNREAD
SEVERAL = "P001 入组了吗?P003 的 V2 什么时候做?"


def give(study: Study, **fields: str) -> Project:
    Project.objects.filter(pk=study.project.pk).update(**fields)
    study.project.refresh_from_db()
    return study.project


def by_name(study: Study) -> Project:
    """A model of its own for every purpose, all at the study's one address."""
    return give(study, llm_model="talk", llm_engines_model="think", llm_small_model="tiny")


def models(study: Study) -> set[str]:
    return {body["model"] for body in prompts(study)}


def test_a_blank_purpose_is_the_chats_and_a_blank_chat_is_the_houses(
    study: Study, settings: Settings
) -> None:
    settings.LLM_MODEL = "house"
    assert {provider_of(study.project, p).model for p in Purpose} == {"house"}
    project = give(study, llm_model="talk")
    assert {provider_of(project, p).model for p in Purpose} == {"talk"}
    project = give(study, llm_small_model="tiny")
    found = {p: provider_of(project, p).model for p in Purpose}
    assert found == {Purpose.CHAT: "talk", Purpose.ENGINES: "talk", Purpose.SMALL: "tiny"}


def test_each_purpose_goes_to_its_own_provider_with_its_own_key(study: Study) -> None:
    project = give(
        study,
        llm_preset="deepseek-v3",
        llm_base_url="https://talk.example.org/v1",
        llm_api_key="K-talk",
        llm_model="deepseek-chat",
        llm_engines_preset="qwen",
        llm_engines_api_key="K-think",
        llm_engines_model="qwen-max",
        llm_small_preset="local",
        llm_small_base_url="https://tiny.example.org/v1",
    )
    chat, engines, small = (client_for(project, purpose) for purpose in Purpose)
    assert (chat.preset, chat.model, chat._key) == ("deepseek-v3", "deepseek-chat", "K-talk")
    assert (engines.preset, engines.model, engines._key) == ("qwen", "qwen-max", "K-think")
    assert "dashscope" in engines.endpoint
    # Nobody gave this address a key: the chat's goes nowhere else.
    assert (small.preset, small.model, small._key) == ("local", "local", "")


def test_the_key_of_the_chat_serves_the_chats_own_address(study: Study) -> None:
    same = give(
        study,
        llm_preset="local",
        llm_base_url="https://talk.example.org/v1",
        llm_api_key="K-talk",
        llm_engines_base_url="https://talk.example.org/v1/",
    )
    assert client_for(same, Purpose.ENGINES)._key == "K-talk"
    other = give(study, llm_engines_base_url="https://talk.example.org/v2", llm_model="talk")
    assert client_for(other, Purpose.ENGINES)._key == ""
    assert client_for(other, Purpose.ENGINES).model == "talk"


def test_the_environment_wins(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    project = give(
        study,
        llm_model="talk",
        llm_engines_preset="qwen",
        llm_engines_model="qwen-max",
        llm_engines_api_key="K-think",
    )
    assert provider_of(project, Purpose.ENGINES).model == "qwen-max"
    monkeypatch.setenv("LLM_BASE_URL", f"{study.stand_ins.url}/llm/v1")
    found = provider_of(project, Purpose.ENGINES)
    # A name of another provider says nothing at the house's.
    assert (found.preset, found.model) == ("local", "talk")
    assert found.key != "K-think"


def test_the_small_model_of_the_environment_wins(
    study: Study, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = by_name(study)
    settings.LLM_SMALL_MODEL = "env-tiny"
    assert provider_of(project, Purpose.SMALL).model == "tiny"
    monkeypatch.setenv("LLM_SMALL_MODEL", "env-tiny")
    assert provider_of(project, Purpose.SMALL).model == "env-tiny"


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"llm_small_preset": "local"}, LlmNotConfigured),  # no address
        ({"llm_small_preset": "qwen"}, LlmNotConfigured),  # no model
        ({"llm_small_preset": "unheard-of", "llm_small_model": "m"}, LlmNotConfigured),
        ({"llm_small_base_url": "http://169.254.169.254/v1"}, OutsideRefused),
    ],
)
def test_a_provider_that_cannot_be_asked_fails_alone(
    study: Study, fields: dict[str, str], error: type[Exception]
) -> None:
    project = give(study, **fields)
    with pytest.raises(error):
        clients_for(project, Purpose.SMALL)
    assert clients_for(project, Purpose.CHAT)
    assert ask("zhangyi", "这个研究的排除标准是什么?").text


@pytest.mark.full
def test_an_answer_takes_the_chats_model_and_says_so(study: Study) -> None:
    by_name(study)
    ask("zhangyi", SEVERAL)
    assert models(study) == {"talk"}
    row = LlmUsage.objects.get()
    assert (row.purpose, row.model_purpose, row.provider, row.model) == (
        "say",
        "chat",
        "local",
        "talk",
    )
    trace = AgentTrace.objects.latest("created_at")
    assert trace.models_asked == [{"purpose": "chat", "provider": "local", "model": "talk"}]


def test_steps_take_the_model_of_the_engines(study: Study) -> None:
    by_name(study)
    reasons(study, calls(tool_call("get_project_info")), say("没有相关记录。"))
    ask("zhangyi", STEPS)
    used = {(row.purpose, row.model_purpose, row.model) for row in LlmUsage.objects.all()}
    assert ("react", "engines", "think") in used
    assert not any(purpose == "react" and model != "think" for purpose, _p, model in used)
    trace = AgentTrace.objects.latest("created_at")
    assert {"purpose": "engines", "provider": "local", "model": "think"} in trace.models_asked
    assert trace.token_usage == sum(
        r.input_tokens + r.output_tokens for r in LlmUsage.objects.all()
    )


@pytest.mark.parametrize("own", ["think", ""])
def test_steps_are_not_taken_by_a_model_that_was_not_accepted(
    study: Study, settings: Settings, own: str
) -> None:
    """The frozen set is put to the chat's model: one of the engines' own chooses nothing."""
    settings.REQUIRE_MODEL_ACCEPTANCE = True
    project = give(study, llm_model="talk", llm_engines_model=own)
    acceptance.sign(accepted(project), "admin", "admin")
    reasons(study, calls(tool_call("get_project_info")), say("没有相关记录。"))
    ask("zhangyi", STEPS)
    used = {row.model for row in LlmUsage.objects.filter(purpose="react")}
    assert used == (set() if own else {"talk"})


@pytest.mark.full
def test_soft_rules_take_the_model_of_the_engines(study: Study) -> None:
    by_name(study)
    call_command("qc", "P001", project=study.project.code)
    rows = LlmUsage.objects.filter(purpose="soft_rule")
    assert {(row.model_purpose, row.model) for row in rows} == {("engines", "think")}


def test_extraction_takes_the_small_model(
    study: Study, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    by_name(study)
    given = {"action": "save_info", "userMessage": "我是呼吸科的研究护士,负责随访"}
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(given) + "\n"))
    call_command("memory_manager", user="wanghushi")
    assert "error" not in capsys.readouterr().out
    assert models(study) == {"tiny"}
    rows = LlmUsage.objects.filter(purpose="remember")
    assert {(row.model_purpose, row.model) for row in rows} == {("small", "tiny")}


def test_what_is_meant_is_asked_of_the_small_model(study: Study) -> None:
    by_name(study)
    ask("zhangyi", VAGUE)
    rows = LlmUsage.objects.filter(purpose="ask")
    assert {(row.model_purpose, row.model) for row in rows} == {("small", "tiny")}


@pytest.mark.full
def test_the_trace_of_the_api_names_them(study: Study, client: Client) -> None:
    by_name(study)
    ask("admin", SEVERAL)
    client.force_login(User.objects.get(username="admin"))
    listed = client.get("/api/v1/agent-traces/").json()["results"]
    assert listed[0]["models_asked"][0]["purpose"] == "chat"


@pytest.mark.full
def test_the_console_shows_whose_model_was_asked(study: Study, client: Client) -> None:
    by_name(study)
    ask("admin", SEVERAL)
    client.force_login(User.objects.get(username="admin"))
    page = client.get("/admin/llm/llmusage/?model_purpose=chat").content.decode()
    assert "talk" in page
    assert "local" in page
