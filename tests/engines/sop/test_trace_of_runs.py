"""What a run says about itself: its trace (seed 001, 4.2), the signals and the audit trail."""

from __future__ import annotations

from datetime import datetime

import pytest

from engines import sop
from projects import audit
from projects.models import AuditEntry
from tests.engines.sop.kit import review_of, run_qc, tell
from tests.support.study import Study
from wechat.models import OutboxMessage

pytestmark = pytest.mark.django_db


def test_the_shape_of_a_trace(study: Study) -> None:
    run = run_qc(study, "P004")

    assert (run.status, run.final_state) == ("COMPLETED", "end_with_violation")
    trace = run.trace or []
    assert [item["node"] for item in trace] == ["read", "baseline_check"]
    for item in trace:
        assert {*item} == {"node", "timestamp", "result"}
        assert datetime.fromisoformat(item["timestamp"]).tzinfo
    assert trace[1]["result"] == {"outcome": "fail", "detail": {"rules": 12, "findings": 1}}


def test_a_suspended_run_names_its_node(study: Study) -> None:
    run = run_qc(study, "P012")

    assert (run.status, run.current_node) == ("SUSPENDED", "human_review")
    assert run.message == "任务已挂起,等待人工复核"


@pytest.mark.full
def test_trace_and_journal_tell_the_same(study: Study) -> None:
    run = run_qc(study, "P002")
    review = review_of(run)
    sop.decide(
        review_id=review.pk,
        actor=study["wanghushi"],
        decision="reject",
        reason="不全",
        seen=review.seen,
    )
    run.refresh_from_db()

    journal = [(step.node, step.outcome) for step in run.steps.order_by("seq")]
    assert journal == [(item["node"], item["result"]["outcome"]) for item in run.trace or []]
    assert [step.seq for step in run.steps.order_by("seq")] == [*range(run.seq)]
    assert all(step.started_at <= step.ended_at for step in run.steps.all())
    soft = run.steps.get(node="history_check", outcome="waiting")
    assert soft.ended_at > soft.started_at


def test_the_orderer_is_told_the_end_once(study: Study) -> None:
    run = run_qc(study, "P004")
    sop.drive(run.pk)
    tell()
    tell()

    rows = OutboxMessage.objects.filter(key__startswith=f"run:{run.pk}")
    assert [row.to_user for row in rows] == ["zhangyi"]


def test_every_step_that_matters_is_in_the_trail(study: Study) -> None:
    run_qc(study, "P004")

    entries = AuditEntry.objects.filter(record_id="P004").order_by("number")
    assert [*entries.values_list("action", flat=True)] == ["run.start", "finding.open", "run.end"]
    assert entries.last().new == {"status": "COMPLETED", "final_state": "end_with_violation"}  # type: ignore[union-attr]
    assert [*audit.verify()] == []
