"""The visit board: subjects by visits, week and month, filters, pages and the calendar file."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest
from django.test import Client
from icalendar import Calendar

from study import readings
from study.models import Subject, VisitPlanEntry
from tests.engines.sop.kit import change
from tests.support.study import Study

BOARD, FILE = "/admin/visits/", "/admin/visits/calendar.ics"
AsUser = Callable[..., Client]


@pytest.fixture(autouse=True)
def _read(study: Study) -> None:
    readings.read_all(study.project)


def shown(client: Client, **query: str) -> str:
    answer = client.get(BOARD, query)
    assert answer.status_code == 200
    return answer.content.decode()


def body(page: str) -> str:
    return page.split('data-test="board"')[1]


@pytest.mark.full
def test_a_cell_has_a_sign_and_a_word_beside_its_colour(as_user: AsUser) -> None:
    page = body(shown(as_user("zhangyi", "zh-hans"), visit="V3", state="overdue"))
    row = page.split("P005")[1].split("</tr>")[0]
    assert "danger" in row
    assert "!" in row
    assert "已超窗" in row
    assert "超窗 13 天" in row


@pytest.mark.full
def test_a_site_sees_its_own_subjects(as_user: AsUser, study: Study) -> None:
    page = body(shown(as_user("crc_b")))
    for record_id, site in Subject.objects.values_list("record_id", "site"):
        if site != "site_b":
            assert f">{record_id}<" not in page
    assert "site_a" not in page
    everything = [shown(as_user("crc_b"), view=view) for view in ("week", "month")]
    assert not any("P008" in page for page in everything)
    assert "P008" in shown(as_user("zhangyi"), view="week")


@pytest.mark.full
def test_a_foreign_study_reads_like_none(as_user: AsUser) -> None:
    assert as_user("zhangyi").get(BOARD, {"project": "GHOST"}).status_code == 404
    assert as_user("charlie").get(BOARD).status_code == 404
    assert as_user("charlie").get(FILE).status_code == 404
    assert Client().get(BOARD).status_code == 302


@pytest.mark.full
def test_filters_leave_what_they_name(as_user: AsUser) -> None:
    client = as_user("zhangyi")
    page = body(shown(client, state="due"))
    assert "P008" in page
    assert "P005" not in page
    assert "No visit is left by these filters." in shown(client, site="nowhere")


@pytest.mark.full
def test_the_list_has_pages(as_user: AsUser, study: Study) -> None:
    client = as_user("zhangyi")
    first, second = body(shown(client)), body(shown(client, p="2"))
    assert "P001" in first
    assert "P001" not in second
    assert "P026" in second


@pytest.mark.full
def test_the_week_says_what_is_to_be_done(as_user: AsUser, study: Study) -> None:
    client = as_user("zhangyi")
    today = date.fromisoformat(study.run["demo_today"])
    day = today + timedelta(days=2)
    change(study, "P008", "v2_arm_1", v2_date=str(day))
    readings.read_all(study.project)
    page = body(shown(client, view="week", day=str(day)))
    cell = page.split(f'datetime="{day}"')[1].split("</ul>")[0]
    assert "P008 V2" in cell
    assert f"planned for {day}" in cell
    before = body(shown(client, view="week", day=str(today - timedelta(days=70))))
    assert "P008 V2" not in before
    assert "P005" not in before.split('data-test="due"')[1]


@pytest.mark.full
@pytest.mark.parametrize("day", ["", "yesterday", "0001-01-01", "9999-12-31", "2026-02-30"])
@pytest.mark.parametrize("view", ["week", "month", "year"])
def test_a_wrong_day_is_today(as_user: AsUser, study: Study, view: str, day: str) -> None:
    page = shown(as_user("zhangyi"), view=view, day=day)
    assert view == "year" or f'datetime="{study.run["demo_today"]}"' in page


@pytest.mark.full
def test_the_calendar_file_holds_what_is_to_be_done(as_user: AsUser, study: Study) -> None:
    answer = as_user("zhangyi", "zh-hans").get(FILE, {"visit": "V2"})
    assert answer["Content-Type"].startswith("text/calendar")
    found = Calendar.from_ical(answer.content)
    events = {str(one["summary"]): one for one in found.walk("VEVENT")}
    event = events["LUNG-IIT P008 V2"]
    assert event.decoded("dtend") - event.decoded("dtstart") == timedelta(days=1)
    assert "窗口" in str(event["description"])
    assert all(name.endswith(" V2") for name in events)
    again = Calendar.from_ical(as_user("zhangyi").get(FILE).content)
    uids = {str(one["summary"]): str(one["uid"]) for one in again.walk("VEVENT")}
    assert uids["LUNG-IIT P008 V2"] == str(event["uid"])
    assert len({*uids.values()}) == len(uids)
    mine = Calendar.from_ical(as_user("crc_b").get(FILE).content)
    assert not any("P008" in str(one["summary"]) for one in mine.walk("VEVENT"))


@pytest.mark.full
def test_a_study_without_a_plan_says_so(as_user: AsUser, study: Study) -> None:
    VisitPlanEntry.objects.all().delete()
    assert "No visit is planned for anybody yet." in shown(as_user("zhangyi"))
    assert not Calendar.from_ical(as_user("zhangyi").get(FILE).content).walk("VEVENT")


def test_a_plan_that_nobody_can_follow_is_said(as_user: AsUser, study: Study) -> None:
    VisitPlanEntry.objects.filter(visit="V1").update(day=0)
    assert "The visit plan cannot be followed" in shown(as_user("zhangyi"))
    assert as_user("zhangyi").get(FILE).status_code == 404
