"""Batches over HTTP: ordering, progress and cancelling, by site (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User

from engines.models import TaskRun
from engines.models.runs import Batch
from projects.models import Member
from study.models import Subject
from tests.api.conftest import Login
from tests.api.test_editing import problem
from tests.api.test_runs import CLEAN, OF_SITE_B, VIOLATION
from tests.support.study import Study
from tests.support.tasks import drain

pytestmark = pytest.mark.django_db(transaction=True)
KEYS = {"running", "suspended", "completed", "failed", "cancelled", "waiting"}


def order(login: Login, userid: str, **body: Any) -> Any:
    body = {"project": "LUNG-IIT", "skill_type": "qc_process"} | body
    return login(userid).post("/api/v1/task-runs/start-batch/", body, format="json")


def ordered(login: Login, userid: str, **body: Any) -> str:
    answer = order(login, userid, **body)
    assert answer.status_code == 201, answer.content
    pk: str = answer.json()["id"]
    return pk


def progress(login: Login, userid: str, pk: str) -> Any:
    return login(userid).get(f"/api/v1/task-runs/batches/{pk}/")


def cancel(login: Login, userid: str, pk: str, **body: Any) -> Any:
    return login(userid).post(f"/api/v1/task-runs/batches/{pk}/cancel/", body, format="json")


@pytest.mark.full
def test_a_batch_is_answered_at_once_and_works_to_its_end(study: Study, login: Login) -> None:
    answer = order(login, "wanghushi", record_ids=[CLEAN, VIOLATION], cap=1)
    assert answer.status_code == 201, answer.content
    pk = str(Batch.objects.get().pk)
    assert answer.json() == {"id": pk, "total": 2}
    now = progress(login, "wanghushi", pk).json()
    assert (now["running"], now["waiting"]) == (1, 1)
    drain()

    done = progress(login, "wanghushi", pk).json()
    assert done == {"id": pk, "total": 2} | dict.fromkeys(KEYS, 0) | {"completed": 2}
    assert {run.triggered_by for run in TaskRun.objects.all()} == {"wanghushi"}


@pytest.mark.full
def test_all_are_all_of_ones_own_site(study: Study, login: Login) -> None:
    ordered(login, "wanghushi", all=True)
    mine = Subject.objects.filter(project=study.project, site=study["wanghushi"].site)
    assert {*Batch.objects.get().record_ids} == {*mine.values_list("record_id", flat=True)}
    Batch.objects.all().update(cancelled_at="2026-01-01T00:00:00Z")

    ordered(login, "zhangyi", all=True)
    everyone = {*Subject.objects.filter(project=study.project).values_list("record_id", flat=True)}
    assert {*Batch.objects.first().record_ids} == everyone  # type: ignore[union-attr]


@pytest.mark.full
def test_progress_counts_what_the_reader_may_see(study: Study, login: Login) -> None:
    pk = ordered(login, "zhangyi", record_ids=[CLEAN, VIOLATION, OF_SITE_B])
    assert progress(login, "zhangyi", pk).json()["total"] == 3
    assert progress(login, "wanghushi", pk).json()["total"] == 2
    assert progress(login, "crc_b", pk).json()["total"] == 1

    other = ordered(login, "wanghushi", record_ids=[CLEAN])
    User.objects.create(username="stranger")
    hidden = [
        progress(login, "crc_b", other),
        progress(login, "stranger", other),
        progress(login, "zhangyi", str(uuid4())),
        cancel(login, "crc_b", other),
    ]
    assert {answer.status_code for answer in hidden} == {404}
    assert len({answer.content for answer in hidden}) == 1


@pytest.mark.full
@pytest.mark.parametrize("record_ids", [[CLEAN, OF_SITE_B], [CLEAN, "P999"], ["p001"]])
def test_a_subject_that_is_not_there_stops_the_order(
    record_ids: list[str], study: Study, login: Login
) -> None:
    problem(order(login, "wanghushi", record_ids=record_ids), 404)
    assert not Batch.objects.exists()
    assert not TaskRun.objects.exists()


@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({}, {"non_field_errors"}),
        ({"record_ids": [CLEAN], "all": True}, {"non_field_errors"}),
        ({"record_ids": []}, {"record_ids"}),
        ({"record_ids": "P001"}, {"record_ids"}),
        ({"record_ids": [CLEAN], "cap": 0}, {"cap"}),
        ({"record_ids": [CLEAN], "cap": 1000}, {"cap"}),
        ({"record_ids": [CLEAN], "skill_type": "no_such"}, {"skill_type"}),
    ],
)
def test_a_bad_order_names_its_fields(
    body: dict[str, Any], names: set[str], study: Study, login: Login
) -> None:
    assert problem(order(login, "zhangyi", **body), 400)["errors"].keys() == names


@pytest.mark.full
def test_who_looks_on_orders_nothing_and_cancels_nothing(study: Study, login: Login) -> None:
    pk = ordered(login, "zhangyi", record_ids=[CLEAN])
    Member.objects.filter(wecom_userid="zhangyi").update(role="AUDITOR")
    problem(order(login, "zhangyi", record_ids=[CLEAN]), 403)
    problem(cancel(login, "zhangyi", pk), 403)
    assert progress(login, "zhangyi", pk).status_code == 200


@pytest.mark.full
def test_a_redcap_that_is_away_is_said(study: Study, login: Login) -> None:
    study.stand_ins.fault("redcap", "status", 500, times=None)
    problem(order(login, "zhangyi", all=True), 503)
    assert not Batch.objects.exists()


@pytest.mark.full
def test_cancelling_is_for_who_sees_the_whole_batch(study: Study, login: Login) -> None:
    pk = ordered(login, "zhangyi", record_ids=[CLEAN, OF_SITE_B], cap=1)
    problem(cancel(login, "wanghushi", pk), 403)
    answer = cancel(login, "zhangyi", pk, reason="Irrtum")
    assert answer.status_code == 200
    assert (answer.json()["cancelled"], answer.json()["waiting"]) == (2, 0)
    assert problem(cancel(login, "zhangyi", pk), 409)["code"] == "already_cancelled"
    drain()
    assert TaskRun.objects.get().status == "CANCELLED"
