"""One row that cannot be worked on ends no sweep: the others go on, and somebody is told."""

from __future__ import annotations

from datetime import timedelta

import pytest
import time_machine
from celery.exceptions import SoftTimeLimitExceeded
from django.utils.timezone import now

from core.house.alone import each
from engines import tasks
from engines.models import RunEvent, TaskRun
from engines.sop.run_events import Kind
from skills.models import Skill
from tests.engines.cron.kit import no_rest
from tests.engines.sop.kit import (
    begin,
    expire,
    hard,
    human,
    new_skill,
    review_of,
    run_of,
    run_qc,
    tell,
)
from tests.support.study import Study
from tests.support.tasks import drain
from wechat import tasks as channel
from wechat.models import Alert, OutboxMessage

pytestmark = pytest.mark.django_db
LATE = timedelta(hours=25)


def orphaned(study: Study) -> TaskRun:
    """A run that waits for a review whose node is no longer in its graph."""
    skill = new_skill(study, {"a": human(on_timeout={"escalate_hours": 1})}, "qc_process:lost")
    run = run_of(study, skill, "P002")
    nodes = {"b": human()}
    TaskRun.objects.filter(pk=run.pk).update(
        config=run.config | {"start_node": "b", "nodes": nodes}
    )
    return run


@pytest.mark.full
def test_a_review_whose_node_left_its_graph_stops_nothing(study: Study) -> None:
    no_rest(study)
    lost = review_of(orphaned(study))
    timed = {"remind_hours": 4, "escalate_hours": 24}
    good = run_of(study, new_skill(study, {"a": human(on_timeout=timed)}))
    left = begin(study, new_skill(study, {"a": hard()}, "qc_process:left"), "P003")
    expire(left)
    with time_machine.travel(now() + LATE, tick=False):
        tasks.sweep_runs()
        drain()
        tell()
    left.refresh_from_db()
    assert left.status == TaskRun.Status.COMPLETED
    review = review_of(good)
    assert review.escalated_at
    kinds = {*RunEvent.objects.filter(run=good).values_list("kind", flat=True)}
    assert {Kind.REVIEW_REMINDED, Kind.REVIEW_ESCALATED} <= kinds
    [alert] = Alert.objects.filter(code=Alert.Code.SWEEP)
    assert (alert.subject, alert.detail) == ("reviews", f"KeyError {lost.pk}")
    assert alert.remedy


def test_evidence_that_cannot_be_worked_out_stops_no_event(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a run is told what can be told; what cannot is tried again, ever later, and sounds an alert."""
    run = run_qc(study, "P012")

    def broken(*_given: object, **_named: object) -> None:
        raise LookupError

    monkeypatch.setattr("study.dictionary.load", broken)
    tasks.tell_events(str(run.pk))
    waiting = RunEvent.objects.filter(run=run, told_at__isnull=True).order_by("pk").first()
    assert waiting
    assert (waiting.attempts, waiting.error) == (1, "LookupError")
    assert Alert.objects.filter(code=Alert.Code.SWEEP, subject="evidence").exists()


def test_a_schedule_that_cannot_be_read_stops_no_other(study: Study) -> None:
    nodes = {"a": hard()}
    Skill.objects.filter(project=study.project).update(is_active=False)
    made = [
        new_skill(study, nodes, f"cron_{name}", trigger_type="cron", cron_schedule="0 8 * * *")
        for name in ("bad", "good")
    ]
    Skill.objects.filter(pk=made[0].pk).update(cron_schedule="no schedule")
    with time_machine.travel(now() + timedelta(days=2), tick=False):
        tasks.fire_missed_skills()
        drain()
    assert not TaskRun.objects.filter(skill=made[0]).exists()
    assert TaskRun.objects.filter(skill=made[1]).exists()
    assert Alert.objects.filter(code=Alert.Code.SWEEP, subject="schedules").exists()


def test_a_job_of_the_channel_that_fails_stops_no_other(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    orphaned(study)
    held = OutboxMessage.objects.filter(status=OutboxMessage.Status.HELD)
    held.update(available_at=now())

    def broken(_most: int) -> list[int]:
        raise ValueError("an inbox row")

    monkeypatch.setattr("wechat.tasks.inbox.due", broken)
    channel.sweep()
    assert not held.exists()
    [alert] = Alert.objects.filter(code=Alert.Code.SWEEP)
    assert (alert.subject, alert.detail) == ("inbox", "ValueError")


def test_a_sweep_that_takes_too_long_ends(study: Study) -> None:
    """The worker asks it to end before it is killed: that is no fault of a row."""
    begun = []

    def slow(row: int) -> None:
        begun.append(row)
        raise SoftTimeLimitExceeded

    with pytest.raises(SoftTimeLimitExceeded):
        each("rows", [1, 2], slow)
    assert begun == [1]
    assert not Alert.objects.exists()
