"""Schemas that the stand-in fills: with words of the request, and with nothing where it is not sure."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulators.llm_kit import Llm, serve_llm, system, tool, user


@pytest.fixture
def llm() -> Iterator[Llm]:
    with serve_llm() as found:
        yield found


VERDICT = {
    "type": "object",
    "properties": {
        "reason": {"type": "string"},
        "evidence": {"type": "array", "items": {"type": "string"}},
        "passed": {"type": "boolean"},
        "confidence": {"type": "number"},
    },
    "required": ["reason", "evidence", "passed", "confidence"],
}
ORDER = system("指令: 检查既往史，排除间质性肺炎、活动性感染、严重心血管疾病。")
STEP = {
    "type": "object",
    "properties": {
        "op": {"type": "string", "enum": ["tell", "rows"]},
        "of": {"type": "array", "items": {"type": "string", "enum": ["F1", "F2"]}},
    },
}
SAY = {"type": "object", "properties": {"say": {"type": "array", "items": STEP}}}
ASK = {
    "type": "object",
    "properties": {
        "shape": {"type": "string", "enum": ["value", "series"]},
        "subjects": {"type": "array", "items": {"type": "string", "enum": ["P001", "P002"]}},
        "search": {"type": "string"},
    },
}


@pytest.mark.parametrize(
    ("history", "passed", "quotes"),
    [
        (
            "既往体健。否认间质性肺炎、活动性感染、严重心血管疾病。",
            True,
            ["否认间质性肺炎、活动性感染、严重心血管疾病"],
        ),
        (
            "2019年诊断间质性肺炎。否认活动性感染、严重心血管疾病。",
            False,
            ["2019年诊断间质性肺炎"],
        ),
    ],
)
def test_a_verdict_quotes_what_it_rests_on(
    llm: Llm, history: str, passed: bool, quotes: list[str]
) -> None:
    found = llm.filled(VERDICT, ORDER, user(f"受试者 P001 的数据:\n[筛选] 既往史: {history}"))
    assert found["passed"] is passed
    assert found["confidence"] >= 0.8
    assert [quote.rpartition(": ")[2] for quote in found["evidence"]] == quotes
    assert all(quote in history or history.startswith(quote[-8:]) for quote in quotes)


@pytest.mark.full
@pytest.mark.parametrize(
    "history", ["既往体健。", "细菌性肺部感染。否认间质性肺炎、严重心血管疾病。", ""]
)
def test_silence_about_a_condition_is_no_verdict(llm: Llm, history: str) -> None:
    found = llm.filled(VERDICT, ORDER, user(f"既往史: {history}"))
    assert (found["passed"], found["confidence"], found["evidence"]) == (False, 0, [])


def test_a_verdict_by_its_tool(llm: Llm) -> None:
    offered = tool("give_verdict", "提交", [])
    offered["function"]["parameters"] = VERDICT
    data = user("既往史: 否认间质性肺炎、活动性感染、严重心血管疾病。")
    ((name, arguments),) = llm.calls(ORDER, data, tools=[offered])
    assert (name, arguments["passed"]) == ("give_verdict", True)


def test_a_plan_is_empty_where_nothing_says_what_to_choose(llm: Llm) -> None:
    lines = "[F1] P001 · ALT · V1 = 30\n[F2] P001 · ALT · V2 = 31"
    assert llm.filled(SAY, system(lines), user("P001的ALT是多少")) == {"say": []}


def test_a_forced_tool_is_called_and_others_are_left_alone(llm: Llm) -> None:
    offered = tool("say", "", [])
    offered["function"]["parameters"] = SAY
    named = {"type": "function", "function": {"name": "say"}}
    other = tool("read", "读取", [])
    for choice in (named, "required"):
        assert llm.calls(user("?"), tools=[other, offered], tool_choice=choice) == [
            ("say", {"say": []})
        ]
    assert llm.calls(user("?"), tools=[other, offered]) == []


def test_a_choice_that_can_not_be_told_leaves_the_object_empty(llm: Llm) -> None:
    found = llm.filled(ASK, user("P002的ALT老是忽上忽下"))
    assert found["subjects"] == []
    assert found["search"] == ""


def test_options_that_stand_in_the_question_are_chosen(llm: Llm) -> None:
    found = llm.filled(ASK, user("P002 series"))
    assert (found["shape"], found["subjects"]) == ("series", ["P002"])


def test_rows_of_lines_that_hold_the_words_of_an_option(llm: Llm) -> None:
    entry = {
        "type": "object",
        "properties": {
            "section": {"type": "string", "enum": ["decision", "todo"]},
            "text": {"type": "string"},
            "row": {"type": "integer"},
            "quote": {"type": "string"},
        },
    }
    schema = {"type": "object", "properties": {"entries": {"type": "array", "items": entry}}}
    told = "section: decision 决定或判定;todo 待办事项。\n[1] 用户1: 我们决定暂停入组\n[2] 用户2: 天气不错"
    row = {"section": "decision", "text": "我们决定暂停入组", "row": 1, "quote": "我们决定暂停入组"}
    assert llm.filled(schema, user(told)) == {"entries": [row]}


def test_facts_of_a_user_by_the_labels_of_the_fields(llm: Llm) -> None:
    item = {
        "type": "object",
        "properties": {
            "field": {"type": "string", "enum": ["department", "age"]},
            "value": {"type": "string"},
            "quote": {"type": "string"},
        },
    }
    schema = {"type": "object", "properties": {"items": {"type": "array", "items": item}}}
    fields = system("【字段】\n- department: 科室\n- age: 年龄")
    found = llm.filled(schema, fields, user("我的科室是肿瘤科。今天下雨"))["items"]
    assert found == [{"field": "department", "value": "肿瘤科", "quote": "我的科室是肿瘤科"}]
    assert llm.filled(schema, fields, user("你好")) == {"items": []}


def test_plain_json_by_the_schema_in_the_prompt(llm: Llm) -> None:
    told = system(f"只返回一个 JSON 对象:\n{json.dumps(SAY, ensure_ascii=False)}")
    answer = llm.ask(told, user("?"), response_format={"type": "json_object"})
    assert json.loads(answer) == {"say": []}
    nothing: dict[str, Any] = json.loads(
        llm.ask(user("json"), response_format={"type": "json_object"})
    )
    assert nothing == {}


def test_references_and_nothing(llm: Llm) -> None:
    schema = {
        "$defs": {"Step": STEP},
        "type": "object",
        "properties": {
            "step": {"$ref": "#/$defs/Step"},
            "note": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "n": {"type": ["integer", "null"]},
            "is": {"type": "boolean"},
        },
    }
    found = llm.filled(schema, user("?"))
    assert (found["note"], found["n"], found["is"]) == (None, None, False)
    assert found["step"]["of"] == []
