"""The findings desk: its table, filters, steps, batches, thread; who may do what."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from datetime import date, timedelta
from typing import Any

import openpyxl
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from core.house import clock
from engines.models import PendingAction, SavedFilter, TaskRun
from projects.models import AuditEntry
from tests.console.conftest import SITE_A, SITE_B

LIST = "/admin/engines/pendingaction/"
State = PendingAction.State


def of(record: str) -> PendingAction:
    return PendingAction.objects.get(record_id=record)


def at(finding: PendingAction, what: str) -> str:
    return f"{LIST}{finding.pk}/{what}/"


def step(client: Client, finding: PendingAction, name: str, reason: str = "") -> str:
    client.post(at(finding, "step"), {"step": name, "reason": reason})
    finding.refresh_from_db()
    return str(finding.state)


def test_the_table_speaks_the_words_of_the_study(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    finding = of(SITE_A)
    finding.due_on = date(2020, 1, 1)
    finding.save()
    page = as_user("wanghushi", "zh-hans").get(LIST).content.decode()
    for text in ("C1", "年龄", "0 天", "2020-01-01 已逾期"):
        assert text in page, text
    assert "age_calculated" not in page.split("result_list")[1]


@pytest.mark.full
def test_a_finding_goes_through_its_life_on_its_page(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    client, finding = as_user("wanghushi"), of(SITE_A)
    assert step(client, finding, "query") == State.OPEN  # a query says what is asked
    assert step(client, finding, "confirm") == State.CONFIRMED
    assert step(client, finding, "query", "请核对出生日期") == State.QUERIED
    assert step(client, finding, "confirm") == State.QUERIED
    assert step(client, finding, "answer", "已核对") == State.ANSWERED
    assert step(client, finding, "reject", "误报") == State.REJECTED
    assert step(client, finding, "reopen", "再看") == State.OPEN
    assert step(client, finding, "nonsense", "x") == State.OPEN
    client.post(at(finding, "comment"), {"text": "等待中心回复"})
    client.post(at(finding, "comment"), {"text": "  "})
    page = client.get(at(finding, "change")).content.decode()
    assert "等待中心回复" in page
    assert "请核对出生日期" in page
    kept = [event.what for event in finding.events.order_by("at", "pk")]
    assert kept == ["confirm", "query", "answer", "reject", "reopen", "comment"]


def test_what_the_data_resolved_is_confirmed_without_a_reason(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    finding = of(SITE_A)
    PendingAction.objects.update(state=State.DATA_CHANGED)
    finding.refresh_from_db()
    assert step(as_user("wanghushi"), finding, "accept") == State.CLOSED
    assert (finding.open_key, finding.resolved_by) == (None, "wanghushi")
    assert finding.resolution
    assert PendingAction.objects.count() == 1


@pytest.mark.full
def test_a_finding_is_given_to_who_sees_it_only(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    client, finding = as_user("wanghushi"), of(SITE_A)
    page = client.get(at(finding, "change")).content.decode()
    assert 'value="wanghushi"' in page
    assert "crc_b" not in page
    for who, day in (("crc_b", ""), ("wanghushi", "2026-13-01"), ("wanghushi", "morgen")):
        client.post(at(finding, "assign"), {"assignee": who, "due_on": day})
        finding.refresh_from_db()
        assert (finding.assignee, finding.due_on) == ("", None)
    client.post(at(finding, "assign"), {"assignee": "wanghushi", "due_on": "2026-12-01"})
    finding.refresh_from_db()
    assert (finding.assignee, finding.due_on) == ("wanghushi", date(2026, 12, 1))
    assert AuditEntry.objects.filter(action="finding.assign", actor="wanghushi").count() == 1


@pytest.mark.full
def test_who_looks_on_moves_nothing(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    finding = of(SITE_A)
    page = as_user("auditor").get(at(finding, "change")).content.decode()
    assert 'name="step"' not in page
    assert step(as_user("auditor"), finding, "confirm") == State.OPEN
    for name in ("step", "assign", "comment"):
        assert as_user("crc_b").post(at(finding, name), {"step": "confirm"}).status_code == 404
    assert not finding.events.exists()


@pytest.mark.full
@pytest.mark.parametrize(
    ("action", "state"),
    [("confirm", State.CONFIRMED), ("query", State.QUERIED), ("reject", State.REJECTED)],
)
def test_several_take_a_step_together_with_its_reason(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun], action: str, state: str
) -> None:
    suspended(SITE_A), suspended("P003"), suspended("P001")
    PendingAction.objects.filter(record_id="P001").update(state=State.CLOSED, open_key=None)
    client = as_user("wanghushi")
    keys = [str(row.pk) for row in PendingAction.objects.all()]
    given: dict[str, Any] = {"action": f"{action}_findings", "_selected_action": keys}
    assert 'name="reason"' in client.post(LIST, given).content.decode()
    if action != "confirm":
        assert 'name="reason"' in client.post(LIST, given | {"apply": "1"}).content.decode()
    told = client.post(LIST, given | {"apply": "1", "reason": "核对过"}, follow=True)
    text = told.content.decode()
    assert "2 findings moved on." in text
    assert "P001" in text
    found = dict(PendingAction.objects.values_list("record_id", "state"))
    assert found == {SITE_A: state, "P003": state, "P001": State.CLOSED}


@pytest.mark.full
def test_several_are_given_away_together(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun]
) -> None:
    suspended(SITE_A), suspended("P003")
    client = as_user("wanghushi")
    keys = [str(row.pk) for row in PendingAction.objects.all()]
    given: dict[str, Any] = {"action": "assign_findings", "_selected_action": keys}
    assert 'name="assignee"' in client.post(LIST, given).content.decode()
    client.post(LIST, given | {"apply": "1", "assignee": "wanghushi", "due_on": "2026-12-01"})
    rows = {*PendingAction.objects.values_list("assignee", "due_on")}
    assert rows == {("wanghushi", date(2026, 12, 1))}
    assert len(client.get(f"{LIST}?whose=me").context["cl"].result_list) == 2
    assert not client.get(f"{LIST}?whose=-").context["cl"].result_list


@pytest.mark.parametrize(
    ("given", "found"),
    [
        ({"due_on": "2026-12-31"}, {("wanghushi", date(2026, 12, 31)), ("", date(2026, 12, 31))}),
        ({"assignee": "admin"}, {("admin", date(2026, 12, 1)), ("admin", None)}),
        ({"assignee": "-"}, {("", date(2026, 12, 1)), ("", None)}),
        ({}, {("wanghushi", date(2026, 12, 1)), ("", None)}),
    ],
)
def test_what_is_left_blank_stays_with_each_of_several(
    as_user: Callable[..., Client],
    suspended: Callable[[str], TaskRun],
    given: dict[str, str],
    found: set[tuple[str, date | None]],
) -> None:
    suspended(SITE_A), suspended("P003")
    rows = PendingAction.objects
    rows.filter(record_id="P003").update(assignee="wanghushi", due_on=date(2026, 12, 1))
    client, keys = as_user("wanghushi"), [str(pk) for pk in rows.values_list("pk", flat=True)]
    asked: dict[str, Any] = {"action": "assign_findings", "_selected_action": keys}
    page = client.post(LIST, asked).content.decode()
    [first, second] = re.findall('<option value="([^"]*)">', page.partition('id="assignee"')[2])[:2]
    assert (first, second) == ("", "-")
    client.post(LIST, asked | {"apply": "1", "assignee": "", "due_on": ""} | given)
    assert {*rows.values_list("assignee", "due_on")} == found
    assert AuditEntry.objects.filter(action="finding.assign").count() == (2 if given else 0)


@pytest.mark.full
def test_the_filters_narrow(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun]
) -> None:
    suspended(SITE_A), suspended("P003"), suspended("P001")
    today = clock.now().date()
    rows = PendingAction.objects
    rows.filter(record_id="P001").update(state=State.REJECTED, open_key=None)
    rows.filter(record_id="P003").update(due_on=today - timedelta(days=1))
    rows.filter(record_id=SITE_A).update(due_on=today + timedelta(days=2))
    client = as_user("wanghushi")
    for query, wanted in (
        ("waits=yes", {SITE_A, "P003"}),
        ("waits=no", {"P001"}),
        ("due=past", {"P003"}),
        ("due=week", {SITE_A}),
        ("due=none", set()),
        ("rule=C1", {SITE_A, "P003", "P001"}),
        ("rule=std.range.", set()),
        ("whose=wanghushi", set()),
    ):
        shown = client.get(f"{LIST}?{query}").context["cl"].result_list
        assert {row.record_id for row in shown} == wanted, query


@pytest.mark.full
def test_a_filter_is_kept_for_its_person_without_the_search(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    client = as_user("wanghushi")
    query = {"name": "我的 逾期", "query": "due=past&whose=me&q=%E6%B5%8B%E8%AF%95&p=3"}
    client.post(f"{LIST}filters/", query)
    kept = SavedFilter.objects.get()
    assert (kept.name, kept.query) == ("我的 逾期", "due=past&whose=me")
    page = client.get(f"{LIST}?whose=me&due=past").content.decode()
    assert 'href="?due=past&amp;whose=me" aria-current="true">我的 逾期' in page
    assert "我的 逾期" not in as_user("zhangyi").get(LIST).content.decode()
    as_user("zhangyi").post(f"{LIST}filters/{kept.pk}/remove/")
    assert SavedFilter.objects.exists()
    client.post(f"{LIST}filters/", {"name": "", "query": "due=past"})
    client.post(f"{LIST}filters/", {"name": "leer", "query": "q=abc"})
    client.post(f"{LIST}filters/{kept.pk}/remove/")
    assert not SavedFilter.objects.exists()


@pytest.mark.full
def test_the_page_leads_on_in_the_list_it_was_opened_from(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun]
) -> None:
    suspended(SITE_A), suspended("P003"), suspended("P001")
    PendingAction.objects.filter(record_id="P003").update(state=State.CONFIRMED)
    client = as_user("wanghushi")
    narrowed = "?_changelist_filters=state__exact%3Dopen"
    page = client.get(at(of(SITE_A), "change") + narrowed)
    assert (page.context["place"], page.context["total"]) == (1, 2)
    assert page.context["next"] == of("P001").pk
    wild = client.get(at(of("P001"), "change") + "?_changelist_filters=message__regex%3Da")
    assert (wild.status_code, wild.context["total"]) == (200, 0)


@pytest.mark.full
def test_the_workbook_holds_rule_value_place_reason_and_resolution(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    client, finding = as_user("wanghushi", "zh-hans"), of(SITE_A)
    step(client, finding, "reject", "=误报")
    answer = client.get(f"{LIST}export-xlsx/?state__exact=rejected")
    sheet = openpyxl.load_workbook(io.BytesIO(answer.content)).active
    assert sheet
    head, row = sheet.iter_rows(values_only=True)
    cells = dict(zip(head, row, strict=True))
    assert cells["规则"] == "C1"
    assert "筛选" in str(cells["位置"])
    assert cells["值"] not in ("", "-", None)
    assert cells["处理说明"] == "=误报"
    assert "f" not in {cell.data_type for line in sheet.iter_rows() for cell in line}
    assert AuditEntry.objects.filter(action="rows.export", actor="wanghushi").count() == 1
    assert len([*openpyxl.load_workbook(io.BytesIO(
        client.get(f"{LIST}export-xlsx/?state__exact=open").content)).active.iter_rows()]) == 1  # type: ignore[union-attr]  # fmt: skip


@pytest.mark.full
def test_the_list_asks_as_often_for_many_as_for_one(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun]
) -> None:
    client = as_user("wanghushi")
    suspended(SITE_A), suspended(SITE_B)
    client.get(LIST)
    with CaptureQueriesContext(connection) as few:
        client.get(LIST)
    for record in ("P003", "P001", "P004", "P005"):
        suspended(record)
    with CaptureQueriesContext(connection) as many:
        client.get(LIST)
    assert len(many) == len(few) <= 15, "\n".join(one["sql"] for one in many)


def several(study: Any, run: TaskRun, rule: str, **states: int) -> None:
    """Findings of one rule in given states, as a hundred days of work leave them."""
    for state, count in states.items():
        for number in range(count):
            PendingAction.objects.create(
                project=study.project,
                task_run=run,
                record_id=SITE_A,
                action_type="violation",
                severity="error",
                rule_key=rule,
                state=state,
                open_key=None if state in ("closed", "rejected") else f"{rule}{state}{number}",
            )


@pytest.mark.full
def test_a_rule_of_many_false_alarms_is_advised_against(
    as_user: Callable[..., Client], study: Any, run_a: TaskRun
) -> None:
    several(study, run_a, "BAD1", rejected=6, confirmed=4, queried=5)
    several(study, run_a, "HALF1", rejected=3, closed=9)
    several(study, run_a, "GOOD1", rejected=1, closed=19)
    several(study, run_a, "NEW1", rejected=9)
    client = as_user("wanghushi")
    page = client.get(f"{LIST}rates/")
    lines = {row["rule_key"]: row for row in page.context["rows"]}
    told = {key: (line["colour"], line["share"]) for key, line in lines.items()}
    assert told == {
        "BAD1": ("danger", "60%"),
        "HALF1": ("warning", "25%"),
        "GOOD1": ("success", "5%"),
        "NEW1": ("", "100%"),
        "C1": ("", ""),
    }
    assert next(iter(lines)) == "BAD1"
    assert not as_user("crc_b").get(f"{LIST}rates/").context["rows"]
    assert as_user("charlie").get(f"{LIST}rates/").status_code == 403
    text = client.get(f"{LIST}rates/?csv=1").content.decode()
    assert "BAD1" in text
    assert "60%" in text


@pytest.mark.full
def test_what_was_not_evaluated_is_told_by_reason_rule_and_site(
    as_user: Callable[..., Client], study: Any, run_a: TaskRun
) -> None:
    several(study, run_a, "U1", open=3)
    several(study, run_a, "U2", open=1, closed=2)
    PendingAction.objects.filter(rule_key="U1").update(outcome="UNKNOWN", reason="missing")
    PendingAction.objects.filter(rule_key="U2").update(outcome="UNKNOWN", reason="unit_missing")
    client = as_user("wanghushi", "zh-hans")
    page = client.get(f"{LIST}undecided/")
    lines = [(row["rule_key"], row["reason"], row["site"], row["count"])
             for row in page.context["rows"]]  # fmt: skip
    assert lines == [("U1", "缺少值", "site_a", 3), ("U2", "缺少单位", "site_a", 1)]
    assert SITE_A in page.content.decode()
    text = client.get(f"{LIST}undecided/?csv=1").content.decode()
    assert "U2" in text
    assert AuditEntry.objects.filter(action="rows.export", actor="wanghushi").count() == 1
    assert not as_user("crc_b").get(f"{LIST}undecided/").context["rows"]


@pytest.mark.full
def test_the_reports_are_empty_where_nothing_was_found(as_user: Callable[..., Client]) -> None:
    for name in ("rates", "undecided"):
        assert b"iit-empty" in as_user("wanghushi").get(f"{LIST}{name}/").content
