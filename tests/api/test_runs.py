"""Starting, deciding and cancelling runs, and resolving findings (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from engines import work
from engines.models import PendingAction, TaskRun
from engines.sop.checks import switch
from engines.sop.checks.kinds import GROUPS
from projects.models import AuditEntry, Member
from study import dictionary
from tests.api.conftest import Login
from tests.api.test_editing import problem
from tests.support.study import Study
from tests.support.tasks import drain

# A run is woken when the order is committed.
pytestmark = pytest.mark.django_db(transaction=True)
CLEAN, VIOLATION, DOUBTFUL = "P001", "P004", "P012"
OF_SITE_B = "P020"


def order(login: Login, userid: str, record_id: str = CLEAN, **body: Any) -> Any:
    body = {"project": "LUNG-IIT", "skill_type": "qc_process", "record_id": record_id} | body
    return login(userid).post("/api/v1/task-runs/start/", body, format="json")


def started(login: Login, userid: str, record_id: str, **body: Any) -> str:
    answer = order(login, userid, record_id, **body)
    assert answer.status_code == 201, answer.content
    assert answer.json().keys() == {"id", "status"}
    drain()
    pk: str = answer.json()["id"]
    return pk


def shown(login: Login, userid: str, pk: str) -> dict[str, Any]:
    answer = login(userid).get(f"/api/v1/task-runs/{pk}/")
    assert answer.status_code == 200
    content: dict[str, Any] = answer.json()
    return content


@pytest.mark.full
@pytest.mark.parametrize("userid", ["zhangyi", "wanghushi", "admin"])
def test_an_order_is_answered_at_once_and_ends(userid: str, study: Study, login: Login) -> None:
    answer = order(login, userid)
    assert answer.status_code == 201
    assert answer.json() == {"id": str(TaskRun.objects.get().pk), "status": "RUNNING"}
    drain()
    run = shown(login, userid, answer.json()["id"])
    assert (run["status"], run["final_state"], run["review"]) == ("COMPLETED", "end_success", None)
    assert (run["record_id"], run["triggered_by"], run["skill_version"]) == (CLEAN, userid, 1)
    assert [entry.actor for entry in AuditEntry.objects.filter(action="run.start")] == [userid]


@pytest.mark.full
def test_the_bare_skill_is_the_default(study: Study, login: Login) -> None:
    body = {"project": "LUNG-IIT", "record_id": CLEAN}
    assert login("zhangyi").post("/api/v1/task-runs/start/", body, format="json").status_code == 201
    assert TaskRun.objects.get().skill.skill_type == "qc_process"


@pytest.mark.full
def test_absent_of_the_other_site_and_not_yours_read_the_same(study: Study, login: Login) -> None:
    answers = [
        order(login, "wanghushi", "P999"),
        order(login, "wanghushi", OF_SITE_B),
        order(login, "wanghushi", CLEAN, project="GHOST"),
        order(login, "wanghushi", "p001"),
        order(login, "wanghushi", "*"),
    ]
    assert {answer.status_code for answer in answers} == {404}
    assert len({answer.content for answer in answers}) == 1
    assert answers[0]["Content-Type"] == "application/problem+json"
    User.objects.create(username="stranger")
    assert order(login, "stranger").content == answers[0].content
    assert not TaskRun.objects.exists()


@pytest.mark.full
@pytest.mark.parametrize(
    ("body", "names"),
    [
        ({"record_id": ""}, {"record_id"}),
        ({"record_id": None}, {"record_id"}),
        ({"record_id": "x" * 101}, {"record_id"}),
        ({"record_id": "P001\u0000"}, {"record_id"}),
        ({"skill_type": "no_such"}, {"skill_type"}),
        ({"project": ""}, {"project"}),
    ],
)
def test_a_bad_order_names_its_fields(
    body: dict[str, Any], names: set[str], study: Study, login: Login
) -> None:
    assert problem(order(login, "zhangyi", **body), 400)["errors"].keys() == names


def test_who_only_looks_may_not_order(study: Study, login: Login) -> None:
    Member.objects.filter(wecom_userid="zhangyi").update(role="AUDITOR")
    problem(order(login, "zhangyi"), 403)


@pytest.mark.full
def test_an_inactive_skill_cannot_be_ordered(study: Study, login: Login) -> None:
    study.project.skills.filter(skill_type="qc_process").update(is_active=False)
    problem(order(login, "zhangyi"), 400)


@pytest.mark.full
def test_a_redcap_that_is_away_is_said(study: Study, login: Login) -> None:
    study.stand_ins.fault("redcap", "status", 500, times=None)
    problem(order(login, "zhangyi"), 503)
    assert not TaskRun.objects.exists()


def suspended(login: Login, userid: str = "wanghushi") -> tuple[str, dict[str, Any]]:
    pk = started(login, userid, DOUBTFUL)
    run = shown(login, userid, pk)
    assert run["status"] == "SUSPENDED"
    assert {"seen", "question", "values"} <= run["review"].keys()
    return pk, run["review"]


def decide(login: Login, userid: str, pk: str, what: str, **body: Any) -> Any:
    return login(userid).post(f"/api/v1/task-runs/{pk}/{what}/", body, format="json")


@pytest.mark.full
def test_a_suspended_run_shows_what_is_asked_and_is_approved(study: Study, login: Login) -> None:
    pk, review = suspended(login)
    assert review["question"]
    assert review["values"]
    answer = decide(login, "wanghushi", pk, "approve", reason="既往史已核对", seen=review["seen"])
    assert answer.status_code == 200, answer.content
    drain()
    run = shown(login, "wanghushi", pk)
    assert (run["status"], run["final_state"], run["review"]) == ("COMPLETED", "end_success", None)
    entry = AuditEntry.objects.get(action="review.approve")
    assert (entry.actor, entry.reason, entry.record_id) == ("wanghushi", "既往史已核对", DOUBTFUL)


@pytest.mark.full
def test_identifiers_are_not_among_the_values_shown(study: Study, login: Login) -> None:
    _, review = suspended(login)
    identifiers = dictionary.load(study.project).identifier_fields
    assert identifiers
    assert not identifiers & {value["field"] for value in review["values"]}


@pytest.mark.full
def test_a_rejection_needs_its_reason(study: Study, login: Login) -> None:
    pk, review = suspended(login)
    content = problem(
        decide(login, "wanghushi", pk, "reject", seen=review["seen"], reason=" "), 400
    )
    assert content["errors"].keys() == {"reason"}
    assert shown(login, "wanghushi", pk)["status"] == "SUSPENDED"
    answer = decide(login, "wanghushi", pk, "reject", seen=review["seen"], reason="间质性肺炎")
    assert answer.status_code == 200
    drain()
    assert shown(login, "wanghushi", pk)["final_state"] == "end_rejected"


@pytest.mark.full
def test_a_decision_says_what_was_seen(study: Study, login: Login) -> None:
    pk, _ = suspended(login)
    assert problem(decide(login, "wanghushi", pk, "approve"), 400)["errors"].keys() == {"seen"}
    content = problem(decide(login, "wanghushi", pk, "approve", seen="0" * 64), 409)
    assert content["code"] == "values_changed"
    assert content["review"]["seen"] != "0" * 64


@pytest.mark.full
def test_the_second_decision_is_too_late(study: Study, login: Login) -> None:
    pk, review = suspended(login)
    assert (
        decide(login, "wanghushi", pk, "approve", reason="已核对", seen=review["seen"]).status_code
        == 200
    )
    for what in ("approve", "reject"):
        content = problem(decide(login, "admin", pk, what, seen=review["seen"], reason="x"), 409)
        assert content["code"] == "not_suspended"
        assert content["review"]["decided_by"] == "wanghushi"


@pytest.mark.full
def test_a_run_without_a_question_is_not_suspended(study: Study, login: Login) -> None:
    pk = started(login, "wanghushi", CLEAN)
    content = problem(decide(login, "wanghushi", pk, "approve", seen="x"), 409)
    assert (content["code"], content["review"]) == ("not_suspended", None)


@pytest.mark.full
def test_who_has_no_say_is_forbidden_and_who_sees_nothing_finds_nothing(
    study: Study, login: Login
) -> None:
    pk, review = suspended(login)
    problem(decide(login, "zhangyi", pk, "approve", reason="已核对", seen=review["seen"]), 403)
    for what in ("approve", "reject", "cancel"):
        problem(decide(login, "crc_b", pk, what, seen=review["seen"], reason="x"), 404)
    assert shown(login, "wanghushi", pk)["status"] == "SUSPENDED"


@pytest.mark.full
def test_a_run_is_cancelled_once(study: Study, login: Login) -> None:
    pk, review = suspended(login)
    problem(
        decide(login, "zhangyi", pk, "cancel", reason="重复"), 403
    )  # who may not approve either
    answer = decide(login, "wanghushi", pk, "cancel", reason="重复")
    assert (answer.status_code, answer.json()["status"]) == (200, "CANCELLED")
    assert AuditEntry.objects.get(action="run.cancel").reason == "重复"
    assert problem(decide(login, "wanghushi", pk, "cancel"), 409)["code"] == "not_suspended"
    assert (
        problem(
            decide(login, "wanghushi", pk, "approve", reason="已核对", seen=review["seen"]), 409
        )["code"]
        == "not_suspended"
    )


@pytest.mark.full
def test_who_only_looks_may_not_cancel(study: Study, login: Login) -> None:
    pk, _ = suspended(login)
    Member.objects.filter(wecom_userid="zhangyi").update(role="AUDITOR")
    problem(decide(login, "zhangyi", pk, "cancel"), 403)


def finding(login: Login) -> PendingAction:
    started(login, "wanghushi", VIOLATION)
    found: PendingAction = PendingAction.objects.get(record_id=VIOLATION, rule_key="EL03")
    return found


@pytest.mark.full
def test_a_finding_is_resolved_once_with_what_was_done(study: Study, login: Login) -> None:
    row = finding(login)
    path = f"/api/v1/pending-actions/{row.pk}/resolve/"
    assert problem(login("wanghushi").post(path, {}, format="json"), 400)["errors"].keys() == {
        "resolution"
    }
    answer = login("wanghushi").post(path, {"resolution": "源文件无误"}, format="json")
    assert answer.status_code == 200, answer.content
    content = answer.json()
    assert (content["resolved_by"], content["resolution"]) == ("wanghushi", "源文件无误")
    assert content["resolved_at"]
    assert (
        problem(login("wanghushi").post(path, {"resolution": "again"}, format="json"), 409)["code"]
        == "not_open"
    )
    assert AuditEntry.objects.get(action="finding.close").reason == "源文件无误"


@pytest.mark.full
def test_a_finding_of_the_other_site_does_not_exist(study: Study, login: Login) -> None:
    row = finding(login)
    body = {"resolution": "x"}
    problem(
        login("crc_b").post(f"/api/v1/pending-actions/{row.pk}/resolve/", body, format="json"), 404
    )
    Member.objects.filter(wecom_userid="zhangyi").update(role="AUDITOR")
    problem(
        login("zhangyi").post(f"/api/v1/pending-actions/{row.pk}/resolve/", body, format="json"),
        403,
    )
    row.refresh_from_db()
    assert row.resolved_by is None


def test_a_result_says_what_was_looked_at_and_what_is_off(study: Study, login: Login) -> None:
    run = shown(login, "wanghushi", started(login, "wanghushi", CLEAN))
    off = [str(label) for label, kinds in GROUPS if kinds.isdisjoint(switch.running(study.project))]
    assert off
    assert "、".join(off) in run["coverage"]
    found = TaskRun.objects.get(pk=run["id"])
    assert run["coverage"] == switch.coverage(found, switch.running(study.project))
    # Beside what else is told of the run, too.
    TaskRun.objects.update(message="提前结束")
    [told] = work.runs(study.project, None)[CLEAN]
    assert "提前结束" in told["reason"]
    assert "、".join(off) in told["reason"]
