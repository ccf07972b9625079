"""Visits in the API: computed from REDCap, for the reader's subjects (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any

from django.contrib.auth.models import User

from tests.api.conftest import Login
from tests.api.test_editing import problem
from tests.support.study import Study

FIELDS = {
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
    assert {row["record_id"] for row in rows} == {"P001"}
    assert {row["visit"] for row in rows} == {
        *study.project.visit_plan.values_list("visit", flat=True)
    }


def test_the_one_study_need_not_be_named(study: Study, login: Login) -> None:
    assert visits(login, "zhangyi", record_id="P001") == visits(
        login, "zhangyi", project=str(study.project.pk), record_id="P001"
    )


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
    problem(login("stranger").get("/api/v1/visits/"), 404)
    problem(login("stranger").get("/api/v1/visits/", {"project": "LUNG-IIT"}), 404)


def test_a_redcap_that_is_away_is_no_empty_list(study: Study, login: Login) -> None:
    study.stand_ins.fault("redcap", "status", 500, times=None)
    problem(login("zhangyi").get("/api/v1/visits/"), 503)
