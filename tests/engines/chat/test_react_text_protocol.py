"""ReAct with a model that has no native tools: the same limits, in plain text (issue 3, ReAct)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from engines.assistant.chat import texts
from llm import breaker
from llm.providers import clients_for
from tests.engines.chat.kit import ask, prompts, record, say, trace
from tests.support.study import Study

VAGUE = "帮我查下最近那个爱抱怨的病人是谁"


@pytest.fixture
def plain(study: Study) -> Study:
    """The endpoint takes no tools."""
    breaker.refused_tools(clients_for(study.project)[0].endpoint)
    return study


def wants(tool: str, **arguments: Any) -> dict[str, str]:
    return say(json.dumps({"tool": tool, "arguments": arguments}, ensure_ascii=False))


def test_a_call_in_text_is_run_and_its_result_comes_back_as_data(plain: Study) -> None:
    date = record(plain, "P003")["enroll_date"]
    plain.stand_ins.script(
        wants("read_clinical_data", record_id="P003", fields=["入组日期"]),
        say(f"P003 入组日期 {date}。"),
    )
    assert ask("zhangyi", VAGUE).text == f"P003 入组日期 {date}。"
    first, second = prompts(plain)
    assert "tools" not in first
    assert "read_clinical_data(record_id, fields)" in first["messages"][0]["content"]
    assert second["messages"][-1]["role"] == "user"
    assert second["messages"][-1]["content"].startswith("<data ")
    assert "tool_calls" not in second["messages"][-2]
    assert "react_text.v2" in trace().prompt_version


def test_a_fenced_call_is_understood(plain: Study) -> None:
    call = json.dumps({"tool": "get_project_stats", "arguments": {}})
    plain.stand_ins.script(say(f"```json\n{call}\n```"), say("请您说明是哪位受试者。"))
    assert ask("zhangyi", VAGUE).text == "请您说明是哪位受试者。"
    assert len(prompts(plain)) == 2


@pytest.mark.parametrize(
    "content", ['{"tool": 3}', '{"tool": "get_project_stats"', '{"arguments": {}}', "{}"]
)
def test_what_is_no_call_never_reaches_the_reader_as_a_fact(plain: Study, content: str) -> None:
    plain.stand_ins.script(say(content), say("请您说明。"))
    reply = ask("zhangyi", VAGUE)
    assert reply.text
    assert "read_clinical_data" not in reply.text


def test_invented_tools_and_repetition_blow_the_fuse(plain: Study) -> None:
    plain.stand_ins.script(wants("drop_table"), wants("delete_record"), say("-"))
    assert ask("zhangyi", VAGUE).text.startswith(texts.FUSE)
    same = wants("read_clinical_data", record_id="P001", fields=["入组日期"])
    plain.stand_ins.script(same, same, same)
    assert ask("wanghushi", VAGUE).text.startswith(texts.FUSE)


def test_five_rounds_and_no_more(plain: Study) -> None:
    script = [
        wants("read_clinical_data", record_id=f"P00{n}", fields=["ECOG评分"]) for n in range(1, 8)
    ]
    plain.stand_ins.script(*script)
    assert ask("admin", VAGUE).text.startswith(texts.ITERATIONS)
    assert len(prompts(plain)) == 5


def test_an_endpoint_that_refuses_tools_is_asked_in_text_at_once(study: Study) -> None:
    refusal = {"status": 400, "raw": {"error": {"message": "model does not support tools"}}}
    study.stand_ins.script(refusal, say("请您说明是哪位受试者。"))
    assert ask("zhangyi", VAGUE).text == "请您说明是哪位受试者。"
    assert ["tools" in body for body in prompts(study)] == [True, False]
    study.stand_ins.script(say("请您说明是哪位受试者。"))
    ask("zhangyi", VAGUE)
    assert "tools" not in prompts(study)[-1]


def test_the_trace_keeps_tokens_and_durations(plain: Study) -> None:
    plain.stand_ins.script(wants("get_project_stats"), say("请您说明是哪位受试者。"))
    ask("zhangyi", VAGUE)
    steps = [item for item in trace().trace if "tokens" in item]
    assert len(steps) == 2
    assert all(item["tokens"] > 0 and item["duration"] >= 0 for item in steps)
