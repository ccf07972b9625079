"""Who and what was asked about is in the answer: days, each subject, everybody who was counted."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from django.utils import translation

from engines.assistant.read.queries import queries
from engines.assistant.read.question import Question
from engines.assistant.read.task import State
from engines.assistant.say.answer import say_answer
from tests.assistant.read.played import demo, play
from tests.assistant.say.studies import STUDIES, reader_of, sheet
from tests.study.query.studies import Study
from tests.study.query.studies import demo as demo_study


def told(said: str, known: Study | None = None) -> str:
    """What is said to the last of some messages apart by |; of the demo study with work, or of another."""
    state, read = State(), list[Question]()
    for message in said.split("|"):
        tasks, state, left = play(message, demo(), state)
        assert not left, left
        read = [task.question for task in tasks if task.question]
    known = known or STUDIES["worked"]()
    reader = reader_of(known, limit=2000)
    with translation.override(reader.language):
        asked = [(question, queries(question, demo())) for question in read]
        return say_answer(sheet(reader, known, asked), reader).text


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("11月有几个访视超窗", "2026-11 访视 超窗完成或提前或已超窗 1 条"),
        ("这个月有谁超窗", "P005 V3 已超窗"),
        ("P005 11月超窗了吗", "是,P005 V3 已超窗"),
        ("P005 V3 11月超窗了吗", "是,P005 V3 已超窗"),
        ("P013 9月超窗了吗", "是,P013 V2 已于 2026-09-22 完成,晚"),
        ("P001 V3 4月超窗了吗", "没有,P001 V3 "),
        ("10月谁的访视超窗了", "没有超窗的访视(2026-10,"),
    ],
)
def test_an_overdue_visit_is_out_of_its_window_since_that_closed(said: str, wanted: str) -> None:
    text = told(said)
    assert text.startswith(wanted)
    assert "无法判断" not in text
    assert "无数据" not in text


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("P016 5月的ALT", "P016 没有2026-05 谷丙转氨酶ALT的记录"),
        ("P016 V5的ALT", "P016 没有V5 谷丙转氨酶ALT的记录"),
        ("11月有几个逾期的访视", "2026-11 访视 已超窗 1 条"),
        ("P016 10月有逾期的访视吗", "P016 没有超窗未完成的访视(2026-10)"),
        ("10月有新疑点吗", "没有疑点(2026-10,"),
        ("P013 10月有新疑点吗", "P013 没有疑点(2026-10)"),
        ("血压有疑点吗", "没有疑点(收缩压、舒张压,"),
        ("P001 10月改过哪些数据", "P001 没有读到数据改动(2026-10)"),
        ("P001改过血压吗", "P001 没有读到数据改动(收缩压、舒张压)"),
        ("P002 10月有待审核吗", "P002 没有待审核事项(2026-10)"),
    ],
)
def test_where_nothing_is_the_days_and_fields_asked_for_are_said(said: str, wanted: str) -> None:
    assert told(said).startswith(wanted)


def test_a_finding_of_no_field_is_in_doubt_of_none() -> None:
    assert "无法判断" not in told("P013血压有疑点吗")


def test_behind_a_yes_what_is_counted_stands_without_a_blank() -> None:
    assert told("有人有SAE吗").startswith("有,共 3 例:")


@pytest.mark.parametrize(
    ("said", "begins"),
    [
        ("P001和P016的ALT高不高", ["有,P016 ", "没有,P001 "]),
        ("P001和P016的ALT正常吗", ["不是,P016 ", "是,P001 "]),
        ("P001和P014的ALT高不高", ["没有,P001 ", "没有,P014 没有谷丙转氨酶ALT的记录"]),
        ("P001和P003有没有SAE", ["有,P003 ", "没有,P001 "]),
        ("P003和P004有不良事件吗", ["有,P003 ", "没有,P004 没有不良事件的记录"]),
        ("P012和P001的血红蛋白", ["P001 ", "P012 没有血红蛋白HGB的记录"]),
        ("P001和P012 V3的血红蛋白", ["P001 ", "P012 没有V3 血红蛋白HGB的记录"]),
        ("P001和P004的不良事件", ["P001 ", "P004 没有不良事件的记录"]),
        ("P005和P013 11月超窗了吗", ["是,P005 V3 ", "P013 没有超窗的访视(2026-11)"]),
        ("P001和P002改过哪些数据", ["P001 ", "P002 没有读到数据改动"]),
    ],
)
def test_each_who_is_named_is_told_of(said: str, begins: list[str]) -> None:
    lines = told(said).splitlines()
    for begin in begins:
        assert any(line.startswith(begin) for line in lines), lines


def test_nothing_is_said_of_a_subject_that_may_not_be_seen() -> None:
    text = told("P001和P099的ALT高不高")
    assert text.startswith("没有,P001 谷丙转氨酶ALT均未高于正常上限")
    assert text.count("P099") == 1


@pytest.mark.parametrize("whom", ["", "女性", "男性", "已入组的", "已入组的女性", "A中心"])
@pytest.mark.parametrize("what", ["发生不良事件", "用了合并用药", "发生SAE", "发生3级以上AE"])
def test_those_who_were_counted_are_listed(whom: str, what: str) -> None:
    counted = re.search(r"(\d+) 例", told(f"{whom}有几例{what}"))
    listed = re.search(r"共 (\d+) 例", told(f"{whom}有几例{what}|是哪些人"))
    assert counted, (whom, what)
    assert int(listed[1] if listed else 0) == int(counted[1])


def test_whether_any_of_some_have_a_row_looks_at_those_who_have_one() -> None:
    assert "共 7 例" in told("女性有人发生不良事件吗")


def test_how_far_two_are_apart_is_told_where_both_have_a_value() -> None:
    text = told("P001和P012的血红蛋白差多少")
    assert "P012" in text
    assert "相差" not in text


@pytest.mark.parametrize("said", ["P032的ALT和AST最高各多少", "谁的ALT和AST最高"])
def test_the_end_of_each_of_several_fields_is_told(said: str) -> None:
    alt, ast = told(said).splitlines()
    assert "谷丙转氨酶ALT最高" in alt
    assert "P032 96 U/L" in ast.replace("P032 谷草转氨酶AST最高 ", "P032 ")
    assert "谷草转氨酶AST最高" in ast


def test_who_has_more_is_told_of_each_of_several_fields() -> None:
    text = told("P001和P016的ALT和AST哪个高")
    assert re.search(r"谷丙转氨酶ALT.*低 151 U/L", text)
    assert re.search(r"谷草转氨酶AST.*高 53 U/L", text)


def test_what_is_blank_is_told_of_each_by_itself() -> None:
    lines = told("P001和P003的AE还有什么没填").splitlines()
    assert lines == ["P001 均已填写(共 1 条)。", "P003 均已填写(共 2 条)。"]
    assert told("P001和P002的AE还有什么没填").splitlines()[1] == "P002 没有不良事件的记录。"


@pytest.mark.parametrize("what", ["", "的生命体征"])
def test_a_due_visit_of_which_nothing_was_entered_is_blank(what: str) -> None:
    assert told(f"P005{what}还缺什么没填").startswith("P005 表单未录入:V3(已超窗 13 天)。")


def test_a_visit_that_was_entered_or_is_not_due_is_not_called_unentered() -> None:
    assert "表单未录入" not in told("P001还缺什么没填")
    assert "表单未录入" not in told("P005的AE还有什么没填")


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ("P001和P002入组多少天了", "P002 没有入组日期的记录"),
        ("P003和P004的不良事件持续了多久", "P004 没有不良事件名称"),
        ("P001和P012的ALT是上限的几倍", "P012 谷丙转氨酶ALT:缺少数值或界值,无法计算"),
        ("P016 V2的ALT比基线升了多少|那P016和P012呢", "P012 谷丙转氨酶ALT:缺少数值或界值,无法计算"),
    ],
)
def test_of_whom_nothing_could_be_worked_out_is_told_beside_the_others(
    said: str, wanted: str
) -> None:
    lines = told(said).splitlines()
    assert any(line.startswith(wanted) for line in lines), lines
    assert len(lines) > 1


def test_the_last_visit_is_told_by_its_own_days() -> None:
    study = demo_study()
    own = next(record for record in study.records if record.record_id == "P013")
    rows = tuple({**row, "first_dose_date": ""} for row in own.rows)
    records = [replace(own, rows=rows), *(r for r in study.records if r is not own)]
    assert told("P013上次来是什么时候", replace(study, records=records)).startswith("P013 V4 ")


def test_a_reading_without_a_multiple_is_told_beside_the_others() -> None:
    study = demo_study()
    own = next(record for record in study.records if record.record_id == "P001")
    rows = [{**row, "alt": "溶血"} if row.get("alt") == "34" else row for row in own.rows]
    records = [replace(own, rows=tuple(rows)), *(r for r in study.records if r is not own)]
    text = told("P001的ALT是上限的几倍", replace(study, records=records))
    assert "为正常上限的 0.75 倍" in text
    assert re.search("溶血.*无法计算为界值的几倍", text)
