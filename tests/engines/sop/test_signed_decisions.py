"""Where a project wants decisions signed, each takes the password, through every door (contracts.md, HTTP)."""

from __future__ import annotations

import logging
import sys
from typing import Any
from urllib.parse import urlencode

import pytest
from axes.models import AccessAttempt
from django.apps import apps
from django.core.signals import got_request_exception
from django.db import connection
from django.test import Client
from django.views.debug import ExceptionReporter
from pytest_django import Settings

from engines import sop
from engines.models import Review, TaskRun
from projects.models import AuditEntry, Project
from tests.engines.sop.doors import (
    DOORS,
    RUNS,
    WITH_PASSWORD,
    WITHOUT,
    Door,
    Said,
    api,
    by_api,
    by_page,
    console,
)
from tests.engines.sop.kit import human, new_skill, review_of, run_of, run_qc, tell
from tests.support.study import Study
from tests.wechat.working import payloads

pytestmark = pytest.mark.django_db
WRONG = "not-the-password-of-anybody"
DECISIONS = ["approve", "reject"]


@pytest.fixture
def review(study: Study) -> Review:
    """Waits for wanghushi, in a project that wants signatures."""
    Project.objects.filter(pk=study.project.pk).update(requires_signature=True)
    return review_of(run_qc(study, "P012"))


def password(study: Study, who: str = "wanghushi") -> str:
    found: str = study.run["logins"][who]["password"]
    return found


def is_untouched(review: Review) -> bool:
    run = TaskRun.objects.get(pk=review.task_run_id)
    now = Review.objects.get(pk=review.pk)
    kept = (run.status, now.status, now.version, now.decided_by, now.reason)
    decided = AuditEntry.objects.filter(action__in=["review.approve", "review.reject"])
    return kept == ("SUSPENDED", "open", 1, "", "") and not decided.exists()


@pytest.mark.full
@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("given", [None, "", " ", WRONG])
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_unsigned_nothing_is_decided(
    study: Study, review: Review, door: Door, given: str | None, decision: str
) -> None:
    door(review, Said(decision=decision, password=given))
    assert is_untouched(review)


@pytest.mark.full
@pytest.mark.parametrize("decision", DECISIONS)
@pytest.mark.parametrize("door", WITH_PASSWORD.values(), ids=WITH_PASSWORD.keys())
def test_signed_it_is_decided_and_the_entry_says_so(
    study: Study, review: Review, door: Door, decision: str
) -> None:
    door(review, Said(decision=decision, password=password(study)))
    review.refresh_from_db()
    assert review.status == ("approved" if decision == "approve" else "rejected")
    assert review.decided_by == "wanghushi"
    assert AuditEntry.objects.get(action=f"review.{decision}").new["signed"] is True


@pytest.mark.full
@pytest.mark.parametrize("door", DOORS.values(), ids=DOORS.keys())
def test_where_no_signature_is_wanted_none_is_asked(study: Study, door: Door) -> None:
    review = review_of(run_qc(study, "P012"))
    door(review, Said())
    review.refresh_from_db()
    assert review.status == "approved"
    assert AuditEntry.objects.get(action="review.approve").new["signed"] is False


@pytest.mark.full
@pytest.mark.parametrize(
    ("given", "code"), [(None, "signature_required"), (WRONG, "signature_wrong")]
)
def test_the_api_says_which(review: Review, given: str | None, code: str) -> None:
    answer = by_api(review, Said(password=given))
    assert answer.startswith("403 ")
    assert f'"code":"{code}"' in answer


@pytest.mark.full
def test_the_password_of_another_signs_nothing(study: Study, review: Review) -> None:
    assert "signature_wrong" in by_api(review, Said(password=password(study, "admin")))
    assert is_untouched(review)


@pytest.mark.full
def test_who_has_no_say_learns_nothing_about_passwords(study: Study, review: Review) -> None:
    answer = by_api(review, Said(who="zhangyi", password=WRONG))
    assert '"code":"permission_denied"' in answer


@pytest.mark.full
@pytest.mark.parametrize("door", WITHOUT.values(), ids=WITHOUT.keys())
def test_a_channel_without_passwords_gives_the_link(
    study: Study, door: Door, settings: Settings
) -> None:
    """A card that was sent before the project wanted signatures, too."""
    settings.PUBLIC_URL = "https://iit.example"
    review = review_of(run_qc(study, "P012"))
    tell()
    Project.objects.filter(pk=study.project.pk).update(requires_signature=True)
    told = door(review, Said())
    assert f"https://iit.example/admin/engines/review/{review.pk}/change/" in told
    assert is_untouched(review)


@pytest.mark.full
def test_cards_and_reminders_only_link(study: Study, review: Review) -> None:
    from tests.wechat.working import outgoing
    from wechat.reviews.reconcile import remind

    tell()
    [card] = payloads("card")
    assert [button["type"] for button in card["template_card"]["button_list"]] == [1]
    assert remind(review, "again")
    assert "同意" not in outgoing("wanghushi")[-1]


@pytest.mark.full
def test_a_bare_assent_gets_the_link(study: Study, review: Review, settings: Settings) -> None:
    from tests.wechat.working import outgoing, receive, work

    settings.PUBLIC_URL = "https://iit.example"
    tell()
    receive("同意", user="wanghushi")
    work()
    assert f"review/{review.pk}/change/" in outgoing("wanghushi")[-1]
    assert is_untouched(review)


@pytest.mark.full
@pytest.mark.parametrize("door", WITH_PASSWORD.values(), ids=WITH_PASSWORD.keys())
@pytest.mark.parametrize("given", ["", WRONG])
def test_both_count_for_the_lock_out(
    study: Study, review: Review, settings: Settings, door: Door, given: str
) -> None:
    settings.AXES_ENABLED = True
    settings.AXES_FAILURE_LIMIT = 3
    for _time in range(3):
        door(review, Said(password=given))
    assert AccessAttempt.objects.get().failures_since_start == 3
    door(review, Said(password=password(study)))
    assert is_untouched(review), "the right password comes too late"
    client = Client()
    client.post("/admin/login/", {"username": "wanghushi", "password": password(study)})
    assert "_auth_user_id" not in client.session


@pytest.mark.full
def test_who_is_locked_out_is_told_by_the_contract(
    study: Study, review: Review, settings: Settings
) -> None:
    settings.AXES_ENABLED = True
    settings.AXES_FAILURE_LIMIT = 1
    by_api(review, Said(password=WRONG))
    answer = by_api(review, Said(password=password(study)))
    assert answer.startswith("403 ")
    assert "signature_wrong" in answer


@pytest.mark.full
def test_a_right_password_is_no_failure(study: Study, review: Review, settings: Settings) -> None:
    settings.AXES_ENABLED = True
    by_api(review, Said(password=password(study)))
    assert not AccessAttempt.objects.exists()


def rows_with(text: str) -> list[str]:
    """Tables in which a text stands."""
    return [
        model._meta.label
        for model in apps.get_models()
        for row in model._base_manager.all().values()
        if text in str(row)
    ]


@pytest.mark.full
@pytest.mark.parametrize("door", WITH_PASSWORD.values(), ids=WITH_PASSWORD.keys())
def test_the_password_is_kept_nowhere(
    study: Study, review: Review, settings: Settings, door: Door, caplog: pytest.LogCaptureFixture
) -> None:
    settings.AXES_ENABLED = True
    settings.AXES_VERBOSE = True
    caplog.set_level(logging.DEBUG)
    right = password(study)
    pages = [door(review, Said(password=WRONG)), door(review, Said(password=right))]
    assert Review.objects.get(pk=review.pk).status == "approved"
    for secret in (WRONG, right):
        assert secret not in caplog.text
        assert not any(secret in page for page in pages)
    assert rows_with(WRONG) == []
    assert [label for label in rows_with(right) if label != "auth.User"] == []


def by_form(review: Review, said: Said) -> str:
    """The API takes forms, too, and Django shows what a form held."""
    url = f"/api/v1/task-runs/{review.task_run_id}/approve/"
    form = urlencode(said.form(review))
    answer: Any = api(said.who).post(url, form, content_type="application/x-www-form-urlencoded")
    return f"{answer.status_code}"


@pytest.mark.full
@pytest.mark.parametrize("door", [*WITH_PASSWORD.values(), by_form])
def test_the_password_is_in_no_error_report(study: Study, review: Review, door: Door) -> None:
    reports: list[str] = []

    def report(request: Any, **_given: Any) -> None:
        reporter = ExceptionReporter(request, *sys.exc_info())
        reports.extend([reporter.get_traceback_html(), reporter.get_traceback_text()])

    def broken(execute: Any, sql: str, *more: Any) -> Any:
        if 'UPDATE "iit_reviews"' in sql:
            raise RuntimeError("the database is gone")
        return execute(sql, *more)

    right = password(study)
    got_request_exception.connect(report, weak=False)
    try:
        with connection.execute_wrapper(broken), pytest.raises(RuntimeError):
            door(review, Said(password=right))
    finally:
        got_request_exception.disconnect(report)
    assert reports
    assert not any(right in one for one in reports)


@pytest.mark.full
def test_the_pages_ask_for_the_password(study: Study, review: Review) -> None:
    client = console("wanghushi")
    assert 'name="password"' in client.get(f"{RUNS}{review.task_run_id}/change/").content.decode()
    chosen = {"action": "approve_review", "_selected_action": [str(review.task_run_id)]}
    assert 'name="password"' in client.post(RUNS, chosen).content.decode()
    Project.objects.update(requires_signature=False)
    page = client.get(f"{RUNS}{review.task_run_id}/change/").content.decode()
    assert 'name="password"' not in page


@pytest.mark.full
def test_one_password_signs_all_that_were_opened(study: Study, review: Review) -> None:
    other = review_of(run_of(study, new_skill(study, {"a": human()}), "P001"))
    given = {
        "action": "approve_review",
        "apply": "1",
        "_selected_action": [str(one.task_run_id) for one in (review, other)],
        "opened": [f"{one.pk}:{one.seen}" for one in (review, other)],
        "reason": "已核对",
        "password": password(study),
    }
    console("wanghushi").post(RUNS, given)
    entries = AuditEntry.objects.filter(action="review.approve")
    assert [entry.new["signed"] for entry in entries] == [True, True]


def test_the_service_itself_asks(study: Study, review: Review) -> None:
    """Whatever channel comes next: without a password it decides nothing."""
    for actor in (study["wanghushi"], study["wanghushi"].user):
        assert actor is not None
        with pytest.raises(sop.SignatureRequired):
            sop.decide(
                review_id=review.pk,
                actor=actor,
                decision="approve",
                reason="已核对",
                seen=review.seen,
            )
    assert is_untouched(review)


@pytest.mark.full
@pytest.mark.parametrize("who", ["zhangyi", "crc_b"])
def test_who_may_not_decide_may_not_cancel_the_question(study: Study, who: str) -> None:
    run = run_qc(study, "P012")
    page = console(who).get(f"{RUNS}{run.pk}/change/", follow=True).content.decode()
    assert f"{run.pk}/cancel/" not in page
    console(who).post(f"{RUNS}{run.pk}/cancel/", {"reason": "不要了"})
    answer = api(who).post(f"/api/v1/task-runs/{run.pk}/cancel/", {"reason": "x"}, format="json")
    assert answer.status_code == (403 if who == "zhangyi" else 404)
    for word in ("取消", "撤销复核", "终止任务"):
        from tests.wechat.working import receive, work

        receive(f"{word} {review_of(run).pk}", user=who)
        work()
    with pytest.raises(sop.NotAllowed):
        sop.cancel(run=run, actor=study[who], reason="不要了")
    run.refresh_from_db()
    assert (run.status, review_of(run).status) == ("SUSPENDED", "open")


def test_four_eyes_hold_for_cancelling_too(study: Study) -> None:
    Project.objects.filter(pk=study.project.pk).update(four_eyes=True)
    run = run_qc(study, "P012", triggered_by="wanghushi")
    with pytest.raises(sop.NotAllowed):
        sop.cancel(run=run, actor=study["wanghushi"], reason="不要了")
    assert sop.cancel(run=run, actor=study["admin"], reason="误操作").status == "CANCELLED"


@pytest.mark.parametrize("who", ["wanghushi", "admin"])
def test_who_decides_may_cancel(study: Study, who: str) -> None:
    run = run_qc(study, "P012")
    answer = api(who).post(f"/api/v1/task-runs/{run.pk}/cancel/", {"reason": "x"}, format="json")
    assert answer.status_code == 200
    run.refresh_from_db()
    assert run.status == "CANCELLED"


def test_a_pi_cancels_what_waits_for_nobody(study: Study) -> None:
    from tests.engines.sop.kit import begin, hard

    run = begin(study, new_skill(study, {"a": hard()}))
    answer = api("zhangyi").post(f"/api/v1/task-runs/{run.pk}/cancel/", {}, format="json")
    assert answer.status_code == 200


def test_cancelling_a_batch_leaves_what_waits_for_a_person(study: Study) -> None:
    """Also what begins to wait in that instant."""
    from engines.models import Batch
    from tests.engines.sop.kit import qc

    batch = sop.start_batch(
        project=study.project, skill=qc(study), record_ids=["P012"], actor="zhangyi"
    )
    run = TaskRun.objects.get(batch=batch)
    sop.drive(run.pk)
    TaskRun.objects.filter(pk=run.pk, status="SUSPENDED").update(batch=batch)
    sop.cancel_batch(batch=Batch.objects.get(pk=batch.pk), actor=study["zhangyi"])
    run.refresh_from_db()
    assert run.status == "SUSPENDED"


@pytest.mark.full
def test_by_page_names_the_refusal(review: Review) -> None:
    assert "The password is wrong." in by_page(review, Said(password=WRONG))
