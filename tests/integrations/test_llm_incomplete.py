"""An answer that its endpoint did not finish is never taken as a whole one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from core.integrations.llm import Completion, LlmClient, LlmIncomplete
from tests.integrations.test_llm_client import TOOL, user
from tests.support.stand_ins import StandIns

CUT = ["length", "content_filter", "insufficient_system_resource", "error", ""]
CALL = {
    "id": "c1",
    "type": "function",
    "function": {"name": "get_project_stats", "arguments": "{}"},
}
Ask = Callable[[LlmClient], Completion]
WAYS: dict[str, Ask] = {
    "complete": lambda client: client.complete([user("回答 json")]),
    "schema": lambda client: client.complete([user("回答 json")], schema={"type": "object"}),
    "tools": lambda client: client.complete([user("x")], tools=[TOOL]),
    "must call": lambda client: client.complete([user("x")], tools=[TOOL], must_call=True),
    "stream": lambda client: client.stream([user("x")]),
}


@pytest.fixture
def client(stand_ins: StandIns) -> LlmClient:
    return LlmClient(base_url=f"{stand_ins.url}/llm/v1", api_key="k", model="", timeout=5)


# A stream without a reason is no stream.
ENDS = [
    (way, reason)
    for way in WAYS
    for reason in [*CUT, "tool_calls", "function_call"]
    if (way, reason) != ("stream", "")
]


@pytest.mark.parametrize(("way", "reason"), ENDS)
def test_words_of_an_unfinished_answer_are_refused(
    client: LlmClient, stand_ins: StandIns, way: str, reason: str
) -> None:
    stand_ins.script({"content": '{"passed": true}', "finish_reason": reason})
    with pytest.raises(LlmIncomplete) as caught:
        WAYS[way](client)
    assert "passed" not in str(caught.value)
    assert caught.value.usage.output > 0


@pytest.mark.parametrize("reason", CUT)
def test_calls_of_an_unfinished_answer_are_refused(
    client: LlmClient, stand_ins: StandIns, reason: str
) -> None:
    stand_ins.script({"tool_calls": [CALL], "finish_reason": reason})
    with pytest.raises(LlmIncomplete):
        WAYS["tools"](client)


@pytest.mark.parametrize("reason", ["tool_calls", "stop"])
def test_calls_that_were_asked_for_are_whole(
    client: LlmClient, stand_ins: StandIns, reason: str
) -> None:
    row: dict[str, Any] = {"tool_calls": [CALL], "finish_reason": reason}
    stand_ins.script(row)
    assert [call.name for call in WAYS["tools"](client).tool_calls] == ["get_project_stats"]


@pytest.mark.full
@pytest.mark.parametrize("way", WAYS)
def test_what_stopped_is_whole(client: LlmClient, stand_ins: StandIns, way: str) -> None:
    stand_ins.script({"content": "好", "finish_reason": "stop"})
    assert WAYS[way](client).content == "好"
