"""Reviews that wait too long: reminded once, then put to the administrators, once (issue B, `on_timeout`)."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from django.utils.timezone import now

from engines import sop, tasks
from engines.models import RunEvent, TaskRun
from engines.sop import run_events
from engines.sop.run_events import Kind
from projects.models import AuditEntry
from tests.engines.sop.kit import human, new_skill, review_of, run_of, tell
from tests.support.study import Study

pytestmark = pytest.mark.django_db


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a channel is told."""
    told: list[str] = []

    def note(event: RunEvent) -> None:
        told.append(f"{event.kind.removeprefix('review_')} {event.review_id} {event.run_id}")

    for kind in (Kind.REVIEW_REMINDED, Kind.REVIEW_ESCALATED):
        monkeypatch.setitem(run_events._readers, kind, [note])
    return told


def waiting(study: Study, **on_timeout: float) -> TaskRun:
    return run_of(study, new_skill(study, {"a": human(on_timeout=on_timeout)}))


def sweep(hours: float) -> None:
    with time_machine.travel(now() + timedelta(hours=hours), tick=False):
        tasks.sweep_runs()
        tasks.sweep_runs()
        tell()
        tell()


@pytest.mark.full
def test_reminded_once_and_escalated_once(study: Study, heard: list[str]) -> None:
    run = waiting(study, remind_hours=4, escalate_hours=24)
    review = review_of(run)

    sweep(3.9)
    assert heard == []
    sweep(4.1)
    assert heard == [f"reminded {review.pk} {run.pk}"]
    sweep(24.1)
    sweep(500)
    assert heard == [f"reminded {review.pk} {run.pk}", f"escalated {review.pk} {run.pk}"]
    review.refresh_from_db()
    assert review.reviewers == ["CRC", "ADMIN"]
    assert review.escalated_at
    assert AuditEntry.objects.filter(action="review.ask", object_id=str(review.pk)).count() == 3


def test_escalated_without_a_reminder(study: Study, heard: list[str]) -> None:
    run = waiting(study, escalate_hours=1)

    sweep(2)
    assert heard == [f"escalated {review_of(run).pk} {run.pk}"]


def test_a_node_without_a_timeout_waits_for_ever(study: Study, heard: list[str]) -> None:
    waiting(study)
    sweep(9000)

    assert heard == []


def test_what_is_decided_is_left_alone(study: Study, heard: list[str]) -> None:
    run = waiting(study, remind_hours=1, escalate_hours=2)
    review = review_of(run)
    sop.decide(
        review_id=review.pk,
        actor=study["wanghushi"],
        decision="approve",
        reason="已核对",
        seen=review.seen,
    )
    sweep(9)

    assert heard == []


def test_a_late_sweeper_does_both(study: Study, heard: list[str]) -> None:
    waiting(study, remind_hours=1, escalate_hours=2)
    sweep(9)

    assert [line.split()[0] for line in heard] == ["reminded", "escalated"]
