"""An object of a schema: which mode is asked for, how one that is refused is left, and what comes back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.integrations.llm import LlmClient, LlmError, LlmProtocolError, Message, Mode, structured
from core.integrations.llm.client import TRIES
from core.integrations.llm.presets import PRESETS
from core.privacy.gate import Gate
from tests.support.stand_ins import StandIns

SCHEMA = {
    "type": "object",
    "properties": {
        "field": {"type": "string", "enum": ["alt", "ast"], "minLength": 1},
        "note": {"type": ["string", "null"]},
    },
    "required": ["field"],
}
GOOD = '{"field": "alt", "note": null}'


def client(stand_ins: StandIns, preset: str) -> LlmClient:
    url = f"{stand_ins.url}/llm/v1"
    return LlmClient(base_url=url, api_key="k", model="m", preset=preset, sleep=lambda _s: None)


def ask(one: LlmClient, **more: Any) -> dict[str, Any]:
    gate = Gate()
    messages = [Message("system", gate.text("字段")), Message("user", gate.text("P001的ALT, json"))]
    return one.complete(messages, schema=SCHEMA, **more).json()


def bodies(stand_ins: StandIns) -> list[dict[str, Any]]:
    return [json.loads(one["body"]) for one in stand_ins.requests("llm")]


def say(content: str) -> dict[str, Any]:
    return {"role": "assistant", "content": content, "any_request": True}


def call(arguments: str, name: str = structured.NAME) -> dict[str, Any]:
    function = {"name": name, "arguments": arguments}
    one = {"id": "c1", "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [one], "any_request": True}


def refused(message: str, status: int = 400) -> dict[str, Any]:
    return {"status": status, "raw": {"error": {"message": message}}, "any_request": True}


def kinds(stand_ins: StandIns) -> list[str]:
    sent = bodies(stand_ins)
    return [(body.get("response_format") or {"type": "tools"})["type"] for body in sent]


def test_deepseek_calls_a_strict_tool(stand_ins: StandIns) -> None:
    stand_ins.script(call(GOOD))
    assert ask(client(stand_ins, "deepseek-v3")) == {"field": "alt", "note": None}
    (body,) = bodies(stand_ins)
    (tool,) = body["tools"]
    assert tool["function"]["strict"] is True
    assert body["tool_choice"]["function"]["name"] == tool["function"]["name"]
    sent = tool["function"]["parameters"]
    assert sent["required"] == ["field", "note"]
    assert sent["additionalProperties"] is False
    assert "minLength" not in json.dumps(sent)
    assert sent["properties"]["note"] == {"anyOf": [{"type": "string"}, {"type": "null"}]}


def test_deepseek_is_asked_for_it_at_its_beta_address() -> None:
    one = LlmClient(base_url="", api_key="k", model="m", preset="deepseek-v3")
    assert one._address(Mode.TOOLS) == "https://api.deepseek.com/beta"
    assert one._address(Mode.JSON_OBJECT) == ""
    other = LlmClient(
        base_url="https://gw.example.com/v1", api_key="k", model="m", preset="deepseek-v3"
    )
    assert other._address(Mode.TOOLS) == ""


@pytest.mark.parametrize("preset", ["qwen", "local"])
def test_qwen_and_a_local_model_get_the_strict_schema(stand_ins: StandIns, preset: str) -> None:
    stand_ins.script(say(GOOD))
    ask(client(stand_ins, preset))
    (body,) = bodies(stand_ins)
    named = body["response_format"]["json_schema"]
    assert (named["strict"], named["schema"]) == (True, SCHEMA)
    assert "tools" not in body


@pytest.mark.parametrize(
    "message",
    [
        "response_format json_schema is not supported by this model",
        "Invalid schema for response_format 'answer'",
        "'response_format.type' specified is not valid, json_schema",
    ],
)
def test_a_mode_that_is_refused_is_left_for_good(stand_ins: StandIns, message: str) -> None:
    stand_ins.script(refused(message), say(GOOD), say(GOOD))
    one = client(stand_ins, "qwen")
    assert ask(one)["field"] == "alt"
    assert one.mode is Mode.JSON_OBJECT
    ask(one)
    assert kinds(stand_ins) == ["json_schema", "json_object", "json_object"]
    system = bodies(stand_ins)[-1]["messages"][0]
    assert system["role"] == "system"
    assert system["content"].startswith("字段")
    assert '"enum":["alt","ast"]' in system["content"]


@pytest.mark.parametrize(
    "first",
    [
        call('{"field: "alt"}'),
        call("{}", "other"),
        say(""),
        refused("Invalid tool parameters schema: unknown keyword"),
        refused("strict is not available for this model"),
    ],
)
def test_a_strict_tool_that_fails_leads_to_plain_json(
    stand_ins: StandIns, first: dict[str, Any]
) -> None:
    stand_ins.script(first, say(GOOD))
    one = client(stand_ins, "deepseek-v3")
    assert ask(one)["field"] == "alt"
    assert kinds(stand_ins) == ["tools", "json_object"]


@pytest.mark.parametrize("content", ["", "好的", '{"field": "al', "[1]"])
def test_blank_and_cut_json_is_an_error_of_the_protocol(stand_ins: StandIns, content: str) -> None:
    stand_ins.script(say(content))
    with pytest.raises(LlmProtocolError):
        ask(client(stand_ins, "local"))


def test_other_refusals_stay_refusals(stand_ins: StandIns) -> None:
    stand_ins.script(refused("maximum context length exceeded"))
    with pytest.raises(LlmError):
        ask(client(stand_ins, "local"))
    assert kinds(stand_ins) == ["json_schema"]


def test_a_server_that_is_down_is_tried_again_in_the_same_mode(stand_ins: StandIns) -> None:
    stand_ins.script(refused("busy", 503), refused("busy", 503), say(GOOD))
    ask(client(stand_ins, "local"), tries=TRIES)
    assert kinds(stand_ins) == ["json_schema"] * 3


def test_a_known_mode_is_asked_first_but_only_one_that_the_endpoint_has(
    stand_ins: StandIns,
) -> None:
    one = client(stand_ins, "qwen")
    one.mode = Mode.TOOLS
    assert one.modes == (Mode.TOOLS, Mode.JSON_SCHEMA, Mode.JSON_OBJECT)
    other = client(stand_ins, "deepseek-v3")
    other.mode = Mode.JSON_SCHEMA
    assert other.modes == PRESETS["deepseek-v3"].modes


def test_tools_of_the_caller_leave_no_room_for_a_strict_tool(stand_ins: StandIns) -> None:
    own = {"type": "function", "function": {"name": "t", "description": "t", "parameters": {}}}
    stand_ins.script(say(GOOD))
    ask(client(stand_ins, "deepseek-v3"), tools=[own])
    (body,) = bodies(stand_ins)
    assert body["response_format"] == {"type": "json_object"}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["t"]


def test_references_are_written_out() -> None:
    node: dict[str, Any] = {
        "$defs": {
            "Step": {"type": "object", "properties": {"op": {"const": "tell"}}},
            "Tree": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Tree"}}},
        },
        "type": "object",
        "properties": {
            "say": {"type": "array", "maxItems": 8, "items": {"$ref": "#/$defs/Step"}},
            "tree": {"$ref": "#/$defs/Tree"},
        },
    }
    flat = structured.strict(node)
    assert flat["properties"]["say"] == {
        "type": "array",
        "items": {
            "type": "object",
            "properties": {"op": {"enum": ["tell"]}},
            "required": ["op"],
            "additionalProperties": False,
        },
    }
    assert "$ref" not in json.dumps(flat)
