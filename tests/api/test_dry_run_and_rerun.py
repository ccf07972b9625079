"""Rehearsing a workflow and repeating a run over HTTP (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from engines.models import TaskRun
from projects.models import AuditEntry, Member
from tests.api.conftest import Login
from tests.api.test_editing import problem
from tests.api.test_runs import CLEAN, OF_SITE_B, VIOLATION, shown, started
from tests.engines.sop.kit import hard, human
from tests.engines.sop.test_dry_run import counts
from tests.support.study import Study
from tests.support.tasks import drain

pytestmark = pytest.mark.django_db(transaction=True)
CONFIG = {
    "name": "draft",
    "start_node": "check",
    "nodes": {"check": hard(on_pass="ask"), "ask": human()},
}
QC = {"skill_type": "qc_process"}


def rehearse(login: Login, userid: str, record_id: str = CLEAN, **body: Any) -> Any:
    body = {"project": "LUNG-IIT", "record_id": record_id} | body
    client = login(userid)
    return client.post("/api/v1/task-runs/dry-run/", body, format="json")


@pytest.mark.full
@pytest.mark.parametrize("userid", ["zhangyi", "wanghushi", "admin"])
def test_a_rehearsal_says_where_it_ends_and_writes_nothing(
    userid: str, study: Study, login: Login
) -> None:
    login(userid)
    before = counts()
    answer = rehearse(login, userid, VIOLATION, **QC)

    assert answer.status_code == 200, answer.content
    content = answer.json()
    assert (content["end"], content["would_suspend"]) == ("end_with_violation", False)
    seen = [row for row in content["steps"][0]["observations"] if row["outcome"] == "FAIL"]
    assert [(row["rule"], row["field"]) for row in seen] == [("EL03", "ecog_score")]
    assert drain() == []
    assert counts() == before


@pytest.mark.full
def test_an_administrator_rehearses_a_draft(study: Study, login: Login) -> None:
    content = rehearse(login, "admin", config=CONFIG).json()

    assert [step["outcome"] for step in content["steps"]] == ["pass", "would_ask_person"]
    assert (content["end"], content["would_suspend"]) == ("", True)
    for userid in ("zhangyi", "wanghushi"):
        problem(rehearse(login, userid, config=CONFIG), 403)


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({}, {"non_field_errors"}),
        ({"config": CONFIG, **QC}, {"non_field_errors"}),
        ({"config": CONFIG | {"start_node": "x"}}, {"config"}),
        ({"config": []}, {"config"}),
        ({"config": "text"}, {"config"}),
        ({"skill_type": "no_such"}, {"skill_type"}),
        ({"record_id": "", **QC}, {"record_id"}),
    ],
)
def test_a_bad_order_is_refused(
    body: dict[str, Any], names: set[str], study: Study, login: Login
) -> None:
    assert problem(rehearse(login, "admin", **body), 400)["errors"].keys() == names


@pytest.mark.full
def test_not_yours_and_absent_read_the_same(study: Study, login: Login) -> None:
    User.objects.create(username="stranger")
    answers = [
        rehearse(login, "wanghushi", OF_SITE_B, **QC),
        rehearse(login, "wanghushi", "P999", **QC),
        rehearse(login, "wanghushi", project="GHOST", **QC),
        rehearse(login, "stranger", **QC),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1


@pytest.mark.full
def test_who_looks_on_neither_rehearses_nor_repeats(study: Study, login: Login) -> None:
    pk = started(login, "zhangyi", CLEAN)
    Member.objects.filter(wecom_userid="zhangyi").update(role="AUDITOR")
    problem(rehearse(login, "zhangyi", **QC), 403)
    problem(repeat(login, "zhangyi", pk), 403)


@pytest.mark.full
def test_a_redcap_that_is_away_is_said(study: Study, login: Login) -> None:
    pk = started(login, "zhangyi", CLEAN)
    study.stand_ins.fault("redcap", "status", 500, times=None)
    problem(rehearse(login, "zhangyi", **QC), 503)
    problem(repeat(login, "zhangyi", pk), 503)


def repeat(login: Login, userid: str, pk: str) -> Any:
    return login(userid).post(f"/api/v1/task-runs/{pk}/rerun/", {}, format="json")


@pytest.mark.full
def test_an_ended_run_is_repeated(study: Study, login: Login) -> None:
    pk = started(login, "zhangyi", CLEAN)
    answer = repeat(login, "wanghushi", pk)
    assert answer.status_code == 201, answer.content
    assert answer.json().keys() == {"id", "status"}
    drain()

    run = shown(login, "wanghushi", answer.json()["id"])
    assert (run["status"], run["rerun_of"], run["record_id"]) == ("COMPLETED", pk, CLEAN)
    assert run["triggered_by"] == "wanghushi"
    entries = AuditEntry.objects.filter(action="run.start", actor="wanghushi")
    assert [entry.new["rerun_of"] for entry in entries] == [pk]


@pytest.mark.full
def test_a_running_run_is_a_conflict(study: Study, login: Login) -> None:
    pk = started(login, "zhangyi", "P012")
    assert problem(repeat(login, "zhangyi", pk), 409)["code"] == "not_ended"
    assert TaskRun.objects.count() == 1


@pytest.mark.full
def test_of_the_other_site_nothing_is_repeated(study: Study, login: Login) -> None:
    pk = started(login, "zhangyi", OF_SITE_B)
    problem(repeat(login, "wanghushi", pk), 404)
