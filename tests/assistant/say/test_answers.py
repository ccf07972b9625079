"""The plain answer to a question, from its queries: the text as a colleague would write it."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from engines.assistant.read.question import Question, Shape, Topic
from engines.assistant.say.answer import Said
from engines.assistant.say.answer import say_answer as answer
from engines.assistant.say.sheet import Line, Source
from tests.assistant.say.studies import STUDIES, reader_of, sheet

CASES = [json.loads(line) for line in (Path(__file__).parent / "answers.jsonl").open()]
INTERNAL = re.compile(r"@[a-z]|_arm_|None|Decimal|[a-z]+_[a-z]+|{|\[|\x00")


def said(case: dict[str, Any], **more: Any) -> Said:
    """The answer to the questions of a case."""
    study = STUDIES[case.get("study", "demo")]()
    reader = reader_of(study, case.get("user", "zhangyi"), **more)
    asked = [(Question.from_json(one["question"]), one["queries"]) for one in case["asked"]]
    with translation.override(reader.language):
        return answer(sheet(reader, study, asked), reader)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["q"])
def test_the_answer_reads_so(case: dict[str, Any]) -> None:
    assert said(case).text == case["text"]


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["q"])
def test_in_any_room_things_stand_whole_and_what_is_left_out_is_counted(
    case: dict[str, Any],
) -> None:
    whole = " ".join(one.text for one in said(case, limit=5000).told)
    for limit in (40, 80, 150):
        short = said(case, limit=limit)
        sentences = [line for line in short.text.splitlines() if "未列出" not in line]
        assert len(short.text) <= limit or len(sentences) == 1
        assert short.is_whole or re.search(r"列出|未列出", short.text), short.text
        assert not INTERNAL.search(short.text), short.text
        for figure in re.findall(r"\d+\.\d+", short.text):
            assert figure in whole


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["q"])
def test_each_sentence_rests_on_lines_of_the_sheet(case: dict[str, Any]) -> None:
    study = STUDIES[case.get("study", "demo")]()
    reader = reader_of(study, case.get("user", "zhangyi"))
    asked = [(Question.from_json(one["question"]), one["queries"]) for one in case["asked"]]
    made = sheet(reader, study, asked)
    for one in answer(made, reader).told:
        assert all(made.line(mark) for mark in one.marks)
        assert one.marks or not made.lines


def of(message: str) -> dict[str, Any]:
    """The case of a message."""
    return next(case for case in CASES if case["q"] == message)


def test_the_time_of_an_old_reading_and_an_outage_is_told() -> None:
    assert said(of("P021体重和身高"), fresh_minutes=10).text.endswith(
        ";数据截至 2026-11-23 09:00。"
    )
    outage = (datetime(2026, 11, 23, 1, 20, tzinfo=UTC), "REDCap 无响应")
    assert said(of("入组多少例"), outage=outage).text.endswith("09:00:REDCap 无响应。")


def test_what_day_one_is_is_said_once_a_window_is_told() -> None:
    text = said(of("P013下次访视是哪个"), says_anchor=True, limit=300).text
    assert text.endswith(";锚定日为 Day 1。")
    assert "Day 1" not in said(of("P021体重和身高"), says_anchor=True).text


def test_a_subject_of_another_site_reads_like_one_that_does_not_exist() -> None:
    foreign, absent = said(of("P001的年龄")).text, said(of("P099的年龄")).text
    assert foreign.replace("P001", "P099") == absent


def test_what_people_typed_is_masked_in_text_lines_and_table() -> None:
    masked = said(of("谁得过恶心"), masked=lambda text: text.replace("恶心", "[x]"))
    assert "[x]" in masked.text
    assert not any("恶心" in cell for row in masked.table.rows for cell in row)


def test_the_table_holds_what_the_text_leaves_out() -> None:
    made = said(of("所有AE列一下"))
    assert not made.is_whole
    subjects = {row[0] for row in made.table.rows}
    assert len(subjects) == 18
    assert all(len(row) == len(made.table.header) for row in made.table.rows)


def test_an_english_reader_reads_english_sentences() -> None:
    made = said(of("P016最近三次ALT"), language="en", limit=300)
    assert made.text.startswith("P016 latest 3 readings of 谷丙转氨酶ALT: V2 185 U/L")
    assert made.text.endswith("falling each time.")


@pytest.mark.full
@pytest.mark.parametrize("shape", list(Shape))
def test_whatever_shape_a_question_takes_its_facts_are_told(shape: Shape) -> None:
    for case in CASES[::3]:
        study = STUDIES[case.get("study", "demo")]()
        reader = reader_of(study, case.get("user", "zhangyi"))
        asked = [
            (replace(Question.from_json(one["question"]), shape=shape), one["queries"])
            for one in case["asked"]
        ]
        with translation.override(reader.language):
            text = answer(sheet(reader, study, asked), reader).text
        assert text, case["q"]
        assert not INTERNAL.search(text), (case["q"], text)


def test_who_may_be_enrolled_is_answered_by_findings_and_rules_beside_the_values() -> None:
    study = STUDIES["worked"]()
    reader = reader_of(study, limit=300)
    question = Question(Topic.ELIGIBILITY, Shape.YES_NO, ("P007",))
    findings = {
        "subjects": ["P007"],
        "where": [{"field": "@findings.status", "op": "=", "value": "open"}],
        "select": ["@findings.text", "@findings.opened"],
    }
    queries = [{"subjects": ["P007"], "select": ["@status", "age_calculated"]}, findings]
    rule = Line("", Source.DOCUMENT, "研究方案 §4.1: 年龄 18～75 周岁", section="研究方案 §4.1")
    with translation.override("zh-hans"):
        made = sheet(reader, study, [(question, queries)])
        made = replace(made, lines=(*made.lines, replace(rule, mark="D1")))
        unchecked, first, second, third = answer(made, reader).text.split("\n")[:4]
    assert unchecked.startswith("P007 尚未做过入组质控")
    assert first == "P007 疑点共 1 条:年龄 17 岁,小于 18 岁(2026-11-20 起)。"
    assert second.startswith("P007 受试者状态 ")
    assert third.startswith("研究方案 §4.1:")
    assert "18～75 周岁" in third


@pytest.mark.parametrize("place", [None, "V2"])
def test_in_little_room_what_lies_beyond_its_limits_is_told_first(place: str | None) -> None:
    study = STUDIES["demo"]()
    reader = reader_of(study, limit=60)
    query = {"subjects": ["P016"], "select": ["labs"]} | ({"place": place} if place else {})
    question = Question(subjects=("P016",), select=("labs",))
    with translation.override(reader.language):
        made = answer(sheet(reader, study, [(question, [query])]), reader)
    assert "谷丙转氨酶ALT" in made.text
    assert not made.is_whole


@pytest.mark.parametrize(
    ("subject", "visit", "begins"),
    [("P013", "V2", "是,P013 V2 "), ("P001", "V2", "没有,P001 V2 "), ("P005", "V3", "是,P005 V3 ")],
)
def test_whether_a_visit_is_late_is_answered_first(subject: str, visit: str, begins: str) -> None:
    study, columns = (
        STUDIES["demo"](),
        ("visit", "state", "target", "open", "close", "actual", "days"),
    )
    reader = reader_of(study)
    query = {
        "subjects": [subject],
        "where": [{"field": "@visits.visit", "op": "=", "value": visit}],
        "select": [f"@visits.{column}" for column in columns],
    }
    question = Question(Topic.VISITS, Shape.YES_NO, (subject,), place=(visit,), aspect="late")
    with translation.override(reader.language):
        text = answer(sheet(reader, study, [(question, [query])]), reader).text
    assert text.startswith(begins)


def test_a_number_whose_form_left_its_unit_out_says_so() -> None:
    study = STUDIES["demo"]()
    reader = reader_of(study)
    query = {"subjects": ["P031"], "select": ["glucose"]}
    question = Question(subjects=("P031",), select=("glucose",), shape=Shape.SERIES)
    at_v2 = Question(subjects=("P031",), select=("glucose",), place=("V2",))
    with translation.override(reader.language):
        all_of_it = answer(sheet(reader, study, [(question, [query])]), reader).text
        one = answer(sheet(reader, study, [(at_v2, [query | {"place": "V2"}])]), reader).text
    assert all_of_it.count("单位未填写") == 1
    assert "V2 6.4(单位未填写)、" in all_of_it
    assert one.startswith("P031 空腹血糖GLU 6.4(单位未填写)(V2")


@pytest.mark.parametrize(
    ("subject", "begins"),
    [("P010", "没有,P010 "), ("P003", "是,P003 ")],
)
def test_whether_a_row_was_reported_is_answered_by_its_day(subject: str, begins: str) -> None:
    study = STUDIES["demo"]()
    reader = reader_of(study)
    serious = {"field": "ae_serious", "op": "=", "value": "1"}
    question = Question(
        subjects=(subject,), select=("sae_report_date",), where=(serious,), shape=Shape.YES_NO
    )
    query = {"subjects": [subject], "select": ["sae_report_date"], "where": [serious]}
    with translation.override(reader.language):
        text = answer(sheet(reader, study, [(question, [query])]), reader).text
    assert text.startswith(begins)
    assert ("未填写" in text) is (begins == "没有,P010 ")


def blanks(name: str) -> str:
    """What is told to be blank of a form or a field, where nobody is named."""
    study, columns = (
        STUDIES["demo"](),
        ("visit", "state", "target", "open", "close", "actual", "days"),
    )
    reader = reader_of(study, limit=5000)
    due = {
        "where": [
            {"field": "@visits.state", "op": "in", "value": ["overdue", "due"]},
            {"field": "@visits.visit", "op": "=", "value": "V3"},
        ],
        "select": [f"@visits.{column}" for column in columns],
    }
    queries = [{"select": [name]}, *([due] if name == "visit_v3" else [])]
    question = Question(shape=Shape.BLANKS, select=(name,))
    with translation.override(reader.language):
        return answer(sheet(reader, study, [(question, queries)]), reader).text


def test_blanks_of_nobody_by_name_are_told_of_those_who_have_some() -> None:
    """Whoever had filled in all had a sentence each; a due visit without a row had none."""
    text = blanks("visit_v3")
    assert "P005 表单未录入:V3(已超窗 13 天)" in text
    assert "均已填写" not in text


def test_that_nobody_left_a_blank_is_said_once() -> None:
    text = blanks("ae_term")
    assert text.count("均已填写") == 1, text
    assert not re.search(r"P\d", text), text
