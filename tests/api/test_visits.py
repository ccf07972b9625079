"""Visits in the API: computed from REDCap, for the reader's subjects (contracts.md, HTTP)."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User

from projects.models import Project
from tests.api.conftest import Login
from tests.api.test_editing import problem
from tests.house.kit import make_member, make_project
from tests.support.study import Study

FIELDS = {
    "project",
    "record_id",
    "visit",
    "anchor_field",
    "anchor",
    "anchor_is_day",
    "target",
    "open",
    "close",
    "actual",
    "state",
    "days",
    "reason",
}


def visits(login: Login, userid: str, **query: str) -> dict[str, Any]:
    answer = login(userid).get("/api/v1/visits/", query)
    assert answer.status_code == 200, answer.content
    content: dict[str, Any] = answer.json()
    assert content.keys() == {"count", "next", "previous", "results"}
    return content


def test_a_subjects_visits(study: Study, login: Login) -> None:
    content = visits(login, "zhangyi", project="LUNG-IIT", record_id="P001")
    rows = content["results"]
    assert content["count"] == len(rows) == study.project.visit_plan.count()
    assert all(row.keys() == FIELDS for row in rows)
    assert {(row["project"], row["record_id"]) for row in rows} == {("LUNG-IIT", "P001")}
    assert {row["visit"] for row in rows} == {
        *study.project.visit_plan.values_list("visit", flat=True)
    }


def test_the_one_study_need_not_be_named(study: Study, login: Login) -> None:
    assert visits(login, "zhangyi", record_id="P001") == visits(
        login, "zhangyi", project=str(study.project.pk), record_id="P001"
    )


@pytest.mark.full
def test_the_list_is_paged_and_keeps_to_the_site(study: Study, login: Login) -> None:
    content = visits(login, "crc_b")
    seen = {row["record_id"] for row in content["results"]}
    while content["next"]:
        content = login("crc_b").get(content["next"]).json()
        seen |= {row["record_id"] for row in content["results"]}
    assert seen == {f"P{number:03}" for number in range(20, 37)} | {"007"}


def test_absent_and_of_the_other_site_read_the_same(study: Study, login: Login) -> None:
    ghost, foreign = (visits(login, "crc_b", record_id=record) for record in ("P999", "P001"))
    assert ghost == foreign == {"count": 0, "next": None, "previous": None, "results": []}


def test_other_studies_do_not_exist(study: Study, login: Login) -> None:
    problem(login("zhangyi").get("/api/v1/visits/", {"project": "GHOST"}), 404)
    User.objects.create(username="stranger")
    problem(login("stranger").get("/api/v1/visits/", {"project": "LUNG-IIT"}), 404)
    assert visits(login, "stranger")["results"] == []


def second_study(study: Study, userid: str, plans_visits: bool) -> Project:
    """Another one of the member, first by its code, over the same REDCap."""
    first = study.project
    second = make_project("AAA", redcap_url=first.redcap_url, redcap_token=first.redcap_token)
    make_member(second, userid, "PI")
    if plans_visits:
        second.visit_plan.create(
            visit="Only", anchor_field="enroll_date", date_field="v2_date", day=8
        )
    return second


def test_without_a_study_it_is_all_of_the_readers(study: Study, login: Login) -> None:
    alone = visits(login, "zhangyi", record_id="P001")
    second_study(study, "zhangyi", plans_visits=False)
    assert visits(login, "zhangyi", record_id="P001") == alone


@pytest.mark.full
def test_every_row_says_its_study(study: Study, login: Login) -> None:
    alone = visits(login, "zhangyi", record_id="P001")
    second_study(study, "zhangyi", plans_visits=True)
    both = visits(login, "zhangyi", record_id="P001")
    assert both["count"] == alone["count"] + 1
    assert {row["project"] for row in both["results"]} == {"AAA", "LUNG-IIT"}
    assert visits(login, "zhangyi", record_id="P001", project="LUNG-IIT") == alone
    assert visits(login, "wanghushi", record_id="P001") == alone


@pytest.mark.full
def test_a_study_that_cannot_be_read_is_not_left_out(study: Study, login: Login) -> None:
    second = second_study(study, "zhangyi", plans_visits=True)
    type(second).objects.filter(pk=second.pk).update(redcap_url="")
    problem(login("zhangyi").get("/api/v1/visits/"), 409)
    problem(login("zhangyi").get("/api/v1/visits/", {"project": "AAA"}), 409)
    assert visits(login, "zhangyi", project="LUNG-IIT")["count"]


def test_a_plan_nobody_can_follow_is_said(study: Study, login: Login) -> None:
    study.project.visit_plan.update(day=0)
    content = problem(login("zhangyi").get("/api/v1/visits/"), 409)
    assert content["code"] == "visit_plan"
    assert "LUNG-IIT" in content["detail"]


@pytest.mark.parametrize("record_id", ["\0", "x" * 101])
def test_what_is_no_subjects_number_is_a_problem(
    record_id: str, study: Study, login: Login
) -> None:
    answer = login("zhangyi").get("/api/v1/visits/", {"record_id": record_id})
    assert problem(answer, 400)["errors"].keys() == {"record_id"}


def test_a_redcap_that_is_away_is_no_empty_list(study: Study, login: Login) -> None:
    study.stand_ins.fault("redcap", "status", 500, times=None)
    problem(login("zhangyi").get("/api/v1/visits/"), 503)


@pytest.mark.full
def test_what_is_due_in_a_range(study: Study, login: Login) -> None:
    first = date.fromisoformat(study.run["demo_today"])
    last = first + timedelta(days=6)
    content = visits(login, "zhangyi", due_from=str(first), due_to=str(last))
    assert content["results"]
    for row in content["results"]:
        assert row["state"] in {"not_due", "due"}
        assert row["open"] <= str(last)
        assert row["close"] >= str(first)
    overdue = visits(login, "zhangyi", state="overdue")
    assert {row["state"] for row in overdue["results"]} == {"overdue"}


def test_a_range_that_ends_before_it_begins_is_refused(study: Study, login: Login) -> None:
    given = {"due_from": "2026-12-02", "due_to": "2026-12-01"}
    problem(login("zhangyi").get("/api/v1/visits/", given), 400)
    problem(login("zhangyi").get("/api/v1/visits/", {"state": "soon"}), 400)
