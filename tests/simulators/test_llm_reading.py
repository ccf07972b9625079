"""How the LLM stand-in reads: words, ids, sentences, JSON in prose, and sketched schemas."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simulators.llm.material import blobs, json_units, prose_units, split_question
from simulators.llm.protocol import parse
from simulators.llm.schema import kind_of, nullable, resolve, sketched
from simulators.llm.text import asked, count_tokens, cut_tokens, ids, score, terms, weights


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("查询ID 7的患者情况", ["7"]),
        ("P001和p-002、007号", ["P001", "p-002", "007"]),
        ("最近3天、18岁、12例", []),
        ("2026-03-01 的访视", []),
        ("ECOG 1.5", []),
        ("P001 和 P001", ["P001"]),
        ("没有编号", []),
    ],
)
def test_ids(text: str, expected: list[str]) -> None:
    assert ids(text) == expected


def test_terms_are_bigrams_words_and_numbers() -> None:
    assert terms("入组标准 ecog_score 12") == {"入组", "组标", "标准", "ecog", "score", "12"}
    assert asked("请问目前入组多少例了？") == {"入组", "例"}
    assert terms("") == set()


@given(st.text(max_size=300), st.integers(0, 60))
def test_a_cut_keeps_the_start_and_the_limit(text: str, limit: int) -> None:
    kept = cut_tokens(text, limit)
    assert text.startswith(kept)
    assert count_tokens(kept) <= limit
    assert kept == text or count_tokens(text) > limit


@given(
    st.lists(st.frozensets(st.sampled_from("abcdef")), min_size=1),
    st.sets(st.sampled_from("abcdefgh")),
)
def test_a_score_is_a_share(units: list[frozenset[str]], question: set[str]) -> None:
    weight = weights([set(unit) for unit in units])
    for unit in units:
        value = score(question, set(unit), weight)
        assert 0 <= value <= 1.000001
        assert (value > 0) is bool(question & unit)


@given(
    st.text(alphabet="数据: \n，。", max_size=20),
    st.dictionaries(st.text(min_size=1), st.integers() | st.text(), min_size=1),
    st.text(alphabet="请回答。\n", max_size=20),
)
def test_json_is_found_inside_prose(before: str, row: dict[str, Any], after: str) -> None:
    written = json.dumps(row, ensure_ascii=False)
    ((start, end, value),) = blobs(before + written + after)
    assert (before + written + after)[start:end] == written
    assert value == row


@pytest.mark.parametrize("text", ["[文档1] 方案", "{不是 JSON}", "[1]", "{}", "a { b [ c"])
def test_what_is_no_json(text: str) -> None:
    assert list(blobs(text)) == []


def _texts(value: Any) -> list[tuple[str, str]]:
    return [(unit.owner, unit.text) for unit in json_units(value, "tool")]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"record_id": "P1", "age": 5}, [("P1", "age:5")]),
        (
            [{"record_id": "P1", "a": 1}, {"record_id": "P2", "a": 2}],
            [("P1", "a:1"), ("P2", "a:2")],
        ),
        ({"label": "年龄", "value": "56", "unit": "岁"}, [("", "年龄:56"), ("", "unit:岁")]),
        ({"records": ["P1", "P2"]}, [("", "records:P1、P2")]),
        ({"ok": True, "none": None, "blank": "", "list": []}, [("", "ok:是")]),
        (
            {"content": "第一句很长很长很长很长很长很长。" * 3},
            [("", "第一句很长很长很长很长很长很长。")] * 3,
        ),
    ],
)
def test_json_as_label_and_value(value: Any, expected: list[tuple[str, str]]) -> None:
    assert _texts(value) == expected


def test_long_lists_are_cut_and_say_so() -> None:
    ((_, text),) = _texts({"records": list(range(40))})
    assert text.startswith("records:0、1、")
    assert text.endswith("、29 等")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("排除标准:\n1. 甲\n2. 乙", [("排除标准", "甲"), ("排除标准", "乙")]),
        ("5.2 剂量调整\n减量。停药。", [("5.2 剂量调整", "减量。"), ("5.2 剂量调整", "停药。")]),
        ("## 标题\n- **重点** 内容", [("标题", "重点 内容")]),
        ("四、终点\n无进展生存期。", [("四、终点", "无进展生存期。")]),
        ("你必须回答。事实一。", [("", "事实一。")]),
    ],
)
def test_headings_stand_over_their_items(text: str, expected: list[tuple[str, str]]) -> None:
    assert [(unit.context, unit.text) for unit in prose_units(text, "text")] == expected


@pytest.mark.parametrize(
    ("text", "question"),
    [
        ("入组多少例", "入组多少例"),
        ('{"a": 1}\n入组多少例？', "入组多少例？"),
        ("资料一。\n资料二。\n问题: 谁负责随访？", "谁负责随访？"),
        ("请总结:\n- 一\n- 二", "请总结:"),
    ],
)
def test_question_and_attachment(text: str, question: str) -> None:
    assert split_question(text)[0] == question


def _sketch(prompt: str) -> Any:
    return sketched(parse({"model": "m", "messages": [{"role": "system", "content": prompt}]}))


def test_an_example_becomes_a_schema() -> None:
    found = _sketch(
        '以 JSON 回答: {"reason": "理由", "evidence": ["原文"], "passed": true 或 false, '
        '"confidence": 0.0 到 1.0, "type": "A|B", "who": null, "n": 3, "sub": {"x": "y"}}'
    )
    kinds = {name: kind_of(part) for name, part in found["properties"].items()}
    assert kinds == {
        "reason": "string", "evidence": "array", "passed": "boolean", "confidence": "number",
        "type": "string", "who": "string", "n": "integer", "sub": "object",
    }  # fmt: skip
    assert found["properties"]["type"]["enum"] == ["A", "B"]
    assert nullable(found["properties"]["who"])
    assert found["required"] == list(kinds)


def test_a_written_schema_is_taken_as_it_is() -> None:
    schema = {"type": "object", "properties": {"a": {"type": "integer"}}}
    assert _sketch("Schema (json): " + json.dumps(schema)) == schema


@pytest.mark.parametrize("prompt", ["json", "返回 JSON: {", "返回 JSON: {坏的}", "数据 {1, 2}"])
def test_no_sketch(prompt: str) -> None:
    assert _sketch(prompt) is None


def test_references_and_optionals() -> None:
    root = {"$defs": {"A": {"type": "object", "properties": {}}}}
    optional = {"anyOf": [{"$ref": "#/$defs/A"}, {"type": "null"}], "title": "T"}
    assert nullable(optional)
    assert resolve(optional, root) == {"type": "object", "properties": {}, "title": "T"}
    assert kind_of({"type": ["null", "integer"]}) == "integer"
