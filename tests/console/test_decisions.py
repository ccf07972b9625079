"""Approve, reject, cancel and resolve in the console."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.test import Client

from engines.models import PendingAction, Review, TaskRun
from projects.models import AuditEntry
from tests.console.conftest import SITE_A, review_of

RUNS = "/admin/engines/taskrun/"
Status = TaskRun.Status


def decide(client: Client, run: TaskRun, **given: str) -> str:
    """Post a decision; returns the page that follows."""
    answer = client.post(f"{RUNS}{run.pk}/decide/", given, follow=True)
    assert answer.status_code == 200
    run.refresh_from_db()
    return answer.content.decode()


@pytest.mark.full
def test_the_page_shows_what_is_decided(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    page = as_user("wanghushi").get(f"{RUNS}{run_a.pk}/change/").content.decode()
    assert "年龄是否已核对?" in page
    assert "年龄超出范围" in page
    assert "age_calculated" in page
    assert f'name="seen" value="{review_of(run_a).seen}"' in page
    assert 'name="approve"' in page


@pytest.mark.full
def test_the_page_names_no_patient(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    page = as_user("wanghushi").get(f"{RUNS}{run_a.pk}/change/").content.decode()
    assert "id_card" not in page
    assert "subject_name" not in page


@pytest.mark.full
def test_a_crc_approves(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    decide(as_user("wanghushi"), run_a, approve="1", reason="已核对", seen=review_of(run_a).seen)
    assert (run_a.status, run_a.final_state) == (Status.COMPLETED, "end_success")
    entry = AuditEntry.objects.get(action="review.approve")
    assert (entry.actor, entry.record_id) == ("wanghushi", SITE_A)


@pytest.mark.full
def test_a_crc_rejects_with_a_reason(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    seen = review_of(run_a).seen
    page = decide(as_user("wanghushi"), run_a, reject="1", reason="数据有误", seen=seen)
    assert (run_a.status, run_a.final_state) == (Status.COMPLETED, "end_rejected")
    assert "数据有误" in page
    assert Review.objects.get(task_run=run_a).reason == "数据有误"


@pytest.mark.full
def test_a_rejection_without_a_reason_asks_for_it(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    page = decide(as_user("wanghushi"), run_a, reject="1", reason="  ", seen=review_of(run_a).seen)
    assert run_a.status == Status.SUSPENDED
    assert "Please give the reason of the rejection." in page


@pytest.mark.full
def test_neither_button_decides_nothing(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    page = decide(as_user("wanghushi"), run_a, reason="why", seen=review_of(run_a).seen)
    assert run_a.status == Status.SUSPENDED
    assert "Please choose: approve or reject." in page


@pytest.mark.full
def test_what_is_no_longer_shown_is_not_decided(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    page = decide(as_user("wanghushi"), run_a, approve="1", reason="已核对", seen="0" * 64)
    assert run_a.status == Status.SUSPENDED
    assert "The values changed since they were shown." in page


@pytest.mark.full
def test_of_two_decisions_the_second_is_told(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    seen = review_of(run_a).seen
    decide(as_user("wanghushi"), run_a, approve="1", reason="已核对", seen=seen)
    page = decide(as_user("admin"), run_a, reject="1", reason="no", seen=seen)
    assert run_a.final_state == "end_success"
    assert "任务不在挂起状态" in page
    assert AuditEntry.objects.filter(action__startswith="review.", actor="admin").count() == 0


@pytest.mark.full
@pytest.mark.parametrize("name", ["auditor", "zhangyi"])
def test_who_is_no_reviewer_decides_nothing(
    as_user: Callable[..., Client], run_a: TaskRun, name: str
) -> None:
    client = as_user(name)
    page = client.get(f"{RUNS}{run_a.pk}/change/").content.decode()
    assert 'name="approve"' not in page
    decide(client, run_a, approve="1", seen=review_of(run_a).seen)
    assert run_a.status == Status.SUSPENDED


@pytest.mark.full
def test_an_auditor_has_no_actions(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    client = as_user("auditor")
    client.post(RUNS, {"action": "approve_review", "_selected_action": [str(run_a.pk)]})
    client.post(f"{RUNS}{run_a.pk}/cancel/", {"reason": "x"})
    finding = PendingAction.objects.get(task_run=run_a)
    client.post(f"/admin/engines/pendingaction/{finding.pk}/resolve/", {"reason": "x"})
    run_a.refresh_from_db()
    finding.refresh_from_db()
    assert run_a.status == Status.SUSPENDED
    assert finding.open_key


@pytest.mark.full
def test_the_action_asks_for_the_reason(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    client = as_user("wanghushi")
    given: dict[str, object] = {"action": "reject_review", "_selected_action": [str(run_a.pk)]}
    page = client.post(RUNS, given).content.decode()
    assert f'value="{run_a.pk}"' in page
    assert 'name="reason"' in page
    review = review_of(run_a)
    given |= {"apply": "1", "opened": [f"{review.pk}:{review.seen}"]}
    again = client.post(RUNS, given | {"reason": " "}).content.decode()
    assert "Please give the reason of the decision." in again
    run_a.refresh_from_db()
    assert run_a.status == Status.SUSPENDED
    client.post(RUNS, given | {"reason": "源文件缺失"})
    run_a.refresh_from_db()
    assert run_a.final_state == "end_rejected"


def test_an_open_review_leads_to_the_desk(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    review = f"/admin/engines/review/{review_of(run_a).pk}"
    answer = as_user("wanghushi").get(f"{review}/change/")
    assert answer.headers["Location"] == f"{review}/desk/"


@pytest.mark.full
def test_a_closed_review_shows_what_was_shown(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    client, review = as_user("wanghushi"), review_of(run_a)
    decide(client, run_a, approve="1", reason="已核对", seen=review.seen)
    page = client.get(f"/admin/engines/review/{review.pk}/change/").content.decode()
    assert "age_calculated" in page
    assert review.seen in page


def test_a_run_is_cancelled(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    as_user("wanghushi").post(f"{RUNS}{run_a.pk}/cancel/", {"reason": "重复"})
    run_a.refresh_from_db()
    assert run_a.status == Status.CANCELLED
    assert Review.objects.get(task_run=run_a).status == Review.Status.WITHDRAWN


@pytest.mark.full
def test_a_finding_is_resolved_once(as_user: Callable[..., Client], run_a: TaskRun) -> None:
    client, finding = as_user("wanghushi"), PendingAction.objects.get(task_run=run_a)
    url = f"/admin/engines/pendingaction/{finding.pk}/resolve/"
    client.post(url, {"reason": " "})
    finding.refresh_from_db()
    assert finding.open_key
    client.post(url, {"reason": "源文件无误"})
    finding.refresh_from_db()
    assert (finding.state, finding.resolved_by, finding.resolution) == (
        "closed",
        "wanghushi",
        "源文件无误",
    )
    page = client.post(url, {"reason": "again"}, follow=True).content.decode()
    assert "The finding is closed already." in page
    finding.refresh_from_db()
    assert finding.resolution == "源文件无误"


@pytest.mark.full
def test_findings_are_resolved_by_the_action(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    client, finding = as_user("wanghushi"), PendingAction.objects.get(task_run=run_a)
    given = {"action": "resolve_findings", "_selected_action": [str(finding.pk)]}
    assert 'name="reason"' in client.post("/admin/engines/pendingaction/", given).content.decode()
    client.post("/admin/engines/pendingaction/", given | {"reason": "源文件无误"})
    finding.refresh_from_db()
    assert finding.state == "closed"
