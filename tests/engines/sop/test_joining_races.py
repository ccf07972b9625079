"""Runs that come to a question, a decision and cancellations in the same instant (design.md 9.11)."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection

from engines import sop
from engines.models import PendingAction, Review, TaskRun
from projects import audit
from projects.models import AuditEntry
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
)
from tests.engines.sop.test_decision_races import at_once
from tests.support.stand_ins import StandIns
from tests.support.study import Study, seed_study

pytestmark = pytest.mark.django_db(transaction=True)
TIMES = 4
YOUNG = rule(logic={"<": [{"var": "age"}, 1]})
ON_POSTGRESQL = pytest.mark.skipif(
    connection.vendor == "sqlite", reason="NOT RUN: PostgreSQL (set DATABASE_URL)"
)
Status = TaskRun.Status


@pytest.fixture
def study(stand_ins: StandIns) -> Study:
    return seed_study(stand_ins)


@pytest.fixture
def skill(study: Study) -> Skill:
    return new_skill(study, {"check": hard(rules=[YOUNG], on_fail="ask"), "ask": human()})


def read(study: Study) -> RecordData:
    found = read_record(project=study.project, record_id="P001")
    assert found
    return found


def start(study: Study, skill: Skill) -> TaskRun:
    """In the transaction that creates it the run comes to its question."""
    return sop.start(
        project=study.project,
        skill=skill,
        record_id="P001",
        triggered_by="zhangyi",
        data=read(study),
    )


def begun(study: Study, skill: Skill) -> TaskRun:
    return sop.start(
        project=study.project,
        skill=skill,
        record_id="P001",
        triggered_by="zhangyi",
        wake=False,
    )


def decide(study: Study, review: Review, decision: sop.Decision = "approve") -> Any:
    return sop.decide(
        review_id=review.pk,
        actor=study["wanghushi"],
        decision=decision,
        reason="同时",
        seen=review.seen,
    )


def is_whole() -> None:
    """Every run ended once or waits for the one open review; every step and audit entry once."""
    for run in TaskRun.objects.all():
        assert [step.seq for step in run.steps.order_by("seq")] == [*range(run.seq)]
        assert bool(sop.open_review(run)) is (run.status == Status.SUSPENDED)
        ended = AuditEntry.objects.filter(action="run.end", object_id=str(run.pk)).count()
        assert ended == (run.status not in {Status.SUSPENDED, Status.RUNNING})
    for review in Review.objects.filter(status="open"):
        assert review.task_run in sop.waiting_for(review)
    assert [*audit.verify()] == []


@pytest.mark.full
@pytest.mark.parametrize("driven", [False, True])
def test_runs_that_come_at_once_ask_once(study: Study, skill: Skill, driven: bool) -> None:
    if driven:
        runs = [begun(study, skill) for _number in range(4)]
        calls = [lambda run=run: sop.drive(run.pk) for run in runs]  # type: ignore[misc]
    else:
        calls = [lambda: start(study, skill)] * 4

    assert at_once(*calls) == ["won"] * 4
    review = Review.objects.get()
    assert sop.waiting_for(review).count() == 4
    assert AuditEntry.objects.filter(action="finding.open").count() == 1
    is_whole()
    decide(study, review)
    assert {run.final_state for run in TaskRun.objects.all()} == {"end_success"}
    is_whole()


@pytest.mark.full
def test_a_decision_and_a_run_that_comes_at_once(study: Study, skill: Skill) -> None:
    """The run goes the way of the decision, whichever was first."""
    for _time in range(TIMES):
        newer_values(study)
        review = review_of(start(study, skill))
        assert at_once(
            lambda review=review: decide(study, review),  # type: ignore[misc]
            lambda: start(study, skill),
        ) == ["won", "won"]
        assert not TaskRun.objects.exclude(final_state="end_success").exists()
        assert not PendingAction.objects.filter(open_key__isnull=False).exists()
        is_whole()
    assert Review.objects.count() == TIMES


@pytest.mark.full
def test_two_decisions_of_two_runs_and_a_cancellation(study: Study, skill: Skill) -> None:
    for _time in range(TIMES):
        newer_values(study)
        first, second = start(study, skill), start(study, skill)
        review = review_of(second)
        outcomes = at_once(
            lambda review=review: decide(study, review),  # type: ignore[misc]
            lambda review=review: decide(study, review, "reject"),  # type: ignore[misc]
            lambda first=first: sop.cancel(run=first, actor="admin", reason="不要了"),  # type: ignore[misc]
        )
        assert sorted(outcomes[:2]) == ["NotSuspended", "won"]
        end = "end_success" if outcomes[0] == "won" else "end_rejected"
        for run in (first, second):
            run.refresh_from_db()
        assert first.final_state == ("cancelled" if outcomes[2] == "won" else end)
        assert second.final_state == end
        is_whole()


@pytest.mark.full
def test_all_that_wait_are_cancelled_at_once(study: Study, skill: Skill) -> None:
    for _time in range(TIMES):
        runs = [start(study, skill) for _number in range(3)]
        calls = [lambda run=run: sop.cancel(run=run, actor="admin", reason="x") for run in runs]  # type: ignore[misc]
        assert at_once(*calls) == ["won"] * 3
        assert not Review.objects.filter(status="open").exists()
        is_whole()


@pytest.mark.full
def test_a_run_that_comes_while_a_decision_is_on_its_way_goes_with_it(
    study: Study, skill: Skill
) -> None:
    review = review_of(start(study, skill))
    with meanwhile('FROM "iit_reviews"', lambda: start(study, skill)):
        decide(study, review)
    assert {run.final_state for run in TaskRun.objects.all()} == {"end_success"}
    assert Review.objects.count() == 1
    is_whole()


@pytest.mark.full
def test_who_brings_other_values_stops_the_decision_that_is_on_its_way(
    study: Study, skill: Skill
) -> None:
    review = review_of(start(study, skill))

    def come() -> None:
        newer_values(study)
        start(study, skill)

    with meanwhile('FROM "iit_reviews"', come), pytest.raises(sop.ValuesChanged):
        decide(study, review)
    assert TaskRun.objects.filter(status=Status.SUSPENDED).count() == 2
    is_whole()


@pytest.mark.full
def test_the_run_that_was_asked_first_is_cancelled_while_a_decision_is_on_its_way(
    study: Study, skill: Skill
) -> None:
    first, second = start(study, skill), start(study, skill)
    review = review_of(first)
    with meanwhile('FROM "iit_reviews"', lambda: sop.cancel(run=first, actor="admin", reason="x")):
        decide(study, review)
    for run in (first, second):
        run.refresh_from_db()
    assert (first.final_state, second.final_state) == ("cancelled", "end_success")
    is_whole()


@pytest.mark.full
def test_four_eyes_hold_for_who_comes_while_a_decision_is_on_its_way(
    study: Study, skill: Skill
) -> None:
    type(study.project).objects.update(four_eyes=True)
    study.project.refresh_from_db()
    review = review_of(start(study, skill))

    def come() -> None:
        TaskRun.objects.filter(pk=start(study, skill).pk).update(triggered_by="wanghushi")

    with meanwhile('FROM "iit_task_run"', come), pytest.raises(sop.NotAllowed):
        decide(study, review)
    assert TaskRun.objects.filter(status=Status.SUSPENDED).count() == 2
    is_whole()


@ON_POSTGRESQL
@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_decided_between_a_runs_look_and_its_joining(
    study: Study, skill: Skill, decision: sop.Decision
) -> None:
    review = review_of(start(study, skill))
    with meanwhile('"iit_reviews"."question_key" = ', lambda: decide(study, review, decision)):
        later = start(study, skill)
    later.refresh_from_db()
    assert later.status == Status.COMPLETED
    assert Review.objects.count() == 1
    is_whole()


@ON_POSTGRESQL
def test_asked_by_another_between_a_runs_look_and_its_question(study: Study, skill: Skill) -> None:
    with meanwhile('"iit_reviews"."question_key" = ', lambda: start(study, skill)):
        start(study, skill)
    assert sop.waiting_for(Review.objects.get()).count() == 2
    is_whole()
