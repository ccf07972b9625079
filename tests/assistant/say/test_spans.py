"""Days between two dates are of one row, and every row that has both is told with its visit."""

from __future__ import annotations

from typing import Any

from django.utils import translation

from engines.assistant.read.question import Question, Shape
from engines.assistant.say.answer import say_answer
from tests.assistant.say.studies import reader_of, sheet
from tests.study.query.studies import Study, demo, small, text


def said(study: Study, subject: str, first: str, last: str) -> str:
    """The answer to how many days lie between two fields of a subject."""
    reader = reader_of(study, limit=500)
    lasted = {"field": last, "minus": {"field": first}, "as": "days"}
    query: dict[str, Any] = {"subjects": [subject], "select": [first, last, lasted]}
    question = Question(
        shape=Shape.LASTED, subjects=(subject,), select=(first, last), change="days"
    )
    with translation.override("zh-hans"):
        return say_answer(sheet(reader, study, [(question, [query])]), reader).text


def visits() -> Study:
    """One date at the start; two at each visit, the second blank at the last one."""
    fields = [
        text("record_id", "base"),
        text("consent", "base", kind="date_ymd", label="知情日期"),
        text("drawn", "lab", kind="date_ymd", label="采血日期"),
        text("read", "lab", kind="date_ymd", label="检测日期"),
        text("began", "ae", kind="date_ymd", label="开始日期"),
        text("ended", "ae", kind="date_ymd", label="结束日期"),
    ]
    rows: list[dict[str, Any]] = [
        {"event": "start", "consent": "2026-10-01"},
        {"event": "v2", "drawn": "2026-10-10", "read": "2026-10-12"},
        {"event": "v3", "drawn": "2026-10-20", "read": ""},
    ]
    rows += [
        {"event": event, "form": "ae", "n": "1", "began": began, "ended": ended}
        for event, began, ended in (
            ("v2", "2026-10-02", "2026-10-05"),
            ("v3", "2026-10-15", "2026-10-16"),
        )
    ]
    events = {"start": ("base",), "v2": ("lab", "ae"), "v3": ("lab", "ae")}
    return small(fields, {"S1": rows}, events=events, repeating=("ae",))


def test_dates_of_two_visits_are_not_subtracted() -> None:
    text = said(visits(), "S1", "drawn", "read")
    assert text.count("天") == 1
    assert "V2" in text
    assert "采血日期 2026-10-10 至 检测日期 2026-10-12:2 天" in text


def test_a_row_without_its_second_date_is_told_beside_the_others() -> None:
    last = said(visits(), "S1", "drawn", "read").splitlines()[-1]
    assert "V3" in last
    assert "采血日期 2026-10-20" in last
    assert "检测日期 未填写" in last


def test_of_a_row_that_goes_on_the_days_since_its_first_date_are_told() -> None:
    study = visits()
    study.records[0].rows[-1]["ended"] = ""
    told = said(study, "S1", "began", "ended")
    assert "开始日期 2026-10-02 至 结束日期 2026-10-05:3 天" in told
    assert "结束日期 未填写(自 开始日期 2026-10-15 起 39 天)" in told


def test_rows_that_repeat_at_several_events_keep_their_own_dates() -> None:
    told = said(visits(), "S1", "began", "ended")
    assert "开始日期 2026-10-02 至 结束日期 2026-10-05:3 天" in told
    assert "开始日期 2026-10-15 至 结束日期 2026-10-16:1 天" in told


def test_a_date_of_several_visits_is_told_at_each() -> None:
    told = said(visits(), "S1", "consent", "drawn")
    for visit, days in (("V2", "2026-10-10:9 天"), ("V3", "2026-10-20:19 天")):
        assert visit in told
        assert days in told
    of_demo = said(demo(), "P005", "enroll_date", "lab_date")
    assert "基线" in of_demo
    assert "V2" in of_demo
    assert "2026-10-12:34 天" in of_demo
