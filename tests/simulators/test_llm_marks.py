"""Scripted answers with marks: `{a|b|c}` becomes the mark of the first line that holds all the tokens."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulators.llm_kit import Llm, serve_llm, user
from tests.simulators.test_llm_structured import VERDICT

LINES = """[F1] P003 · 谷丙转氨酶ALT(U/L) · V1 · 2026-08-02 = 30
- [F3] P016 · 谷丙转氨酶ALT（U/L） · V2 · 2026-09-03 = 185 (高于上限 40)
[F4] P016 · 谷丙转氨酶ALT(U/L) · V2 · 2026-09-03 = 185
[D1] 方案 §6.7 SAE报告: 研究者获知后
24 小时内上报
[W12a] 第12周决定暂停筛选
</data ab12cd>
脚注:中位数
"""


@pytest.fixture(scope="module")
def llm() -> Iterator[Llm]:
    with serve_llm() as found:
        yield found


def request(*more: dict[str, Any]) -> list[dict[str, Any]]:
    return [{"role": "system", "content": LINES}, *more, user("P016 的 ALT?")]


@pytest.mark.parametrize(
    ("said", "answer"),
    [
        ("V2 升至 185{P016|ALT|V2|185}。", "V2 升至 185[F3]。"),
        ("{P016|ALT(U/L)|高于上限40}", "[F3]"),  # width and spaces do not count
        ("24 小时{D1|24小时}", "24 小时[D1]"),  # a passage goes on over lines
        ("{暂停筛选}和{P003|30}", "[W12a]和[F1]"),
        ("没有{P099|ALT}的", "没有的"),
        ("{脚注|中位数}", ""),  # behind the end of a block
        ("{P003|谷丙转氨酶|185}", ""),  # not over two lines
        ("用户说 {P016 的 ALT}", "用户说 "),  # the question is no numbered line
        ('{"tool": "x", "arguments": {"a": 1}}', '{"tool": "x", "arguments": {"a": 1}}'),
        ("没有占位符", "没有占位符"),
    ],
)
def test_a_placeholder_becomes_the_mark(llm: Llm, said: str, answer: str) -> None:
    llm.script({"content": said})
    assert llm.ask(*request()) == answer


def test_the_arguments_of_a_tool_call_hold_marks(llm: Llm) -> None:
    arguments = '{"say": [{"op": "tell", "of": ["{P016|ALT}"]}]}'
    function = {"name": "say", "arguments": arguments}
    call = {"id": "call_1", "type": "function", "function": function}
    llm.script({"content": None, "tool_calls": [call]})
    offered = {
        "type": "function",
        "function": {"name": "say", "description": "答", "parameters": {}},
    }
    message = llm.create(*request(), tools=[offered]).choices[0].message
    assert message.tool_calls
    assert message.tool_calls[0].function.arguments == arguments.replace("{P016|ALT}", "[F3]")


def test_what_the_assistant_said_is_no_source(llm: Llm) -> None:
    llm.script({"content": "{P050}"})
    before = {"role": "assistant", "content": "[F9] P050 的记录"}
    assert llm.ask(*request(user("?"), before)) == ""


def test_a_script_waits_for_a_request_for_prose(llm: Llm) -> None:
    llm.script({"content": "一"}, {"content": "二"})
    form = {"type": "json_schema", "json_schema": {"name": "v", "schema": VERDICT}}
    structured = llm.ask(user("根据资料判断,用 json 回答"), response_format=form)
    assert structured not in ("一", "二")
    function = {"name": "verdict", "description": "给出判断", "parameters": VERDICT}
    offered: dict[str, Any] = {"tools": [{"type": "function", "function": function}]}
    forced = llm.create(user("判断"), **offered, tool_choice="required").choices[0]
    assert forced.message.tool_calls
    assert llm.create(user("判断"), **offered).choices[0].message.content == "一"
    assert llm.ask(user("?")) == "二"


def test_one_for_any_request_answers_word_for_word(llm: Llm) -> None:
    llm.script({"content": '{"x": "{P016|ALT}"}', "any_request": True})
    form = {"type": "json_object"}
    assert llm.ask(*request(user("json")), response_format=form) == '{"x": "{P016|ALT}"}'
