"""Which tool is called, and with what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulators.llm_kit import TOOLS, Llm, called, serve_llm, system, tool, user


@pytest.fixture(scope="module")
def llm() -> Iterator[Llm]:
    with serve_llm() as found:
        yield found


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("P003的访视有没有超窗", [("check_visit_window", {"record_id": "P003"})]),
        ("看看P003的临床数据", [("read_clinical_data", {"record_id": "P003"})]),
        ("现在入组进度如何", [("get_project_stats", {})]),
        ("方案里对合并用药怎么规定", [("search_protocol", {"query": "方案里对合并用药怎么规定"})]),
        (
            "P003和P004的临床数据对比",
            [("read_clinical_data", {"record_id": r}) for r in ("P003", "P004")],
        ),
        ("你好", []),
        ("今天天气怎么样", []),
    ],
)
def test_by_the_words_of_the_schema(llm: Llm, question: str, expected: Any) -> None:
    assert llm.calls(system("助手"), user(question)) == expected


def test_one_call_where_parallel_calls_are_off(llm: Llm) -> None:
    found = llm.calls(user("P003和P004的临床数据对比"), parallel_tool_calls=False)
    assert found == [("read_clinical_data", {"record_id": "P003"})]


def test_no_call_once_there_is_a_result(llm: Llm) -> None:
    question = user("看看P003的临床数据")
    rounds = called("read_clinical_data", {"record_id": "P003"}, {"record_id": "P003", "年龄": 5})
    assert llm.calls(question, *rounds) == []
    remark = user("工具调用失败，请直接根据已有信息判断。")
    assert llm.calls(question, *rounds, remark) == []


def test_the_next_question_may_call_again(llm: Llm) -> None:
    rounds = called("read_clinical_data", {"record_id": "P003"}, {"record_id": "P003", "年龄": 5})
    talk = [user("看看P003的临床数据"), *rounds, {"role": "assistant", "content": "P003：年龄:5。"}]
    found = llm.calls(*talk, user("他的访视窗口呢？"))
    assert found == [("check_visit_window", {"record_id": "P003"})]


def test_tool_choice(llm: Llm) -> None:
    question = user("今天天气怎么样")
    assert llm.calls(user("看看P003的临床数据"), tool_choice="none") == []
    assert len(llm.calls(question, tool_choice="required")) == 1
    named = {"type": "function", "function": {"name": "search_protocol"}}
    assert llm.calls(question, tool_choice=named) == [
        ("search_protocol", {"query": "今天天气怎么样"})
    ]


FINDINGS = tool(
    "list_findings", "列出质控发现", [],
    status={"type": "string", "enum": ["open", "closed"], "description": "open=未关闭的,closed=已关闭的"},
    days={"type": "integer", "description": "最近天数", "default": 7},
    since={"type": "string", "description": "起始日期"},
    records={"type": "array", "items": {"type": "string"}, "description": "受试者编号"},
)  # fmt: skip


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("列出 open 的质控发现", {"status": "open", "days": 7}),
        ("列出未关闭的质控发现", {"status": "open", "days": 7}),
        ("列出最近30天的质控发现", {"days": 30}),
        ("2026-03-01以来的质控发现", {"days": 7, "since": "2026-03-01"}),
        ("列出P001和P002的质控发现", {"days": 7, "records": ["P001", "P002"]}),
    ],
)
def test_arguments_by_their_descriptions(llm: Llm, question: str, expected: dict[str, Any]) -> None:
    ((name, found),) = llm.calls(user(question), tools=[*TOOLS, FINDINGS])
    assert name == "list_findings"
    assert found == expected


def test_a_tool_whose_argument_is_unknown_is_not_called(llm: Llm) -> None:
    assert llm.calls(user("看看临床数据"), tools=TOOLS[:1]) == []


def test_forced_arguments_are_complete(llm: Llm) -> None:
    named = {"type": "function", "function": {"name": "read_clinical_data"}}
    ((_, found),) = llm.calls(user("随便"), tool_choice=named)
    assert found == {"record_id": ""}
