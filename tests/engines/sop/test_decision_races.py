"""Two people, or a person and a cancellation, in the same instant: exactly one wins."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pytest
from django.db import connection, connections

from core.house.db import atomic
from engines import sop
from engines.models import PendingAction, Review, TaskRun
from engines.sop.asking import ask_anew
from projects import audit
from projects.models import AuditEntry, Member, Project
from skills.models import Skill
from study.records import RecordData, read_record
from tests.engines.sop.kit import (
    hard,
    human,
    meanwhile,
    new_skill,
    newer_values,
    review_of,
    rule,
    run_qc,
    tell,
)
from tests.house.kit import make_member, make_project
from tests.house.test_statement_races import somebody_waits
from tests.support.stand_ins import StandIns
from tests.support.study import Study, seed_study
from wechat.models import Card, OutboxMessage

pytestmark = pytest.mark.django_db(transaction=True)
TIMES = 4


def at_once(*calls: Callable[[], Any]) -> list[str]:
    """What became of calls that start together: "won" or the name of the refusal."""
    barrier = threading.Barrier(len(calls))
    outcomes: list[str] = [""] * len(calls)

    def work(number: int, call: Callable[[], Any]) -> None:
        try:
            barrier.wait()
            call()
            outcomes[number] = "won"
        except Exception as error:
            outcomes[number] = type(error).__name__
        finally:
            connections.close_all()

    threads = [threading.Thread(target=work, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return outcomes


@pytest.mark.full
def test_approve_and_reject_at_once(stand_ins: StandIns) -> None:
    study = seed_study(stand_ins)

    def say(review: Review, who: str, decision: sop.Decision) -> Callable[[], Any]:
        return lambda: sop.decide(
            review_id=review.pk,
            actor=study[who],
            decision=decision,
            reason="同时",
            seen=review.seen,
        )

    for _time in range(TIMES):
        newer_values(study, "P012")
        run = run_qc(study, "P012")
        review = review_of(run)
        outcomes = at_once(
            say(review, "wanghushi", "approve"),
            say(review, "admin", "reject"),
            say(review, "admin", "approve"),
        )

        assert sorted(outcomes) == ["NotSuspended", "NotSuspended", "won"]
        run.refresh_from_db()
        review.refresh_from_db()
        approved = outcomes[1] != "won"
        assert review.status == ("approved" if approved else "rejected")
        assert review.decided_by == ("wanghushi" if outcomes[0] == "won" else "admin")
        assert run.final_state == ("end_success" if approved else "end_rejected")
        assert [step.seq for step in run.steps.order_by("seq")] == [*range(run.seq)]
        tell()
        results = OutboxMessage.objects.filter(key__startswith=f"run:{run.pk}")
        assert results.count() == 1
    decided = AuditEntry.objects.filter(action__in=["review.approve", "review.reject"])
    assert decided.count() == TIMES
    assert [*audit.verify()] == []


@pytest.mark.full
def test_approve_and_cancel_at_once(stand_ins: StandIns) -> None:
    study = seed_study(stand_ins)
    for _time in range(TIMES):
        newer_values(study, "P012")
        run = run_qc(study, "P012")
        review = review_of(run)
        outcomes = at_once(
            lambda review=review: sop.decide(  # type: ignore[misc]
                review_id=review.pk,
                actor=study["wanghushi"],
                decision="approve",
                reason="好",
                seen=review.seen,
            ),
            lambda run=run: sop.cancel(run=run, actor="admin", reason="不要了"),  # type: ignore[misc]
        )

        assert sorted(outcomes) == ["NotSuspended", "won"]
        run.refresh_from_db()
        review.refresh_from_db()
        expected = ("COMPLETED", "approved") if outcomes[0] == "won" else ("CANCELLED", "withdrawn")
        assert (run.status, review.status) == expected
    assert [*audit.verify()] == []


@pytest.mark.skipif(connection.vendor == "sqlite", reason="NOT RUN: PostgreSQL (set DATABASE_URL)")
def test_cancelled_while_the_question_is_asked_anew(stand_ins: StandIns) -> None:
    """The newest card is closed too: nobody is left with buttons that do nothing."""
    run = run_qc(seed_study(stand_ins), "P012")
    with meanwhile('FROM "iit_reviews"', lambda: ask_anew(review_of(run), [{"age": "1"}], True)):
        sop.cancel(run=run, actor="admin", reason="不要了")
    assert Review.objects.get(task_run=run).version == 2
    assert not Card.objects.filter(state=Card.State.OPEN).exists()


@pytest.mark.full
def test_many_drivers_of_one_run(stand_ins: StandIns) -> None:
    study = seed_study(stand_ins)
    skill = study.project.skills.get(skill_type="qc_process")
    for record in ("P004", "P012"):
        run = sop.start(
            project=study.project, skill=skill, record_id=record, triggered_by="zhangyi", wake=False
        )
        assert at_once(*[lambda run=run: sop.drive(run.pk)] * 4) == ["won"] * 4  # type: ignore[misc]

        run.refresh_from_db()
        assert run.status in {"COMPLETED", "SUSPENDED"}
        assert [step.seq for step in run.steps.order_by("seq")] == [*range(run.seq)]
        assert run.findings.count() == 1
        assert run.fence == 1, "one of the four had it, the others had nothing to do"


@pytest.mark.full
def test_two_runs_open_the_same_finding_once(stand_ins: StandIns) -> None:
    study = seed_study(stand_ins)
    skill = study.project.skills.get(skill_type="qc_process")
    runs = [
        sop.start(
            project=study.project, skill=skill, record_id="P004", triggered_by="zhangyi", wake=False
        )
        for _number in range(3)
    ]
    assert at_once(*[lambda run=run: sop.drive(run.pk) for run in runs]) == ["won"] * 3  # type: ignore[misc]

    from engines.sop.findings import seen_in

    found = [seen_in(run) for run in TaskRun.objects.filter(pk__in=[run.pk for run in runs])]
    assert len(found[0]) == 1
    assert found[0] == found[1] == found[2], "the others say that they saw it too"
    assert AuditEntry.objects.filter(action="finding.open").count() == 1


def opened_by_another(study: Study, skill: Skill) -> None:
    """A run on older data of the same subject, of which the rules think less."""
    rows = [{**row, "age_calculated": "200"} for row in read(study).rows]
    start(study, skill, replace(read(study), rows=tuple(rows)))


def read(study: Study) -> RecordData:
    found = read_record(project=study.project, record_id="P001")
    assert found
    return found


def start(study: Study, skill: Skill, data: RecordData) -> TaskRun:
    return sop.start(
        project=study.project, skill=skill, record_id="P001", triggered_by="zhangyi", data=data
    )


@pytest.mark.full
def test_a_finding_opened_before_a_decision_is_stored_is_in_its_entry(stand_ins: StandIns) -> None:
    study = seed_study(stand_ins)
    young = hard(rules=[rule(logic={"<": [{"var": "age"}, 199]})], on_pass="b")
    skill = new_skill(study, {"a": young, "b": human()})
    review = review_of(start(study, skill, read(study)))
    with meanwhile('FROM "iit_reviews"', lambda: opened_by_another(study, skill)):
        sop.decide(
            review_id=review.pk,
            actor=study["wanghushi"],
            decision="approve",
            reason="已核对",
            seen=review.seen,
        )

    entry = AuditEntry.objects.get(action="review.approve")
    opened = PendingAction.objects.values_list("pk", flat=True)
    assert sorted((entry.new or {})["open_findings"]) == sorted(map(str, opened))
    assert len(opened) == 2, "what failed, and that the run did not pass"


@pytest.mark.full
@pytest.mark.parametrize("what", ["project_id", "wecom_userid", "role", "site", "is_active"])
def test_who_is_somebody_else_by_now_has_no_say(stand_ins: StandIns, what: str) -> None:
    """Between the reading of the question and the decision, which REDCap may take long to answer."""
    study = seed_study(stand_ins)
    review, nurse = review_of(run_qc(study, "P012")), study["wanghushi"]
    new = {
        "project_id": make_project("OTHER").pk,
        "wecom_userid": "successor",
        "role": "AUDITOR",
        "site": "site_b",
        "is_active": False,
    }

    def change() -> None:
        Member.objects.filter(pk=nurse.pk).update(**{what: new[what]})

    with meanwhile('FROM "iit_reviews"', change), pytest.raises(sop.NotAllowed):
        sop.decide(
            review_id=review.pk, actor=nurse, decision="approve", reason="已核对", seen=review.seen
        )
    review.refresh_from_db()
    assert (review.status, review.decided_by) == ("open", "")


@pytest.mark.full
def test_four_eyes_are_told_apart_by_who_they_are_now(stand_ins: StandIns) -> None:
    """Whoever brings an older idea of a member does not decide by it."""
    study = seed_study(stand_ins)
    Project.objects.filter(pk=study.project.pk).update(four_eyes=True)
    review = review_of(run_qc(study, "P012"))
    stale = make_member(study.project, "other", "ADMIN")
    Member.objects.filter(wecom_userid=review.task_run.triggered_by).update(wecom_userid="gone")
    Member.objects.filter(pk=stale.pk).update(wecom_userid=review.task_run.triggered_by)

    with pytest.raises(sop.NotAllowed):
        sop.decide(
            review_id=review.pk, actor=stale, decision="approve", reason="已核对", seen=review.seen
        )


@pytest.mark.skipif(connection.vendor == "sqlite", reason="NOT RUN: PostgreSQL (set DATABASE_URL)")
def test_a_decision_waits_for_who_changes_the_review(stand_ins: StandIns) -> None:
    study = seed_study(stand_ins)
    review = review_of(run_qc(study, "P012"))

    def decide() -> TaskRun:
        try:
            return sop.decide(
                review_id=review.pk,
                actor=study["wanghushi"],
                decision="approve",
                reason="已核对",
                seen=review.seen,
            )
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with atomic():
            Review.objects.filter(pk=review.pk).update(remind_at=None)
            deciding = pool.submit(decide)
            assert somebody_waits()
        assert deciding.result(60).final_state == "end_success"
    assert AuditEntry.objects.filter(action="review.approve").count() == 1
