"""ReAct with a model that has no native tools: the same limits, in plain text (issue 3, ReAct)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.llm import breaker
from core.llm.providers import clients_for
from engines.assistant import texts
from tests.engines.chat.kit import ask, reasons, record, say, steps, trace
from tests.engines.chat.test_react import VAGUE, step
from tests.support.study import Study


@pytest.fixture
def plain(study: Study) -> Study:
    """The endpoint takes no tools."""
    breaker.refused_tools(clients_for(study.project)[0].endpoint)
    return study


def wants(tool: str, **arguments: Any) -> dict[str, str]:
    return say(json.dumps({"tool": tool, "arguments": arguments}, ensure_ascii=False))


def told(*steps: dict[str, Any]) -> dict[str, str]:
    return wants("say", say=list(steps))


@pytest.mark.full
def test_a_call_in_text_is_run_and_its_result_comes_back_as_data(plain: Study) -> None:
    date = record(plain, "P003")["enroll_date"]
    reasons(
        plain,
        wants("read_clinical_data", record_id="P003", fields=["入组日期"]),
        told(step("tell", "F1")),
    )
    assert f"P003 入组日期 {date}" in ask("zhangyi", VAGUE).text
    first, second = steps(plain)
    assert "tools" not in first
    assert "read_clinical_data(record_id, fields)" in first["messages"][0]["content"]
    assert "say(say)" in first["messages"][0]["content"]
    assert second["messages"][-1]["role"] == "user"
    assert second["messages"][-1]["content"].startswith("<data ")
    assert "tool_calls" not in second["messages"][-2]
    assert "react_text.v3" in trace().prompt_version


@pytest.mark.full
def test_a_fenced_call_is_understood(plain: Study) -> None:
    call = json.dumps({"tool": "get_project_stats", "arguments": {}})
    reasons(plain, say(f"```json\n{call}\n```"), told(step("tell", "F2")))
    assert "27" in ask("zhangyi", VAGUE).text
    assert len(steps(plain)) == 2


@pytest.mark.parametrize(
    "content",
    ['{"tool": 3}', '{"tool": "get_project_stats"', '{"arguments": {}}', "{}", "P003已停药"],
)
def test_what_is_no_call_never_reaches_the_reader(plain: Study, content: str) -> None:
    reasons(plain, say(content), told())
    reply = ask("zhangyi", VAGUE)
    assert reply.asked_back
    assert content not in reply.text


@pytest.mark.full
def test_invented_tools_and_repetition_blow_the_fuse(plain: Study) -> None:
    reasons(plain, wants("drop_table"), wants("delete_record"))
    assert ask("zhangyi", VAGUE).text.startswith(texts.FUSE)
    same = wants("read_clinical_data", record_id="P001", fields=["入组日期"])
    reasons(plain, same, same, same)
    assert ask("wanghushi", VAGUE).text.startswith(texts.FUSE)


@pytest.mark.full
def test_five_rounds_and_no_more(plain: Study) -> None:
    reasons(
        plain,
        *[
            wants("read_clinical_data", record_id=f"P00{n}", fields=["ECOG评分"])
            for n in range(1, 8)
        ],
    )
    assert ask("admin", VAGUE).text.startswith(texts.ITERATIONS)
    assert len(steps(plain)) == 5


@pytest.mark.full
def test_an_endpoint_that_refuses_tools_is_asked_in_text_at_once(study: Study) -> None:
    refusal = {"status": 400, "raw": {"error": {"message": "model does not support tools"}}}
    reasons(study, refusal, told())
    ask("zhangyi", VAGUE)
    assert ["tools" in body for body in steps(study)] == [True, False]


@pytest.mark.full
def test_the_trace_keeps_tokens_and_durations(plain: Study) -> None:
    reasons(plain, wants("get_project_stats"), told(step("tell", "F2")))
    ask("zhangyi", VAGUE)
    steps = [item for item in trace().trace if "tokens" in item]
    assert len(steps) == 2
    assert all(item["tokens"] > 0 and item["duration"] >= 0 for item in steps)
