"""What is not shown, not readable or not comparable is told so, and never as if there were nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import pytest
from django.utils import translation

from engines.assistant.read.queries import queries
from engines.assistant.read.task import State
from engines.assistant.say.answer import say_answer
from engines.assistant.say.sheet import Sheet
from tests.assistant.read.played import demo, play
from tests.assistant.say.studies import STUDIES, reader_of, sheet
from tests.study.query.studies import Study
from tests.study.query.test_not_shown import without


def _sheet(said: str, study: Study) -> tuple[Sheet, Any]:
    [task], _state, left = play(said, demo(), State())
    assert not left
    assert task.question
    reader = reader_of(study, limit=2000)
    return sheet(reader, study, [(task.question, queries(task.question, demo()))]), reader


def told(said: str, study: Study) -> str:
    """What is answered to a question."""
    with translation.override("zh-hans"):
        made, reader = _sheet(said, study)
        return say_answer(made, reader).text


def worked() -> Study:
    """The demo study."""
    return STUDIES["worked"]()


def deidentified() -> Study:
    """By a token without dates, free texts and identifiers."""
    fields = worked().design.metadata.fields

    def is_hidden(name: str) -> bool:
        row = fields[name]
        kind = str(row.get("text_validation_type_or_show_slider_number") or "")
        free = row["field_type"] == "text" and (not kind or kind.startswith("date"))
        named = name == "record_id"
        return not named and (free or row["field_type"] == "notes" or row.get("identifier") == "y")

    return without(worked(), is_hidden)


def without_form(form: str) -> Study:
    """By a token without the right to a form."""
    fields = worked().design.metadata.fields
    return without(worked(), lambda name: str(fields[name]["form_name"]) == form, form)


def changed(subject: str, values: Mapping[str, str], when: Callable[..., bool] = bool) -> Study:
    """With other values where a subject has some; `when`: in which rows."""
    study = worked()
    records = [
        replace(
            record,
            rows=tuple(
                {**row, **{n: v for n, v in values.items() if row.get(n) and when(row)}}
                for row in record.rows
            ),
        )
        if record.record_id == subject
        else record
        for record in study.records
    ]
    return replace(study, records=records)


# --- visits that cannot be judged -------------------------------------------------------------------


@pytest.mark.parametrize(
    "said",
    ["P001有逾期的访视吗", "P001的下次访视", "P001超窗了吗", "P001有几个超窗的访视"],
)
def test_of_who_cannot_be_judged_it_is_not_said_that_there_is_no_visit(said: str) -> None:
    dates = {name: "2026-02" for name in worked().design.metadata.fields if name.endswith("_date")}
    text = told(said, changed("P001", dates))
    assert "无法判断" in text
    assert "没有" not in text
    assert "0 条" not in text


def test_nobody_is_told_to_be_in_time_where_no_date_is_shown() -> None:
    text = told("哪些访视超窗了", deidentified())
    assert text.startswith("无法判断:访视(您可见的 38 例)")
    assert "REDCap 未导出入组日期" in text
    assert "没有" not in text
    assert "无法判断" in told("超窗的访视有几个", deidentified())


def test_why_a_visit_cannot_be_judged_is_told_as_it_is() -> None:
    study = changed("P013", {"v2_date": "2026-09"})
    text = told("P013 V2超窗了吗", study)
    label = study.design.metadata.label("v2_date")
    assert (
        text
        == f"P013 V2 无法判断:{label} 日期不完整(目标日 2026-09-11,窗口 2026-09-04 至 2026-09-18)。"
    )


# --- what REDCap does not show ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        (
            "P001的知情同意日期和身高",
            "P001 身高 173 cm;REDCap 未导出知情同意签署日期,无法判断 P001。",
        ),
        ("P001入组了吗", "P001 的入组日期无法判断;REDCap 未导出入组日期,无法判断 P001。"),
        ("已入组几例", "已入组 无法判断;REDCap 未导出入组日期"),
        ("P004有没有不良事件", "没有,P004 没有不良事件的记录。"),
        ("P001有没有不良事件", "有,P001 #1(1级"),
    ],
)
def test_a_date_that_is_not_shown_is_not_said_to_be_absent(said: str, wanted: str) -> None:
    assert told(said, deidentified()).startswith(wanted)


@pytest.mark.parametrize(
    ("form", "said", "wanted"),
    [
        (
            "ae",
            "P001有没有不良事件",
            "P001 的不良事件无法判断;REDCap 未导出不良事件,无法判断 P001。",
        ),
        ("ae", "哪些人发生了不良事件", "无法判断:不良事件(您可见的 38 例)"),
        ("ae", "多少人发生不良事件", "不良事件 无法判断;"),
        ("ae", "P003和P004有不良事件吗", "P003、P004 的不良事件无法判断;"),
        ("ae", "没有SAE对吗", "无法判断:严重不良事件（SAE）(您可见的 38 例)"),
        (
            "labs",
            "谁的ALT最高",
            "无法判断:谷丙转氨酶ALT(您可见的 38 例);REDCap 未导出谷丙转氨酶ALT",
        ),
        ("labs", "P016的ALT高不高", "P016 的谷丙转氨酶ALT无法判断;"),
        ("labs", "ALT平均多少", "谷丙转氨酶ALT 平均 无法判断;"),
    ],
)
def test_of_a_form_that_is_not_shown_it_is_not_said_that_nobody_has_it(
    form: str, said: str, wanted: str
) -> None:
    text = told(said, without_form(form))
    assert text.startswith(wanted)
    assert "没有" not in text
    assert "无数据" not in text


def test_no_line_for_a_model_says_that_all_was_read() -> None:
    made, _reader = _sheet("P001有没有不良事件", without_form("ae"))
    assert [line.text for line in made.lines] == ["P001 · 不良事件 · 列出 0 条,不是全部"]


def test_what_is_filled_in_is_said_of_what_can_be_read() -> None:
    said = "P016还缺什么没填"
    blanks = [
        f.field
        for one in _sheet(said, worked())[0].answered
        for _q, a in one.results
        for f in a.facts
        if f.value is None and not f.text
    ]
    study = without(worked(), {*blanks}.__contains__)
    assert blanks
    text = told(said, study)
    assert text.startswith("P016 能读到的内容均已填写")
    assert "REDCap 未导出" in text


# --- the highest and the lowest, and who is judged --------------------------------------------------


def test_a_reading_that_cannot_be_compared_is_told_beside_the_highest() -> None:
    study = changed(
        "P001", {"glucose_unit": " "}, lambda row: row["redcap_event_name"] == "v2_arm_1"
    )
    assert told("P001血糖最高多少", study).endswith(";另有读数无法比较:P001 缺单位。")
    text = told("P001血糖最高多少", changed("P001", {"glucose_unit": " "}))
    assert text == "P001 的空腹血糖GLU无法判断;无法判断 1 例:P001 缺单位。"


def test_who_has_text_in_place_of_a_number_is_not_passed_over() -> None:
    text = told("谁的ALT最高", changed("P016", {"alt": "溶血"}))
    assert "P032 132 U/L" in text
    assert text.endswith(";无法判断 1 例:P016 数据格式不符。")
    made, _reader = _sheet("谁的ALT最高", changed("P016", {"alt": "溶血"}))
    assert "1 例无法判断" in made.lines[-1].text


def test_that_nobody_has_it_is_affirmed_of_those_who_can_be_judged() -> None:
    study = changed("P003", {"ae_serious": "7"})
    kept = [r for r in study.records if r.record_id not in ("P010", "P011", "P021")]
    text = told("没有SAE对吗", replace(study, records=kept))
    assert text.startswith(f"已能判断的 {len(kept) - 1} 例中没有")
    assert "P003 选项无效" in text
    clean = [r for r in worked().records if r.record_id in ("P001", "P004")]
    assert told("没有SAE对吗", replace(study, records=clean)).startswith("是,没有")
