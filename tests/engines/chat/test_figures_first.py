"""The figure, date or report that a question asks for is read by code and stands first in the reply."""

from __future__ import annotations

import re
from datetime import date, timedelta

import pytest

from core.house import clock
from memory.models import WeeklyReport
from memory.reports import weeks
from study.records import read_records
from study.visits.calendar import State
from study.visits.window import visit_states
from tests.engines.chat.kit import ask, mute, say
from tests.support.study import Study

OPEN = (State.OVERDUE, State.DUE, State.NOT_DUE)


@pytest.fixture(params=["honest", "mute"])
def hospital(request: pytest.FixtureRequest, study: Study) -> Study:
    """Once with the stand-in's answers, once with empty content."""
    if request.param == "mute":
        mute(study)
    return study


def today(study: Study) -> date:
    return clock.today(study.project.timezone)


def enrolled(study: Study) -> dict[str, date]:
    records = read_records(project=study.project, fields=["enroll_date"])
    found: dict[str, str] = {}
    for record in records:
        told = (str(row.get("enroll_date", "")) for row in record.rows)
        found[record.record_id] = next((day for day in told if day), "")
    return {rid: date.fromisoformat(day) for rid, day in found.items() if day}


def figures(text: str) -> list[str]:
    """The bare numbers of the first sentence, without its dates."""
    first = re.split(r"[。;；\n]", text)[0]
    return re.findall(r"(?<![\d.-])\d+(?![\d.-])", re.sub(r"\d{4}-\d\d-\d\d", "", first))


@pytest.mark.full
@pytest.mark.parametrize("text", ["现在入组了多少例?", "目前一共入组多少例", "入组几例了"])
def test_how_many_are_enrolled_is_said_first(hospital: Study, text: str) -> None:
    assert str(len(enrolled(hospital))) in figures(ask("zhangyi", text).text)


@pytest.mark.full
def test_every_figure_that_is_named_is_told(hospital: Study) -> None:
    number, target = len(enrolled(hospital)), hospital.project.target_enrolment
    assert target
    reply = ask("zhangyi", "现在入组多少例了?离目标还差几例?").text
    for figure in (number, target - number):
        assert re.search(rf"(?<!\d){figure}(?!\d)", reply)


@pytest.mark.full
def test_a_figure_behind_a_long_list_is_not_what_the_reader_gets(study: Study) -> None:
    """The model's words hold the figure, but beyond the length of this reader's replies."""
    ids = "、".join(enrolled(study))
    study.stand_ins.script(say(f"入组名单:{ids} 等 {len(enrolled(study))} 例。"))
    assert str(len(enrolled(study))) in figures(ask("zhangyi", "现在入组了多少例?").text)


@pytest.mark.full
@pytest.mark.parametrize("text", ["上周新入组几例?", "上周入组情况怎么样?", "上周入组了多少例"])
def test_the_time_that_is_asked_for_is_counted(hospital: Study, text: str) -> None:
    week = weeks.week_of(hospital.project, today(hospital) - timedelta(days=7))
    assert week
    number = sum(week.first <= day <= week.last for day in enrolled(hospital).values())
    reply = ask("zhangyi", text).text
    assert str(number) in figures(reply)


@pytest.mark.full
def test_the_whole_count_is_no_answer_for_a_month(study: Study) -> None:
    month = max(enrolled(study).values())
    days = [
        day
        for day in enrolled(study).values()
        if (day.year, day.month) == (month.year, month.month)
    ]
    study.stand_ins.script(say(f"已入组{len(enrolled(study))}例。"))
    reply = ask("zhangyi", f"{month.year}年{month.month}月入组了多少例?").text
    assert str(len(days)) in figures(reply)


@pytest.mark.parametrize("text", ["上周周报", "看一下上周的周报", "上周周报说了什么"])
def test_last_weeks_report_is_read_out_and_no_other(hospital: Study, text: str) -> None:
    week = weeks.week_of(hospital.project, today(hospital) - timedelta(days=7))
    assert week
    assert weeks.report_of(hospital.project, week.number)
    reply = ask("zhangyi", text).text
    assert set(re.findall(r"\bW(\d+)\b", reply)) == {str(week.number)}


@pytest.mark.parametrize("text", ["上次周报说了什么", "最近一期周报发我看看"])
def test_the_newest_report_is_read_out(hospital: Study, text: str) -> None:
    newest = WeeklyReport.objects.order_by("-week_number").values_list("week_number", flat=True)[0]
    reply = ask("zhangyi", text).text
    assert set(re.findall(r"\bW(\d+)\b", reply)) == {str(newest)}, reply


def test_a_report_that_is_not_there_is_not_replaced_by_another(study: Study) -> None:
    week = weeks.week_of(study.project, today(study) - timedelta(days=7))
    assert week
    WeeklyReport.objects.filter(week_number=week.number).delete()
    reply = ask("zhangyi", "上周周报").text
    assert str(week.number) in reply
    assert not re.search(r"周报 W\d+", reply)


@pytest.mark.full
@pytest.mark.parametrize("text", ["给我一份入组名单", "入组受试者名单"])
def test_a_roster_is_a_list_of_subjects(hospital: Study, text: str) -> None:
    mine = set(enrolled(hospital))
    reply = ask("zhangyi", text)
    assert str(len(mine)) in reply.text
    told = re.findall(r"P\d{3}", reply.text)
    assert len(told) > 5
    assert set(told) <= mine
    assert not WeeklyReport.objects.filter(created_by="zhangyi").exists()


@pytest.mark.full
def test_a_roster_by_age_names_those_and_nobody_else(study: Study) -> None:
    records = read_records(project=study.project, member=study["crc_b"])
    old = {
        record.record_id
        for record in records
        if any(int(row.get("age_calculated") or 0) >= 60 for row in record.rows)
    }
    assert set(re.findall(r"P\d{3}|007", ask("crc_b", "60岁以上的受试者名单").text)) == old


@pytest.mark.full
@pytest.mark.parametrize("text", ["统计一下A组的受试者清单", "给我对照组有多少人和名单"])
def test_a_roster_of_some_is_not_the_one_of_all(hospital: Study, text: str) -> None:
    assert not re.findall(r"P\d{3}", ask("zhangyi", text).text)


@pytest.mark.full
@pytest.mark.parametrize("text", ["全部受试者名单", "给我受试者名单"])
def test_a_roster_of_all_names_everybody(hospital: Study, text: str) -> None:
    reply = ask("zhangyi", text).text
    assert str(len(read_records(project=hospital.project))) in reply
    assert len(re.findall(r"P\d{3}", reply)) > 5


@pytest.mark.full
def test_a_status_that_nobody_has_is_counted_too(study: Study) -> None:
    mute(study)
    records = read_records(project=study.project, member=study["wanghushi"])
    assert not any(str(row.get("subject_status", "")) == "3" for r in records for row in r.rows)
    told = ask("wanghushi", "入组多少,筛败多少").text
    assert re.search(r"筛选失败.{0,3}0|没有符合条件", told)


@pytest.mark.full
def test_a_roster_holds_only_what_its_reader_may_see(study: Study) -> None:
    records = read_records(project=study.project, member=study["crc_b"])
    mine = {record.record_id for record in records}
    told = set(re.findall(r"P\d{3}", ask("crc_b", "给我一份入组名单").text))
    assert told
    assert told <= mine


@pytest.mark.full
def test_a_roster_of_a_status_is_not_the_one_of_the_enrolled(study: Study) -> None:
    told = re.findall(r"P\d{3}", ask("zhangyi", "筛败名单给我一份").text)
    assert told
    assert not set(told) & set(enrolled(study))


@pytest.mark.full
def test_the_next_visit_is_the_first_one_not_done(hospital: Study) -> None:
    asked = 0
    for read in read_records(project=hospital.project):
        states = visit_states(hospital.project, read, today(hospital))
        coming = [state for state in states if state.state in OPEN]
        done = [state for state in states if state.actual]
        if not (coming and done and re.fullmatch(r"P\d{3}", read.record_id)):
            continue
        reply = ask("zhangyi", f"{read.record_id} 下次访视是什么时候?").text
        first = re.split(r"[。;；\n]", reply)[0]
        assert str(coming[0].target) in first or str(coming[0].open) in first
        assert coming[0].visit in first
        asked += 1
        if asked == 3:
            break
    assert asked


@pytest.mark.full
def test_a_reason_is_not_replaced_by_a_figure(study: Study) -> None:
    study.stand_ins.script(*[say("每周四下午集中处理 Query。")] * 2)
    reply = ask("zhangyi", "上周为什么讨论入组?")
    assert "~" not in reply.text, "no figure that was counted for the week"


@pytest.mark.full
def test_a_subject_without_a_visit_left_is_told_so(hospital: Study) -> None:
    for read in read_records(project=hospital.project):
        states = visit_states(hospital.project, read, today(hospital))
        if states and all(state.actual for state in states) and read.record_id.startswith("P"):
            reply = ask("zhangyi", f"{read.record_id} 下次访视是什么时候?").text
            first = re.split(r"[。;；\n]", reply)[0]
            assert not re.search(r"\d{4}-\d\d-\d\d", first)
            return
    pytest.fail("every subject of the demo study has a visit left")


@pytest.mark.full
def test_a_site_that_is_named_is_counted(study: Study) -> None:
    mute(study)
    reply = ask("zhangyi", "site_a入组多少人").text
    assert "15" in reply
    assert "27" not in reply
    of_each = ask("zhangyi", "各中心入组多少").text
    assert {"15", "12"} <= set(re.findall(r"\d+", of_each))


@pytest.mark.full
def test_counts_of_one_site_say_so(study: Study) -> None:
    assert "演示医院B" in ask("crc_b", "各中心入组情况").text
    assert "演示医院A" in ask("wanghushi", "入组多少人了").text


@pytest.mark.full
@pytest.mark.parametrize("text", ["列出全部受试者", "筛选中的受试者有哪些", "退出的受试者是谁"])
def test_a_roster_is_told_in_whatever_words_it_is_asked_for(study: Study, text: str) -> None:
    assert re.search(r"007|P018", ask("zhangyi", text).text)


@pytest.mark.full
@pytest.mark.parametrize(("user", "overdue"), [("zhangyi", ["P005"]), ("crc_b", [])])
def test_who_is_overdue_is_named_and_nobody_else(
    study: Study, user: str, overdue: list[str]
) -> None:
    reply = ask(user, "现在谁的访视超期了还没来").text
    assert [*dict.fromkeys(re.findall(r"P\d{3}", reply))] == overdue
    assert overdue or "没有" in reply


@pytest.mark.full
def test_who_comes_today_is_not_who_is_overdue(study: Study) -> None:
    reply = ask("zhangyi", "今天有谁要访视").text
    assert "P008 V2" in reply
    assert "P005 V3" not in reply


def test_who_withdrew_has_no_visit_left(study: Study) -> None:
    reply = ask("zhangyi", "P018还要访视吗").text
    assert "没有" in reply
    assert not re.search(r"V\d", reply)
