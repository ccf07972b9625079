"""Who may decide a review, on what, and what follows (decisions.md, "who reviews")."""

from __future__ import annotations

from typing import Any

import pytest
from django.contrib.auth.models import User

from engines import sop
from engines.models import Review, TaskRun
from projects import audit
from projects.models import AuditEntry, Member, Project
from tests.engines.sop.kit import (
    begin,
    change,
    go,
    hard,
    human,
    new_skill,
    newer_values,
    review_of,
    run_of,
    run_qc,
    steps,
    tell,
)
from tests.engines.sop.test_findings_life import rows_of
from tests.support.study import Study
from wechat.models import OutboxMessage

pytestmark = pytest.mark.django_db


def decide(study: Study, run: TaskRun, who: str | Member = "wanghushi", **more: Any) -> TaskRun:
    review = review_of(run)
    actor = study[who] if isinstance(who, str) else who
    said = {"decision": "approve", "reason": "已核对", "seen": review.seen} | more
    return sop.decide(review_id=review.pk, actor=actor, **said)


def unchanged(run: TaskRun) -> bool:
    review = review_of(run)
    run.refresh_from_db()
    return (run.status, review.status, review.decided_by) == ("SUSPENDED", "open", "")


@pytest.fixture
def run(study: Study) -> TaskRun:
    return run_qc(study, "P012")


def test_approval_goes_on_to_the_end(study: Study, run: TaskRun) -> None:
    done = decide(study, run)

    assert (done.status, done.final_state, done.message) == ("COMPLETED", "end_success", "")
    assert steps(done)[-2:] == ["human_review waiting", "human_review approved"]
    review = Review.objects.get(task_run=run)
    assert (review.status, review.decided_by, review.reason) == ("approved", "wanghushi", "已核对")
    assert [*audit.verify()] == []


@pytest.mark.full
def test_rejection_follows_its_edge(study: Study, run: TaskRun) -> None:
    done = decide(study, run, decision="reject", reason="间质性肺炎属实")

    assert (done.status, done.final_state) == ("COMPLETED", "end_rejected")
    entry = AuditEntry.objects.get(action="review.reject")
    assert (entry.actor, entry.reason, entry.record_id) == ("wanghushi", "间质性肺炎属实", "P012")
    assert entry.new["seen"] == Review.objects.get().seen
    assert entry.new["values_read_again"] is True
    assert len(entry.new["open_findings"]) == 1


@pytest.mark.full
def test_an_undetermined_verdict_follows_pass_and_fail(study: Study) -> None:
    approved = decide(study, run_qc(study, "P002"))
    assert (approved.status, approved.current_node) == ("RUNNING", "medication_check")
    assert go(approved).final_state == "end_success"

    newer_values(study, "P002")
    rejected = decide(study, run_qc(study, "P002"), decision="reject", reason="资料不全")
    assert (rejected.status, rejected.current_node) == ("SUSPENDED", "human_review")
    assert decide(study, rejected).final_state == "end_success"


@pytest.mark.parametrize("who", ["crc_b", "zhangyi"])
def test_the_other_site_and_a_pi_not_named_have_no_say(
    study: Study, run: TaskRun, who: str
) -> None:
    with pytest.raises(sop.NotAllowed):
        decide(study, run, who)
    assert unchanged(run)


@pytest.mark.parametrize("values", [{"role": "AUDITOR"}, {"is_active": False}, {"site": "site_b"}])
def test_what_a_member_may_is_asked_of_the_database(
    study: Study, run: TaskRun, values: dict[str, Any]
) -> None:
    Member.objects.filter(pk=study["wanghushi"].pk).update(**values)

    with pytest.raises(sop.NotAllowed):
        decide(study, run)
    assert unchanged(run)


@pytest.mark.full
def test_an_administrator_and_a_named_pi_decide(study: Study, run: TaskRun) -> None:
    assert decide(study, run, "admin").final_state == "end_success"
    named = run_of(study, new_skill(study, {"a": human(reviewers=["PI"])}))
    assert decide(study, named, "zhangyi").final_state == "end_success"


@pytest.mark.full
def test_four_eyes(study: Study) -> None:
    Project.objects.filter(pk=study.project.pk).update(four_eyes=True)
    own = run_qc(study, "P012", triggered_by="wanghushi")

    with pytest.raises(sop.NotAllowed):
        decide(study, own)
    assert unchanged(own)
    assert decide(study, own, "admin").final_state == "end_success"


@pytest.mark.full
def test_four_eyes_know_who_got_a_userid_since(study: Study) -> None:
    """Who ordered it went by the login then, and by the userid now."""
    Project.objects.filter(pk=study.project.pk).update(four_eyes=True)
    person = study["wanghushi"].person
    person.user = User.objects.create(username="nurse")
    person.save()
    own = run_qc(study, "P012", triggered_by="nurse")

    with pytest.raises(sop.NotAllowed):
        decide(study, own)
    assert unchanged(own)


@pytest.mark.parametrize("reason", ["", "  \n"])
def test_a_rejection_needs_its_reason(study: Study, run: TaskRun, reason: str) -> None:
    with pytest.raises(sop.ReasonRequired):
        decide(study, run, decision="reject", reason=reason)
    assert unchanged(run)


@pytest.mark.full
@pytest.mark.parametrize("reason", ["", "  \n"])
def test_an_approval_over_a_failure_needs_its_reason(
    study: Study, run: TaskRun, reason: str
) -> None:
    with pytest.raises(sop.ReasonRequired):
        decide(study, run, reason=reason)
    assert unchanged(run)
    undecided = run_qc(study, "P002")
    assert decide(study, undecided, reason=reason).reviews.get().reason == "未说明"


@pytest.mark.full
def test_the_second_decision_is_too_late(study: Study, run: TaskRun) -> None:
    review = review_of(run)
    decide(study, run)

    with pytest.raises(sop.NotSuspended) as caught:
        sop.decide(
            review_id=review.pk,
            actor=study["admin"],
            decision="reject",
            reason="不",
            seen=review.seen,
        )
    assert str(caught.value) == "任务不在挂起状态"
    assert caught.value.review
    assert caught.value.review.decided_by == "wanghushi"
    assert Review.objects.get().status == "approved"


def test_a_review_that_does_not_exist(study: Study) -> None:
    with pytest.raises(sop.NotSuspended):
        sop.decide(review_id=4711, actor=study["admin"], decision="approve", seen="x")


def test_a_stale_page_decides_nothing(study: Study, run: TaskRun) -> None:
    with pytest.raises(sop.ValuesChanged) as caught:
        decide(study, run, seen="0" * 64)
    assert unchanged(run)
    assert caught.value.review
    assert caught.value.review.version == 1


@pytest.mark.full
def test_changed_values_are_asked_about_anew(study: Study, run: TaskRun) -> None:
    before = review_of(run)
    tell()
    place = next(r for r in rows_of(study, "P012") if r.get("ecog_score"))["redcap_event_name"]
    change(study, "P012", str(place), ecog_score="2")

    with pytest.raises(sop.ValuesChanged) as caught:
        decide(study, run)

    newer = caught.value.review
    assert newer
    assert (newer.pk, newer.version, newer.status) == (before.pk, 2, "open")
    assert newer.seen != before.seen
    assert '"ecog_score": "2"' in newer.values
    tell()
    cards = OutboxMessage.objects.filter(to_user="wanghushi", kind="card").count()
    assert cards == 2, "the reviewer gets a card with the new values"
    with pytest.raises(sop.ValuesChanged):
        decide(study, run, seen=before.seen)
    assert decide(study, run).final_state == "end_success"


def test_a_subject_that_vanished_is_a_change(study: Study, run: TaskRun) -> None:
    study.stand_ins.fault("redcap", "body", [], times=2)

    with pytest.raises(sop.ValuesChanged):
        decide(study, run)
    assert review_of(run).values == "[]"


@pytest.mark.full
def test_redcap_away_does_not_stop_a_decision_but_is_noted(study: Study, run: TaskRun) -> None:
    study.stand_ins.fault("redcap", "status", 403, times=None)

    assert decide(study, run).final_state == "end_success"
    assert AuditEntry.objects.get(action="review.approve").new["values_read_again"] is False


@pytest.mark.full
def test_cancel_withdraws_the_question(study: Study, run: TaskRun) -> None:
    review = review_of(run)
    cancelled = sop.cancel(run=run, actor=study["admin"], reason="误操作")

    assert (cancelled.status, cancelled.final_state, cancelled.message) == (
        "CANCELLED",
        "cancelled",
        "误操作",
    )
    with pytest.raises(sop.NotSuspended):
        sop.decide(
            review_id=review.pk,
            actor=study["wanghushi"],
            decision="approve",
            reason="已核对",
            seen=review.seen,
        )
    with pytest.raises(sop.NotSuspended):
        sop.cancel(run=run, actor=study["admin"], reason="再来")
    review.refresh_from_db()
    assert review.status == "withdrawn"
    assert AuditEntry.objects.filter(action="run.cancel").count() == 1


def test_a_run_that_is_cancelled_before_it_began_is_never_driven(study: Study) -> None:
    run = begin(study, new_skill(study, {"a": hard()}))
    sop.cancel(run=run, actor="admin", reason="")

    assert go(run).steps.count() == 0


def test_a_decision_may_lead_to_the_next_question(study: Study) -> None:
    nodes = {"a": human(on_approve="b"), "b": hard(on_pass="c"), "c": human(description="再看")}
    run = run_of(study, new_skill(study, nodes))
    second = decide(study, run)

    assert (second.status, second.current_node) == ("SUSPENDED", "c")
    assert review_of(second).question == "再看"
    assert Review.objects.filter(task_run=run).count() == 2
    assert decide(study, second).final_state == "end_success"


def test_a_dictionary_that_is_missing_lets_the_decision_stand(study: Study) -> None:
    from study.models import Dictionary

    run = run_of(study, new_skill(study, {"a": human(on_approve="b"), "b": hard()}))
    Dictionary.objects.filter(project=study.project).update(digest="")
    study.stand_ins.fault("redcap", "status", 403, times=None)
    done = decide(study, run)

    assert (done.status, done.current_node) == ("RUNNING", "b")
    assert done.available_at
    assert steps(done)[-1] == "a approved"
