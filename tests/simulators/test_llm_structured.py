"""Structured output: verdicts with quotes, extraction, choices, and the emptiest valid rest."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.simulators.llm_kit import TOOLS, Llm, called, serve_llm, system, user

TASK = "检查既往史,排除间质性肺炎、活动性感染、严重心血管疾病。"
VERDICT = {
    "type": "object",
    "properties": {
        "reason": {"type": "string"},
        "evidence": {"type": "array", "items": {"$ref": "#/$defs/Quote"}},
        "passed": {"type": "boolean"},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1},
    },
    "required": ["reason", "evidence", "passed", "confidence"],
    "$defs": {
        "Quote": {
            "type": "object",
            "properties": {"field": {"type": "string"}, "quote": {"type": "string"}},
            "required": ["field", "quote"],
        }
    },
}
SKETCH = (
    f"你是质控专家。指令: {TASK}\n请返回 JSON 格式:\n"
    '{\n"passed": true/false,\n"reason": "判断理由",\n"confidence": 0.0-1.0,\n"evidence": "证据"\n}'
)


@pytest.fixture(scope="module")
def llm() -> Iterator[Llm]:
    with serve_llm() as found:
        yield found


def history(text: str) -> dict[str, Any]:
    row = {"record_id": "P001", "既往史": text}
    return user("数据: " + json.dumps(row, ensure_ascii=False))


@pytest.mark.parametrize(
    ("text", "passed", "confidence", "quotes"),
    [
        ("高血压病史5年,无间质性肺炎", False, 0, []),
        ("否认间质性肺炎、活动性感染及严重心血管疾病史", True, 0.85, None),
        ("高血压病史5年，否认其他病史", True, 0.85, ["否认其他病史"]),
        ("无间质性肺炎；无活动性感染；无严重心血管疾病", True, 0.85, None),
        ("无心血管疾病，无间质性肺炎，无活动性感染", True, 0.85, None),
        ("无特殊", True, 0.85, ["无特殊"]),
        ("间质性肺炎病史3年", False, 0.9, ["间质性肺炎病史3年"]),
        ("否认活动性感染，但有间质性肺炎", False, 0.9, ["但有间质性肺炎"]),
        ("无发热但有间质性肺炎", False, 0.9, ["无发热但有间质性肺炎"]),
        ("不排除间质性肺炎", False, 0.9, ["不排除间质性肺炎"]),
        ("间质性肺炎待排", False, 0.9, ["间质性肺炎待排"]),
        ("无间质性肺炎。2024年间质性肺炎", False, 0.9, ["2024年间质性肺炎"]),
        ("阑尾炎手术史", False, 0, []),
        ("心血管疾病", False, 0, []),
        ("", False, 0, []),
    ],
)
def test_a_verdict_on_listed_exclusions(
    llm: Llm, text: str, passed: bool, confidence: float, quotes: list[str] | None
) -> None:
    found = llm.filled(VERDICT, system(TASK), history(text))
    assert (found["passed"], found["confidence"]) == (passed, confidence)
    assert found["reason"]
    given = [item["quote"] for item in found["evidence"]]
    assert quotes is None or given == quotes
    assert all(quote in history(text)["content"] for quote in given)


def test_the_instruction_is_no_evidence(llm: Llm) -> None:
    alone = user(f"指令: {TASK} 数据: {{}} 请返回 JSON。")
    assert llm.filled(VERDICT, alone)["confidence"] == 0
    repeated = user(json.dumps({"instruction": TASK, "既往史": "阑尾炎"}, ensure_ascii=False))
    assert llm.filled(VERDICT, system(TASK), repeated)["confidence"] == 0
    told = user(f"指令: {TASK}\n既往史: 活动性感染")
    assert [row["quote"] for row in llm.filled(VERDICT, told)["evidence"]] == ["既往史: 活动性感染"]


def test_the_evidence_names_the_field(llm: Llm) -> None:
    found = llm.filled(VERDICT, system(TASK), history("既往体健"))
    assert found["evidence"] == [{"field": "既往史", "quote": "既往体健"}]


def test_a_field_with_a_negative_value(llm: Llm) -> None:
    row = user('{"record_id": "P001", "间质性肺炎": "无", "活动性感染": "否"}')
    found = llm.filled(VERDICT, system("排除间质性肺炎、活动性感染。"), row)
    assert found["passed"] is True
    assert [item["quote"] for item in found["evidence"]] == ['间质性肺炎": "无', '活动性感染": "否']
    assert all(item["quote"] in row["content"] for item in found["evidence"])


def test_data_lines_with_places_before_them(llm: Llm) -> None:
    lines = "[筛选期 病史] 既往史: 无特殊\n[筛选期 病史] 手术史: 阑尾炎"
    assert llm.filled(VERDICT, system(TASK), user(lines))["passed"] is True
    ill = llm.filled(VERDICT, system(TASK), user(lines + "\n[第1次] 备注: 活动性感染"))
    assert ill["evidence"][0]["quote"] in lines + "\n[第1次] 备注: 活动性感染"
    assert (ill["passed"], ill["confidence"]) == (False, 0.9)


def test_english_exclusions(llm: Llm) -> None:
    task = system("Exclude interstitial pneumonia and active infection.")
    ill = user('{"history": "active infection in May"}')
    well = user('{"history": "denies interstitial pneumonia, no active infection"}')
    assert llm.filled(VERDICT, task, ill)["passed"] is False
    assert llm.filled(VERDICT, task, well)["passed"] is True


@pytest.mark.parametrize(
    "task", ["检查知情同意书签署日期是否早于所有检查", "根据用户画像选择合适的通知方式"]
)
def test_what_it_cannot_ground_is_not_passed(llm: Llm, task: str) -> None:
    found = llm.filled(VERDICT, system(task), history("知情同意书已签署"))
    assert (found["passed"], found["confidence"], found["evidence"]) == (False, 0, [])


def test_json_object_by_the_example_in_the_prompt(llm: Llm) -> None:
    text = llm.ask(system(SKETCH), history("无特殊"), response_format={"type": "json_object"})
    found = json.loads(text)
    assert list(found) == ["passed", "reason", "confidence", "evidence"]
    assert (found["passed"], found["confidence"], found["evidence"]) == (True, 0.85, "无特殊")


def test_a_tool_is_read_before_an_ungrounded_verdict(llm: Llm) -> None:
    form = {"type": "json_object"}
    nothing = user('数据: {"record_id": "P001"}')
    assert ("read_clinical_data", {"record_id": "P001"}) in llm.calls(
        system(SKETCH), nothing, response_format=form
    )
    assert llm.calls(system(SKETCH), history("无特殊"), response_format=form) == []
    rounds = called("read_clinical_data", {}, {"record_id": "P001", "既往史": "活动性感染"})
    answer = llm.ask(system(SKETCH), nothing, *rounds, tools=TOOLS, response_format=form)
    assert json.loads(answer)["evidence"] == "活动性感染"


def test_a_verdict_asked_again_stays(llm: Llm) -> None:
    first = llm.ask(system(SKETCH), history("无特殊"), response_format={"type": "json_object"})
    form = {"type": "json_object"}
    remark = user("上一个回答没有通过检查: evidence。请改正后重新以 JSON 回答。")
    before = {"role": "assistant", "content": first}
    again = llm.ask(system(SKETCH), history("无特殊"), before, remark, response_format=form)
    assert again == first


def test_a_verdict_as_a_forced_tool(llm: Llm) -> None:
    function = {"name": "verdict", "description": "给出判断", "parameters": VERDICT}
    named = {"type": "function", "function": {"name": "verdict"}}
    tools = [{"type": "function", "function": function}]
    ((_, found),) = llm.calls(system(TASK), history("无特殊"), tools=tools, tool_choice=named)
    assert (found["passed"], found["confidence"]) == (True, 0.85)


EXTRACTION = (
    "从用户的话中提取个人信息，以 JSON 返回: "
    '{"items":[{"type":"FACT|PREFERENCE|INTENT","field":"字段","value":"值","evidence":"原文"}]}'
)


def extract(llm: Llm, text: str) -> list[dict[str, Any]]:
    answer = llm.ask(system(EXTRACTION), user(text), response_format={"type": "json_object"})
    items: list[dict[str, Any]] = json.loads(answer)["items"]
    return items


def test_extraction_quotes_the_user(llm: Llm) -> None:
    text = "我的职称是主治医师，以后别发长消息。P001的ECOG是多少？"
    fact, preference = extract(llm, text)
    assert fact == {
        "type": "FACT", "field": "职称", "value": "主治医师", "evidence": "我的职称是主治医师",
    }  # fmt: skip
    assert preference["type"] == "PREFERENCE"
    assert preference["evidence"] in text


@pytest.mark.parametrize("text", ["P001的ECOG是多少？", "你好", "感谢您的帮助", "患者年龄56岁"])
def test_nothing_is_extracted_from_what_says_nothing_about_the_user(llm: Llm, text: str) -> None:
    assert extract(llm, text) == []


def test_unknown_values_are_null_or_empty(llm: Llm) -> None:
    schema = {
        "type": "object",
        "properties": {
            "title": {"anyOf": [{"type": "string"}, {"type": "null"}], "description": "职称"},
            "hospital": {"type": ["string", "null"], "description": "医院"},
            "years": {"type": "integer", "description": "工作年限"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "active": {"type": "boolean"},
            "kind": {"const": "profile"},
            "detail": {"type": "object", "properties": {"level": {"enum": ["low", "unknown"]}}},
        },
    }
    found = llm.filled(schema, user("我的职称是主治医师"))
    assert found == {
        "title": "主治医师", "hospital": None, "years": 0, "tags": [], "active": False,
        "kind": "profile", "detail": {"level": "unknown"},
    }  # fmt: skip


def test_a_choice_by_the_descriptions_in_the_prompt(llm: Llm) -> None:
    prompt = system(
        '判断意图，返回 JSON: {"intents":["query_record|count_records|general_chat"],'
        '"record_ids":["编号"]}\nquery_record: 查询某个受试者的数据\n'
        "count_records: 统计入组人数\ngeneral_chat: 闲聊"
    )
    form = {"type": "json_object"}
    found = json.loads(llm.ask(prompt, user("帮我统计一下入组人数"), response_format=form))
    assert found == {"intents": ["count_records"], "record_ids": []}
    found = json.loads(llm.ask(prompt, user("查询受试者P007的数据"), response_format=form))
    assert found == {"intents": ["query_record"], "record_ids": ["P007"]}


def test_a_summary_property_is_answered_from_the_data(llm: Llm) -> None:
    schema = {"type": "object", "properties": {"summary": {"type": "string"}}}
    task = user("请总结:\n" + json.dumps({"enrolled": 3, "queries": 4}))
    assert llm.filled(schema, task) == {"summary": "enrolled:3；queries:4。"}


def test_json_without_any_schema(llm: Llm) -> None:
    text = llm.ask(user("入组多少例? answer in json"), response_format={"type": "json_object"})
    assert list(json.loads(text)) == ["answer"]
