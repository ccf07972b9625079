"""The OpenAI protocol of the stand-in (reference/agents_memory.md 5 and 7)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import openai
import pytest

from tests.simulators.llm_kit import TOOLS, Llm, called, serve_llm, system, tool, user


@pytest.fixture
def llm() -> Iterator[Llm]:
    with serve_llm() as found:
        yield found


CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
ASKED = [user("?"), {"role": "assistant", "content": None, "tool_calls": [CALL]}]
RESULT = {"role": "tool", "tool_call_id": "c1", "content": "1"}


def test_a_completion(llm: Llm) -> None:
    done = llm.create(user("你好"))
    assert done.object == "chat.completion"
    assert done.model == "local"
    assert done.choices[0].message.role == "assistant"
    assert done.choices[0].finish_reason == "stop"
    usage = done.usage
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    assert usage.prompt_tokens > 0


def test_a_silent_model_says_nothing_until_it_is_reset(llm: Llm) -> None:
    llm.silence()
    assert [llm.ask(user("你好")) for _ in range(2)] == ["", ""]
    llm.script()
    assert llm.ask(user("你好"))


def test_the_same_request_gets_the_same_answer(llm: Llm) -> None:
    request = [system("入组 12 例。"), user("入组多少例")]
    first, second = (llm.create(*request, tools=TOOLS).choices[0] for _ in range(2))
    assert first == second


def test_models(llm: Llm) -> None:
    assert "local" in [model.id for model in llm.sdk.models.list()]


@pytest.mark.full
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": None}, "model"),
        ({"messages": None}, "messages"),
        ({"messages": []}, "messages"),
        ({"messages": "hi"}, "list"),
        ({"messages": ["hi"]}, "messages.0"),
        ({"messages": [{"role": "robot", "content": "x"}]}, "messages.0.role"),
        ({"messages": [{"role": "user", "content": None}]}, "content"),
        ({"messages": [{"role": "user", "content": 5}]}, "content"),
        ({"messages": [{"role": "user", "content": [{"type": "image_url"}]}]}, "content"),
        ({"messages": [user("?"), RESULT]}, "preceding message with 'tool_calls'"),
        ({"messages": [*ASKED, {**RESULT, "tool_call_id": "c9"}]}, "preceding"),
        ({"messages": [*ASKED, RESULT, RESULT]}, "preceding"),
        ({"messages": ASKED}, "did not have response messages: c1"),
        ({"messages": [*ASKED, user("错了")]}, "did not have response messages: c1"),
        ({"messages": [user("?"), {"role": "assistant", "tool_calls": [{}]}]}, "tool_calls"),
        ({"messages": [{**ASKED[1], "role": "user"}]}, "tool_calls"),
        ({"temperature": 3}, "temperature"),
        ({"top_p": "x"}, "top_p"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"n": 2}, "'n'"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": {"include_usage": True}}, "stream_options"),
        ({"tools": []}, "tools"),
        ({"tools": [{"type": "function"}]}, "tools.0.function"),
        ({"tools": [tool("bad name", "", [])]}, "name"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"tools": TOOLS, "tool_choice": "maybe"}, "tool_choice"),
        ({"tools": TOOLS, "tool_choice": {"function": {"name": "other"}}}, "Tool choice"),
        ({"response_format": {"type": "xml"}}, "response_format"),
        ({"response_format": {"type": "json_schema"}}, "json_schema"),
        (
            {"response_format": {"type": "json_object"}},
            "'messages' must contain the word 'json'",
        ),
    ],
)
def test_what_it_refuses(llm: Llm, change: dict[str, Any], said: str) -> None:
    answer = llm.raw({"model": "m", "messages": [user("hi")], **change})
    assert answer.status_code == 400
    assert said in answer.json()["error"]["message"]
    assert answer.json()["error"]["type"] == "invalid_request_error"


@pytest.mark.parametrize("body", [b"{oops", b"[]"])
def test_a_body_that_is_no_object(llm: Llm, body: bytes) -> None:
    assert llm.raw(body).status_code == 400


@pytest.mark.full
@pytest.mark.parametrize("key", ["", "Bearer", "Basic abc"])
def test_without_a_key(llm: Llm, key: str) -> None:
    answer = llm.raw({"model": "m", "messages": [user("hi")]}, Authorization=key)
    assert answer.status_code == 401
    assert llm.http.get(f"{llm.url}/llm/v1/models").status_code == 401


def test_other_paths_and_methods(llm: Llm) -> None:
    headers = {"Authorization": "Bearer k"}
    url = f"{llm.url}/llm/v1/chat/completions"
    assert llm.http.get(url, headers=headers).status_code == 405
    assert llm.http.get(f"{llm.url}/llm/v1/nope", headers=headers).status_code == 404


def test_content_may_come_in_parts(llm: Llm) -> None:
    parts = [{"type": "text", "text": "你"}, {"type": "text", "text": "好"}]
    assert llm.ask({"role": "user", "content": parts})


def test_max_tokens_cuts_the_answer(llm: Llm) -> None:
    llm.script({"content": "一二三四五六七八九十" * 10})
    done = llm.create(user("?"), max_tokens=10)
    assert done.choices[0].finish_reason == "length"
    assert done.usage.completion_tokens == 10
    assert ("一二三四五六七八九十" * 10).startswith(done.choices[0].message.content)


def test_streaming_a_text(llm: Llm) -> None:
    question = [system("助手"), system("目前入组 12 例，目标 60 例。"), user("入组多少例")]
    chunks = list(llm.create(*question, stream=True, stream_options={"include_usage": True}))
    text = "".join(c.choices[0].delta.content or "" for c in chunks if c.choices)
    assert text == llm.ask(*question)
    assert [c.choices[0].finish_reason for c in chunks if c.choices][-1] == "stop"
    assert chunks[-1].choices == []
    assert chunks[-1].usage == llm.create(*question).usage
    assert len({chunk.id for chunk in chunks}) == 1


def test_streaming_without_usage(llm: Llm) -> None:
    chunks = list(llm.create(user("你好"), stream=True))
    assert [chunk.usage for chunk in chunks] == [None] * len(chunks)


def test_streaming_tool_calls_in_pieces(llm: Llm) -> None:
    call = {"id": "x1", "function": {"name": "f", "arguments": {"text": "一二三四五六七八九十"}}}
    llm.script({"tool_calls": [call, {**call, "id": "x2"}]})
    names: dict[int, str] = {}
    arguments: dict[int, list[str]] = {}
    for chunk in llm.create(user("?"), tools=TOOLS, stream=True):
        for delta in chunk.choices[0].delta.tool_calls or []:
            if delta.function.name:
                names[delta.index] = delta.function.name
            arguments.setdefault(delta.index, []).append(delta.function.arguments)
    assert names == {0: "f", 1: "f"}
    assert len(arguments[0]) > 2
    assert json.loads("".join(arguments[1])) == {"text": "一二三四五六七八九十"}


def test_a_script_is_answered_in_turn(llm: Llm) -> None:
    call = {"id": "x1", "function": {"name": "f", "arguments": {"a": 1}}}
    llm.script({"content": "一"}, {"tool_calls": [call]}, {"content": "三"})
    assert llm.ask(user("?")) == "一"
    second = llm.create(user("?")).choices[0]
    assert second.finish_reason == "tool_calls"
    assert second.message.tool_calls[0].function.arguments == '{"a": 1}'
    assert llm.ask(user("?")) == "三"
    assert "您好" in llm.ask(user("你好"))


def test_an_empty_script_ends_the_script(llm: Llm) -> None:
    llm.script({"content": "一"}, {"content": "二"})
    llm.script()
    assert "您好" in llm.ask(user("你好"))


def test_scripted_trouble(llm: Llm) -> None:
    llm.script(
        {"status": 429},
        {"raw": "<html>bad gateway</html>", "status": 502, "content_type": "text/html"},
        {"raw": {"error": {"message": "x"}}},
        {"content": "", "finish_reason": "length", "usage": None},
    )
    with pytest.raises(openai.RateLimitError):
        llm.create(user("?"))
    with pytest.raises(openai.InternalServerError):
        llm.create(user("?"))
    assert llm.create(user("?")).choices is None
    last = llm.create(user("?"))
    assert (last.choices[0].finish_reason, last.usage) == ("length", None)


@pytest.mark.full
@pytest.mark.parametrize("body", ["{}", "[1]"])
def test_a_script_must_be_a_list_of_messages(llm: Llm, body: str) -> None:
    assert llm.http.post(f"{llm.url}/_control/llm/script", content=body).status_code == 400


def test_empty_content_until_it_is_switched_off(llm: Llm) -> None:
    llm.configure(empty_content=True)
    llm.http.post(f"{llm.url}/_control/reset")
    assert [llm.ask(user("你好")) for _ in range(2)] == ["", ""]
    llm.configure(empty_content=False, latency_s=0.01)
    assert llm.ask(user("你好"))
    assert llm.configure(nope=1).status_code == 400
    assert llm.http.post(f"{llm.url}/_control/llm/nope").status_code == 404


def test_a_reset_forgets_the_script(llm: Llm) -> None:
    llm.script({"content": "一"})
    llm.http.post(f"{llm.url}/_control/reset")
    assert "您好" in llm.ask(user("你好"))


def test_a_valid_tool_round_is_taken(llm: Llm) -> None:
    rounds = called("get_project_stats", {}, {"入组人数": 12})
    assert llm.ask(user("入组人数是多少"), *rounds, tools=TOOLS) == ""
