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
from projects.models import AuditEntry, Project
from tests.engines.cron.kit import at, clock, no_rest
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


@pytest.fixture(autouse=True)
def _rested(study: Study) -> None:
    no_rest(study)


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


@pytest.mark.full
@pytest.mark.parametrize("urgent", [False, True])
def test_what_is_due_at_night_waits_for_the_morning(
    study: Study, heard: list[str], urgent: bool
) -> None:
    Project.objects.filter(pk=study.project.pk).update(quiet_from="21:00", quiet_until="07:30")
    timed = {"remind_hours": 1, "escalate_hours": 2}
    with at(clock(study, "02:30")):
        run_of(study, new_skill(study, {"a": human(on_timeout=timed)}, urgent=urgent))
    told = []
    for moment in ("05:00", "07:29", "07:31"):
        with at(clock(study, moment)):
            tasks.sweep_runs()
            tell()
        told.append(len(heard))
    assert told == ([2, 2, 2] if urgent else [0, 0, 2])


def test_nothing_of_a_closed_study_is_brought_to_mind(study: Study, heard: list[str]) -> None:
    waiting(study, remind_hours=1, escalate_hours=2)
    Project.objects.filter(pk=study.project.pk).update(status=Project.Status.CLOSED)
    sweep(9)

    assert heard == []
