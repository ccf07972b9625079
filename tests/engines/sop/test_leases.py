"""Claims, leases and fencing: one worker at a time, a dead one is followed, a late one is not heard."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import httpx
import pytest
from django.utils.timezone import now
from pydantic import ValidationError

from engines import sop, tasks
from engines.models import TaskRun
from engines.sop import lease
from engines.sop.drive import POISON
from tests.engines.sop.kit import begin, expire, go, hard, human, new_skill, qc, run_of, soft, steps
from tests.engines.sop.test_soft_lies import said
from tests.support.study import Study
from tests.support.tasks import drain

pytestmark = [pytest.mark.django_db, pytest.mark.database]


@pytest.fixture
def run(study: Study) -> TaskRun:
    return begin(study, qc(study), "P004")


def copy(run: TaskRun) -> TaskRun:
    return TaskRun.objects.select_related("project", "skill").get(pk=run.pk)


def test_of_two_that_read_the_same_row_one_claims(run: TaskRun) -> None:
    first, second = copy(run), copy(run)

    assert lease.claim_run(first)
    assert not lease.claim_run(second)
    assert (first.fence, first.attempts, second.fence) == (1, 1, 0)


def test_a_living_lease_keeps_others_away(run: TaskRun) -> None:
    assert lease.claim_run(copy(run))

    assert go(run).steps.count() == 0
    assert (run.status, run.fence) == ("RUNNING", 1)


def test_an_expired_lease_is_taken_over(run: TaskRun) -> None:
    dead = copy(run)
    assert lease.claim_run(dead)
    expire(run)

    assert go(run).final_state == "end_with_violation"
    assert run.fence == 2
    assert not lease.renew(dead), "the dead worker, should it wake up, has lost the run"


def before_llm(monkeypatch: pytest.MonkeyPatch, *actions: Callable[[], Any]) -> None:
    """Do something while a call to the LLM is on its way: one action a call."""
    left = [*actions]

    def handle(transport: Any, request: Any) -> Any:
        if left and "/llm/" in str(request.url):
            left.pop(0)()
        return real(transport, request)

    real = httpx.HTTPTransport.handle_request
    monkeypatch.setattr(httpx.HTTPTransport, "handle_request", handle)


@pytest.mark.full
def test_a_result_that_comes_too_late_is_thrown_away(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker hangs in the middle of its LLM call; another one takes the run over and ends it."""
    run = begin(study, new_skill(study, {"judge": soft(on_fail="end_bad")}))
    study.stand_ins.script(said(passed=False, reason="有"), said())

    def other() -> None:
        expire(run)
        sop.drive(run.pk)

    before_llm(monkeypatch, other)
    go(run)

    assert len(study.stand_ins.requests("llm")) == 2
    assert run.final_state == "end_bad", "the second worker's verdict stands"
    assert steps(run) == ["read pass", "judge fail"]
    assert run.steps.get(kind="soft_instruction").fence == 2


@pytest.mark.full
def test_a_run_cancelled_during_slow_work_stays_cancelled(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(study, new_skill(study, {"judge": soft()}))
    study.stand_ins.script(said())
    before_llm(monkeypatch, lambda: sop.cancel(run=run, actor="admin", reason="不要了"))
    go(run)

    assert (run.status, steps(run)) == ("CANCELLED", ["read pass"])


def test_slow_work_renews_its_lease_before_every_call(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = begin(study, new_skill(study, {"judge": soft()}))
    study.stand_ins.script(said(evidence=["编的"]), said(evidence=["假的"]), said())
    left: list[timedelta] = []

    def nearly_over() -> None:
        until = TaskRun.objects.get(pk=run.pk).lease_until
        assert until
        left.append(until - now())
        TaskRun.objects.filter(pk=run.pk).update(lease_until=now() + timedelta(seconds=5))

    before_llm(monkeypatch, *[nearly_over] * 3)

    assert go(run).final_state == "end_success"
    assert len(left) == 3
    assert min(left) > lease.LEASE / 2


MAINTENANCE = "<html><body>REDCap is down for maintenance</body></html>"
CUT = '[{"record_id":"P004","age'
PASSING = {"503": ("status", 503), "429": ("status", 429), "page": ("body", MAINTENANCE)}
PASSING["cut"] = ("body", CUT)


@pytest.mark.parametrize("fault", PASSING.values(), ids=PASSING)
def test_redcap_away_is_tried_again_later(study: Study, fault: tuple[str, Any]) -> None:
    study.stand_ins.fault("redcap", *fault, times=None)
    run = run_of(study, qc(study), "P004")
    assert (run.status, run.attempts, run.lease_until, run.seq) == ("RUNNING", 1, None, 0)
    assert run.available_at
    assert now() < run.available_at <= now() + timedelta(seconds=60)
    assert run.message

    study.stand_ins.reset()
    expire(run)
    go(run)
    assert (run.final_state, run.message, run.attempts) == ("end_with_violation", "", 0)


def test_redcap_away_for_long_fails_the_run(study: Study) -> None:
    study.stand_ins.fault("redcap", "status", 503, times=None)
    run = begin(study, qc(study), "P004")
    waits = []
    for _time in range(4):
        expire(go(run))
        waits.append(run.available_at)

    assert (run.status, run.final_state) == ("FAILED", "end_error")
    assert steps(run) == ["baseline_check error"]
    assert not run.is_complete


def test_a_wrong_token_fails_the_run_at_once(study: Study) -> None:
    study.stand_ins.fault("redcap", "status", 403, times=None)
    run = run_of(study, qc(study), "P004")
    assert (run.status, run.final_state) == ("FAILED", "end_error")


def test_a_missing_dictionary_waits_and_then_takes_the_error_edge(study: Study) -> None:
    from study.models import Dictionary
    from study.records import read_record

    run = begin(
        study,
        new_skill(study, {"a": hard(on_error="b"), "b": human()}),
        data=read_record(project=study.project, record_id="P001"),
    )
    Dictionary.objects.filter(project=study.project).update(digest="")
    study.stand_ins.fault("redcap", "status", 403, times=None)
    for _time in range(3):
        assert go(run).status == "RUNNING"
        expire(run)
    go(run)

    assert (run.status, run.current_node) == ("SUSPENDED", "b")
    assert steps(run) == ["a error", "b waiting"]


@pytest.mark.full
def test_the_sweeper_wakes_what_was_left_behind(study: Study, run: TaskRun) -> None:
    tasks.sweep_runs()
    assert "engines.tasks.drive_run" not in drain(), "its own message may still be on the way"

    expire(run)
    tasks.sweep_runs()
    assert "engines.tasks.drive_run" in drain()
    run.refresh_from_db()
    assert run.final_state == "end_with_violation"
    tasks.sweep_runs()
    assert {*drain()} == {"engines.tasks.tell_events"}
    tasks.sweep_runs()
    assert drain() == []


def test_a_run_that_breaks_its_worker_is_given_up(study: Study) -> None:
    run = begin(study, new_skill(study, {"a": hard()}))
    broken = run.config | {"nodes": {"a": {"type": "nonsense"}}}
    TaskRun.objects.filter(pk=run.pk).update(config=broken, read_at=now())
    trials = 0
    while run.status == "RUNNING" and trials < 2 * POISON:
        expire(run)
        lease.left_behind()
        with contextlib.suppress(ValidationError):
            sop.drive(run.pk)
        run.refresh_from_db()
        trials += 1

    assert (run.status, run.final_state) == ("FAILED", "end_error")
    assert trials == POISON + 1
    assert steps(run) == ["a error"]


def test_a_run_that_broke_is_not_tried_again_at_once(study: Study) -> None:
    run = begin(study, new_skill(study, {"a": hard()}))
    TaskRun.objects.filter(pk=run.pk).update(config={"start_node": "a"}, read_at=now(), fence=1)

    with pytest.raises(ValidationError):
        sop.drive(run.pk)
    run.refresh_from_db()
    assert (run.lease_until, run.attempts) == (None, 1)
    assert run.available_at
    assert run.available_at > now()


def test_a_worker_that_dies_each_time_is_counted(study: Study) -> None:
    run = begin(study, new_skill(study, {"judge": soft()}))
    lease.left_behind()
    for _time in range(POISON):
        expire(run)
        assert lease.claim_run(copy(run)), "claimed, and then the process is gone"
    expire(run)

    assert go(run).status == "FAILED"


@pytest.mark.full
def test_a_loop_of_slow_nodes_is_stopped(study: Study) -> None:
    nodes = {"a": soft(on_pass="b"), "b": soft(on_pass="a", on_fail="end_x")}
    run = begin(study, new_skill(study, nodes, max_steps=7))
    study.stand_ins.script(*[said()] * 20)
    go(run)

    assert (run.status, run.seq) == ("FAILED", 8)
    assert "7" in run.message


def test_a_loop_of_local_nodes_is_stopped(study: Study) -> None:
    nodes = {"a": hard(on_pass="b"), "b": hard(on_pass="a", on_fail="end_x")}
    run = run_of(study, new_skill(study, nodes, max_steps=5))

    assert (run.status, run.final_state, run.seq) == ("FAILED", "end_error", 6)


def test_a_run_that_is_gone_is_no_error() -> None:
    from uuid import uuid4

    sop.drive(uuid4())
