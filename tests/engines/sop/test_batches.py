"""Many subjects in one order: a few at a time, every one once, to the end (issue B, "batch start")."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from core.house.db import atomic
from engines import sop
from engines.models import TaskRun
from engines.models.runs import Batch
from engines.sop.batches import CAP, MAX_CAP, advance, progress, unfinished
from engines.tasks import sweep_runs
from projects import audit
from projects.models import AuditEntry
from skills.models import Skill
from skills.services import save_skill
from tests.engines.sop.kit import begin, go, hard, human, meanwhile, new_skill, qc, review_of
from tests.house.kit import together
from tests.support.study import Study
from tests.support.tasks import drain, purge

pytestmark = pytest.mark.django_db(transaction=True)
Status = TaskRun.Status
SOME = ("P001", "P002", "P003", "P004", "P005", "P006")


def order(study: Study, skill: Skill, records: Iterable[str] = SOME, **more: Any) -> Batch:
    return sop.start_batch(
        project=study.project, skill=skill, record_ids=records, actor="zhangyi", **more
    )


@pytest.fixture
def quick(study: Study) -> Skill:
    return new_skill(study, {"check": hard()})


def running(batch: Batch) -> int:
    return batch.runs.filter(status=Status.RUNNING).count()


@pytest.mark.full
def test_all_subjects_are_checked_and_never_more_than_the_cap(study: Study, quick: Skill) -> None:
    batch = order(study, quick, cap=2)
    assert progress(batch) == {
        "total": 6, "running": 2, "suspended": 0, "completed": 0, "failed": 0, "cancelled": 0,
        "waiting": 4,
    }  # fmt: skip
    most = 0
    while drain(limit=1):
        most = max(most, running(batch))

    assert most == 2
    assert progress(batch) | {"completed": 6} == progress(batch)
    assert [*batch.runs.order_by("created_at").values_list("record_id", flat=True)] == [*SOME]
    assert {run.triggered_by for run in batch.runs.all()} == {"zhangyi"}
    assert unfinished() == []


@pytest.mark.full
def test_who_waits_for_a_person_makes_room(study: Study) -> None:
    batch = order(study, new_skill(study, {"ask": human()}), SOME[:3], cap=1)
    drain()
    assert progress(batch)["suspended"] == 3


@pytest.mark.full
def test_a_run_that_fails_or_is_cancelled_makes_room(study: Study, quick: Skill) -> None:
    batch = order(study, quick, ["P999", "P001", "P002"], cap=1)
    drain(limit=1)
    assert progress(batch)["failed"] == 1
    drain(limit=1)
    second = batch.runs.get(status=Status.RUNNING)
    sop.cancel(run=second, actor="admin", reason="")
    drain()
    found = progress(batch)
    assert (found["failed"], found["cancelled"], found["completed"]) == (1, 1, 1)


@pytest.mark.full
def test_twice_named_and_twice_advanced_is_once_run(study: Study, quick: Skill) -> None:
    batch = order(study, quick, ["P001", "P002", "P001"], cap=2)
    advance(batch.pk)
    advance(batch.pk)
    assert batch.record_ids == ["P001", "P002"]
    assert TaskRun.objects.count() == 2
    causes = {run.cause for run in batch.runs.all()}
    assert causes == {f"batch:{batch.pk}:P001", f"batch:{batch.pk}:P002"}


@pytest.mark.full
def test_a_run_made_by_another_worker_is_not_made_again(study: Study, quick: Skill) -> None:
    """What an outdated list asks for exists already: the cause is unique."""
    batch = order(study, quick, cap=1)
    again = sop.start(
        project=study.project,
        skill=quick,
        record_id="P001",
        triggered_by="zhangyi",
        cause=f"batch:{batch.pk}:P001",
        batch=batch,
    )
    assert again == batch.runs.get()


READS_RUNS = 'SELECT "iit_task_run"."record_id"'


@pytest.mark.full
def test_who_starts_from_an_outdated_list_goes_on(study: Study, quick: Skill) -> None:
    """Of two that read the same runs, the second finds started what it wanted to start."""
    batch = order(study, quick, cap=2)
    for run in batch.runs.all():
        go(run)
    purge()
    with meanwhile(READS_RUNS, lambda: advance(batch.pk)):
        advance(batch.pk)
    assert [*batch.runs.order_by("record_id").values_list("record_id", flat=True)] == [*SOME[:4]]
    assert running(batch) == 2
    drain()
    assert progress(batch)["completed"] == 6
    assert [*audit.verify()] == []


@pytest.mark.full
def test_many_that_advance_at_once_start_each_run_once(study: Study, quick: Skill) -> None:
    batch = order(study, quick, cap=1)
    Batch.objects.filter(pk=batch.pk).update(cap=6)
    assert together(*[lambda: advance(batch.pk)] * 4) == [None] * 4
    assert batch.runs.count() == 6
    assert AuditEntry.objects.filter(action="run.start", object_type="taskrun").count() == 6
    assert [*audit.verify()] == []


@pytest.mark.full
def test_a_taken_cause_loses_nothing_of_the_transaction_around(study: Study, quick: Skill) -> None:
    first = begin(study, quick, cause="once")
    with atomic():
        audit.record("run.cancel", actor="admin", project=study.project)
        started = begin(study, quick, "P002", cause="other")
        again = begin(study, quick, cause="once")
    assert again == first
    assert {*TaskRun.objects.all()} == {first, started}
    assert AuditEntry.objects.filter(action="run.cancel").count() == 1
    assert AuditEntry.objects.filter(action="run.start").count() == 2


@pytest.mark.full
def test_an_order_whose_answer_names_its_runs_starts_them_all(study: Study, quick: Skill) -> None:
    runs = together_of(study, quick, SOME)
    assert {run.pk for run in runs} == {*TaskRun.objects.values_list("pk", flat=True)}
    assert [run.record_id for run in runs] == [*SOME]


@pytest.mark.full
def test_a_large_order_is_worked_off_a_few_at_a_time(study: Study, quick: Skill) -> None:
    """The answer names the runs that are still to be started too, as they will be."""
    wanted = [f"P{number:03}" for number in range(1, MAX_CAP + 2)]
    runs = together_of(study, quick, wanted)
    assert [run.record_id for run in runs] == wanted
    assert TaskRun.objects.count() == CAP
    drain()
    assert {run.pk for run in runs} == {*TaskRun.objects.values_list("pk", flat=True)}
    assert progress(Batch.objects.get())["running"] == 0


def together_of(study: Study, skill: Skill, records: Iterable[str]) -> list[TaskRun]:
    return sop.start_together(
        project=study.project, skill=skill, record_ids=records, actor="zhangyi"
    )


@pytest.mark.full
def test_a_lost_message_is_found_by_the_sweeper(study: Study, quick: Skill) -> None:
    batch = order(study, quick, cap=1)
    go(batch.runs.get())
    purge()
    assert progress(batch)["completed"] == 1
    assert unfinished() == [str(batch.pk)]

    sweep_runs()
    drain()
    assert progress(batch)["completed"] == 6


@pytest.mark.full
def test_a_dead_worker_does_not_stop_the_batch(study: Study, quick: Skill) -> None:
    batch = order(study, quick, SOME[:2], cap=1)
    purge()
    batch.runs.update(updated_at=now() - timedelta(hours=1))
    sweep_runs()
    drain()
    assert progress(batch)["completed"] == 2


@pytest.mark.full
def test_two_batches_do_not_share_runs(study: Study, quick: Skill) -> None:
    first, second = order(study, quick), order(study, quick)
    drain()
    assert progress(first)["completed"] == progress(second)["completed"] == 6
    assert TaskRun.objects.count() == 12


@pytest.mark.full
def test_a_cancelled_batch_starts_no_more_and_keeps_what_people_have(study: Study) -> None:
    batch = order(study, new_skill(study, {"ask": human()}), cap=1)
    drain(limit=1)
    drain(limit=1)
    assert (progress(batch)["suspended"], running(batch)) == (1, 1)
    sop.cancel_batch(batch=batch, actor="admin", reason="falsch")
    advance(batch.pk)
    drain()

    found = progress(batch)
    assert (found["suspended"], found["cancelled"], found["waiting"]) == (1, 5, 0)
    assert batch.runs.count() == 2
    entry = AuditEntry.objects.get(action="run.cancel", object_type="batch")
    assert (entry.actor, entry.reason, entry.object_id) == ("admin", "falsch", str(batch.pk))
    waits = batch.runs.get(status=Status.SUSPENDED)
    review = review_of(waits)
    sop.decide(
        review_id=review.pk,
        actor=study["wanghushi"],
        decision="approve",
        reason="已核对",
        seen=review.seen,
    )
    assert progress(batch)["completed"] == 1
    with pytest.raises(sop.NotSuspended):
        sop.cancel_batch(batch=batch, actor="admin")


@pytest.mark.full
def test_a_workflow_switched_off_holds_the_rest(study: Study, quick: Skill) -> None:
    batch = order(study, quick, cap=1)
    quick.is_active = False
    save_skill(skill=quick, actor="admin")
    drain()
    assert (progress(batch)["completed"], progress(batch)["waiting"]) == (1, 5)

    quick.is_active = True
    save_skill(skill=quick, actor="admin")
    sweep_runs()
    drain()
    assert progress(batch)["completed"] == 6


def test_orders_that_make_no_sense(study: Study, quick: Skill) -> None:
    with pytest.raises(sop.NothingToDo):
        order(study, quick, [])
    with pytest.raises(sop.NothingToDo):
        together_of(study, quick, [])
    for cap in (0, MAX_CAP + 1):
        with pytest.raises(ValueError, match="cap"):
            order(study, quick, cap=cap)
    quick.is_active = False
    save_skill(skill=quick, actor="admin")
    with pytest.raises(sop.Inactive):
        order(study, quick)
    assert not Batch.objects.exists()


@pytest.mark.full
def test_the_order_is_in_the_audit_trail(study: Study) -> None:
    batch = order(study, qc(study), SOME[:2])
    entry = AuditEntry.objects.get(action="run.start", object_type="batch")
    assert (entry.actor, entry.new) == (
        "zhangyi",
        {"skill": "qc_process", "subjects": 2, "cap": 4},
    )
    runs = AuditEntry.objects.filter(action="run.start", object_type="taskrun")
    assert {row.new["batch"] for row in runs} == {str(batch.pk)}
