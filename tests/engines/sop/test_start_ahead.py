"""A run whose data are at hand goes as far as it can in the transaction that creates it (design.md 4)."""

from __future__ import annotations

from typing import Any

import pytest

from engines import sop
from engines.models import Review, TaskRun
from projects import audit
from projects.models import AuditEntry
from skills.models import Skill
from study.models import Dictionary
from study.records import RecordData, read_record
from tests.engines.sop.kit import go, hard, human, new_skill, rule, soft, steps, tell
from tests.engines.sop.test_soft_lies import said
from tests.support.study import Study
from tests.support.tasks import drain, purge
from wechat.models import OutboxMessage

pytestmark = pytest.mark.django_db


def data(study: Study, record: str = "P001") -> RecordData:
    found = read_record(project=study.project, record_id=record)
    assert found
    return found


def order(study: Study, skill: Skill, **more: object) -> TaskRun:
    purge()
    return sop.start(
        project=study.project,
        skill=skill,
        record_id="P001",
        triggered_by="zhangyi",
        data=data(study),
        **more,  # type: ignore[arg-type]
    )


def test_it_is_suspended_before_any_worker_saw_it(
    study: Study, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        run = order(study, new_skill(study, {"a": hard(on_pass="b"), "b": human()}))

    stored = TaskRun.objects.get()
    assert (run.status, stored.status, stored.current_node) == ("SUSPENDED", "SUSPENDED", "b")
    assert (stored.fence, stored.seq, stored.lease_until) == (1, 2, None)
    assert steps(stored) == ["a pass", "b waiting"]
    assert Review.objects.get(task_run=run).status == "open"
    tell()
    assert OutboxMessage.objects.filter(kind="card").count() == 1
    assert "engines.tasks.drive_run" not in drain()
    actions = [*AuditEntry.objects.order_by("pk").values_list("action", flat=True)]
    assert actions[-2:] == ["run.start", "review.ask"]
    assert [*audit.verify()] == []


def test_it_ends_at_once_with_its_findings(study: Study) -> None:
    bad = hard(rules=[rule(logic={">": [{"var": "age"}, 200]})])
    run = order(study, new_skill(study, {"a": bad}))

    assert (run.status, run.final_state) == ("COMPLETED", "end_review_required")
    assert sorted(run.findings.values_list("node", flat=True)) == ["a", "end_review_required"]
    tell()
    assert OutboxMessage.objects.filter(key__startswith=f"run:{run.pk}").count() == 1


@pytest.mark.full
def test_a_worker_goes_on_where_the_network_is_needed(
    study: Study, django_capture_on_commit_callbacks: Any
) -> None:
    study.stand_ins.script(said())
    with django_capture_on_commit_callbacks(execute=True):
        run = order(study, new_skill(study, {"a": hard(on_pass="b"), "b": soft()}))
    assert (run.status, run.current_node, run.attempts, run.lease_until) == (
        "RUNNING",
        "b",
        0,
        None,
    )
    assert "engines.tasks.drive_run" in drain()

    run.refresh_from_db()
    assert (run.status, run.fence, steps(run)) == ("COMPLETED", 2, ["a pass", "b pass"])


@pytest.mark.parametrize("first", [soft(), human()])
def test_the_second_of_two_orders_gets_the_first_run(
    study: Study, first: dict[str, object]
) -> None:
    skill = new_skill(study, {"a": first})
    one, other = order(study, skill, cause="c"), order(study, skill, cause="c")

    assert one == other
    assert TaskRun.objects.count() == 1
    assert Review.objects.count() == (first["type"] == "human_review")
    assert AuditEntry.objects.filter(action="run.start").count() == 1


def test_without_a_dictionary_the_worker_begins(study: Study) -> None:
    skill, read = new_skill(study, {"a": hard()}), data(study)
    Dictionary.objects.update(digest="")
    study.stand_ins.fault("redcap", "status", 403, times=None)
    run = sop.start(
        project=study.project, skill=skill, record_id="P001", triggered_by="x", data=read
    )

    assert (run.status, run.fence, run.seq) == ("RUNNING", 0, 0)


def test_a_node_that_breaks_is_left_to_a_worker(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who ordered it gets a run; the worker counts its trials and gives it up (test_leases)."""
    skill = new_skill(study, {"a": hard()})

    def broken(*_given: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patch:
        patch.setattr("engines.sop.chain.Chain.run_local", broken)
        run = order(study, skill)
    assert (run.status, run.fence, steps(run)) == ("RUNNING", 0, [])
    assert go(run).final_state == "end_success"


def test_whoever_drives_the_run_themselves_begins_it(study: Study) -> None:
    run = order(study, new_skill(study, {"a": hard()}), wake=False)

    assert (run.status, run.fence) == ("RUNNING", 0)
    assert go(run).final_state == "end_success"
