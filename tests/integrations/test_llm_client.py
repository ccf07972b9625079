"""The LLM client against the stand-in: every event of agents_memory.md 5 is a normal one."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.integrations.llm import (
    LlmClient,
    LlmError,
    LlmProtocolError,
    LlmTimeout,
    LlmUnavailable,
    Message,
    ToolCall,
)
from core.privacy.gate import Gate
from core.privacy.outbound_policy import OutsideRefused
from tests.support.stand_ins import StandIns

TOOL = {
    "type": "function",
    "function": {
        "name": "get_project_stats",
        "description": "统计",
        "parameters": {"type": "object", "properties": {}},
    },
}


def user(text: str) -> Message:
    return Message("user", Gate().text(text))


def say(text: str) -> dict[str, str]:
    return {"content": text}


@pytest.fixture
def naps() -> list[float]:
    return []


@pytest.fixture
def client(stand_ins: StandIns, naps: list[float]) -> LlmClient:
    return LlmClient(
        base_url=f"{stand_ins.url}/llm/v1", api_key="k", model="", timeout=5, sleep=naps.append
    )


def last(stand_ins: StandIns) -> dict[str, Any]:
    body = stand_ins.requests("llm")[-1]["body"]
    parsed: dict[str, Any] = json.loads(body) if isinstance(body, str) else body
    return parsed


def test_an_answer_comes_with_usage_and_model(client: LlmClient, stand_ins: StandIns) -> None:
    stand_ins.script(say("您好"))
    done = client.complete([user("你好")], temperature=0.7, top_p=0.9, max_tokens=500)
    assert (done.content, done.model, done.finish_reason) == ("您好", "local", "stop")
    assert done.usage.input > 0
    assert done.usage.total == done.usage.input + done.usage.output
    sent = last(stand_ins)
    assert (sent["temperature"], sent["top_p"], sent["max_tokens"]) == (0.7, 0.9, 500)


def test_text_that_did_not_pass_the_gate_is_refused(client: LlmClient, stand_ins: StandIns) -> None:
    with pytest.raises(TypeError):
        Message("user", "张三")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Message("user", Gate().text("x") + "张三")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        client.complete([{"role": "user", "content": "张三"}])  # type: ignore[list-item]
    with pytest.raises(TypeError):
        Message("assistant", None)
    assert stand_ins.requests("llm") == []


def test_no_other_machine_is_asked_without_tls() -> None:
    with pytest.raises(OutsideRefused):
        LlmClient(base_url="http://api.deepseek.com/v1", api_key="k", model="m")
    assert LlmClient(base_url="", api_key="k", model="m", preset="deepseek-v3").model == "m"


def test_a_preset_without_a_default_model_needs_one(stand_ins: StandIns) -> None:
    with pytest.raises(ValueError, match="model"):
        LlmClient(base_url=f"{stand_ins.url}/llm/v1", api_key="k", model="", preset="qwen")


@pytest.mark.parametrize(
    ("preset", "extra"),
    [("deepseek-v3", {"thinking": {"type": "disabled"}}), ("qwen", {"enable_thinking": False})],
)
def test_presets_switch_thinking_off(
    stand_ins: StandIns, preset: str, extra: dict[str, Any]
) -> None:
    client = LlmClient(base_url=f"{stand_ins.url}/llm/v1", api_key="k", model="m", preset=preset)
    stand_ins.script(say('{"a": 1}'))
    done = client.complete([user("回答 json")], schema={"type": "object"})
    assert done.json() == {"a": 1}
    sent = last(stand_ins)
    assert extra.items() <= sent.items()


def test_the_local_preset_sends_the_schema(client: LlmClient, stand_ins: StandIns) -> None:
    stand_ins.script(say('{"a": 1}'))
    client.complete([user("x")], schema={"type": "object"})
    assert last(stand_ins)["response_format"]["type"] == "json_schema"


def test_empty_content_is_an_answer(client: LlmClient, stand_ins: StandIns) -> None:
    stand_ins.post("configure", {"llm": {"empty_content": True, "latency_s": 0}})
    assert client.complete([user("你好")]).content == ""


def test_tool_calls_come_back_and_their_results_go_out(
    client: LlmClient, stand_ins: StandIns
) -> None:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "get_project_stats", "arguments": "{}"},
    }
    two = {**call, "id": "c2"}
    stand_ins.script(
        {"role": "assistant", "content": None, "tool_calls": [call, two]}, say("15 例")
    )
    first = client.complete([user("几例")], tools=[TOOL])
    assert [c.id for c in first.tool_calls] == ["c1", "c2"]
    assert first.content == ""
    results = [Message("tool", Gate().text("{}"), tool_call_id=c.id) for c in first.tool_calls]
    echo = Message("assistant", None, first.tool_calls)
    assert client.complete([user("几例"), echo, *results], tools=[TOOL]).content == "15 例"


@pytest.mark.parametrize("arguments", ["{bad", "[1]", '"x"', "nul", "[" * 100_000])
def test_bad_tool_arguments_become_an_instruction(arguments: str) -> None:
    with pytest.raises(ValueError, match="JSON"):
        ToolCall("1", "t", arguments).parsed()


def test_missing_tool_arguments_are_none_given() -> None:
    assert ToolCall("1", "t", "").parsed() == {}


@pytest.mark.parametrize(
    ("content", "value"),
    [
        ('{"a": 1}', {"a": 1}),
        ('```json\n{"a": 1}\n```', {"a": 1}),
        ('好的:\n```\n{"a": 1}', {"a": 1}),
        ('答案是 {"a": {"b": 2}} 。', {"a": {"b": 2}}),
    ],
)
def test_json_is_found_in_what_surrounds_it(
    client: LlmClient, stand_ins: StandIns, content: str, value: dict[str, Any]
) -> None:
    stand_ins.script(say(content))
    assert client.complete([user("x")]).json() == value


@pytest.mark.parametrize("content", ["", "不通过", '{"a": ', "[1, 2]", '{"a": 1', "```json\n```"])
def test_what_is_no_object_is_a_protocol_error(
    client: LlmClient, stand_ins: StandIns, content: str
) -> None:
    stand_ins.script(say(content))
    done = client.complete([user("x")])
    with pytest.raises(LlmProtocolError):
        done.json()


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_passing_fault_is_retried(
    client: LlmClient, stand_ins: StandIns, naps: list[float], status: int
) -> None:
    stand_ins.fault("llm", "status", status, times=2)
    stand_ins.script(say("好"))
    assert client.complete([user("x")]).content == "好"
    assert len(naps) == 2
    assert all(0 <= nap <= 5 for nap in naps)
    assert len(stand_ins.requests("llm")) == 3


def test_retries_are_bounded(client: LlmClient, stand_ins: StandIns) -> None:
    stand_ins.fault("llm", "status", 503, times=None)
    with pytest.raises(LlmUnavailable) as caught:
        client.complete([user("x")])
    assert caught.value.status == 503
    assert len(stand_ins.requests("llm")) == 3


def test_one_try_is_one_request(client: LlmClient, stand_ins: StandIns) -> None:
    stand_ins.fault("llm", "status", 503, times=None)
    with pytest.raises(LlmUnavailable):
        client.complete([user("x")], tries=1)
    assert len(stand_ins.requests("llm")) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404])
def test_a_refusal_is_not_retried(client: LlmClient, stand_ins: StandIns, status: int) -> None:
    stand_ins.fault("llm", "status", status, times=1)
    with pytest.raises(LlmError) as caught:
        client.complete([user("x")])
    assert not isinstance(caught.value, LlmUnavailable)
    assert len(stand_ins.requests("llm")) == 1


def test_a_dropped_connection_is_unavailable(client: LlmClient, stand_ins: StandIns) -> None:
    stand_ins.fault("llm", "reset", times=None)
    with pytest.raises(LlmUnavailable):
        client.complete([user("x")])


def test_a_timeout_is_not_tried_again(stand_ins: StandIns) -> None:
    client = LlmClient(base_url=f"{stand_ins.url}/llm/v1", api_key="k", model="m", timeout=0.3)
    stand_ins.fault("llm", "delay", 1.5, times=1)
    with pytest.raises(LlmTimeout):
        client.complete([user("x")])


@pytest.mark.parametrize(
    "body",
    [
        "<html>gateway</html>",
        "",
        "nul",
        '{"error": {"message": "x"}}',
        '{"choices": []}',
        "[]",
        '"text"',
    ],
)
def test_another_body_under_200_is_a_protocol_error(
    client: LlmClient, stand_ins: StandIns, body: str
) -> None:
    stand_ins.fault("llm", "body", body, times=1)
    with pytest.raises(LlmProtocolError):
        client.complete([user("x")])


def test_missing_usage_is_counted_here(client: LlmClient, stand_ins: StandIns) -> None:
    answer = {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "已入组"},
            }
        ],
        "usage": None,
    }
    stand_ins.fault("llm", "body", json.dumps(answer), times=1)
    done = client.complete([user("P001 入组了吗?")])
    assert done.content == "已入组"
    assert done.usage.input >= 4
    assert done.usage.output >= 1


def test_errors_quote_nobody(client: LlmClient, stand_ins: StandIns) -> None:
    stand_ins.fault("llm", "body", "患者张三 13800138000", times=1)
    with pytest.raises(LlmProtocolError) as caught:
        client.complete([user("x")])
    assert "张三" not in str(caught.value)
    assert "api_key" not in repr(client)
