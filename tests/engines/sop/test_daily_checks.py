"""That a day passes changes nothing in the data: a missed visit, a rule that names the day."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest
import time_machine
from django.utils.timezone import now

from core.house import clock
from core.house.models import CronFiring
from engines import tasks
from engines.models import PendingAction, TaskRun
from engines.sop import daily_checks, events, snapshot
from engines.sop.chain import DAY_ACTOR
from projects.models import Project
from skills.graph import EVENTS
from skills.models import Skill
from study import sync
from tests.engines.sop.kit import hard, new_skill, rule
from tests.support.study import Study
from tests.support.tasks import drain
from wechat.models import Alert

pytestmark = pytest.mark.django_db


@pytest.fixture
def skill(study: Study) -> Skill:
    Skill.objects.filter(project=study.project).update(is_active=False)
    sync.sweep(study.project)
    checks = {"visit_window": {}, "required": {}}
    nodes = {"standard": hard(checks=checks, on_fail="end_bad")}
    return new_skill(study, nodes, trigger_type="event", event="record_changed")


@pytest.fixture
def _later(study: Study, skill: Skill) -> Iterator[None]:
    """Two months on, with nothing entered."""
    with time_machine.travel(now() + timedelta(days=60)):
        yield


def looked() -> list[TaskRun]:
    tasks.check_days()
    drain()
    return [*TaskRun.objects.filter(triggered_by=DAY_ACTOR)]


@pytest.mark.usefixtures("_later")
def test_a_missed_visit_is_found_without_a_change_and_once(study: Study) -> None:
    runs = looked()

    assert runs
    assert {run.status for run in runs} == {"COMPLETED"}
    keys = {*PendingAction.objects.values_list("rule_key", flat=True)}
    assert keys
    assert all(key.startswith("std.visit_window.") for key in keys)

    with time_machine.travel(now() + timedelta(days=1)):
        assert [run.pk for run in looked()] == [run.pk for run in runs], "no other window closed"


@pytest.mark.full
@pytest.mark.usefixtures("_later")
def test_an_outage_leaves_the_day_open(study: Study) -> None:
    project = Project.objects.filter(pk=study.project.pk)
    project.update(redcap_url="http://127.0.0.1:9/api/")
    assert looked() == []

    project.update(redcap_url=study.project.redcap_url)
    assert looked()


@pytest.mark.full
@pytest.mark.usefixtures("_later")
def test_nothing_runs_where_the_study_is_closed_or_no_check_is_on(
    study: Study, skill: Skill
) -> None:
    Project.objects.filter(pk=study.project.pk).update(status=Project.Status.CLOSED)
    assert looked() == []
    Project.objects.filter(pk=study.project.pk).update(status=Project.Status.PAUSED)
    Skill.objects.filter(pk=skill.pk).update(is_active=False)
    assert looked() == []


def no_records(study: Study, times: int) -> None:
    """REDCap answers whoever asks for records, but with none: a token of an empty group."""
    fault = {"service": "redcap", "kind": "body", "value": [], "body": "content=record"}
    study.stand_ins.post("faults", [{**fault, "times": times}])


def asked_for(study: Study) -> int:
    forms = study.stand_ins.requests("redcap")
    return sum("content=record&" in f"{form['body']}&" for form in forms)


@pytest.mark.full
@pytest.mark.usefixtures("_later")
def test_subjects_that_redcap_does_not_show_are_not_asked_for_again_at_once(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The day stays open, and the next look begins anew."""
    monkeypatch.setattr(daily_checks, "AT_ONCE", 1)
    daily_checks.due.schedule(study.project, None)
    no_records(study, times=99)
    assert not daily_checks.look_at_day(study.project)
    before = asked_for(study)
    assert looked() == []
    assert asked_for(study) - before == 1
    assert not CronFiring.objects.filter(job__startswith=daily_checks.JOB).exists()


@pytest.mark.full
@pytest.mark.usefixtures("_later")
def test_all_subjects_are_reached_in_the_order_of_their_ids(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those that REDCap leaves out of its answer hold up nobody behind them."""
    monkeypatch.setattr(daily_checks, "AT_ONCE", 2)
    late = sorted({v.subject for v in daily_checks.due.schedule(study.project, None).overdue()})
    assert len(late) > 2
    study.stand_ins.post("redcap/records", [{"record": late[0], "delete": True}])
    assert [run.record_id for run in looked()][::-1] == late[1:]
    assert CronFiring.objects.filter(job__startswith=daily_checks.JOB).exists()


@pytest.mark.usefixtures("_later")
def test_a_workflow_that_cannot_be_read_stops_no_other(study: Study, skill: Skill) -> None:
    """Neither the look for missed visits, nor what follows from changed data."""
    changed = {"trigger_type": "event", "event": "record_changed"}
    broken = new_skill(study, {"a": hard()}, "qc_process:broken", **changed)
    Skill.objects.filter(pk=broken.pk).update(config={"nodes": {"a": {"type": "of old"}}})

    assert {run.skill_id for run in looked()} == {skill.pk}
    assert events.subjects_changed(study.project, ["P001"])
    [alert] = Alert.objects.filter(code=Alert.Code.SWEEP)
    assert (alert.subject, alert.detail) == ("workflows", f"ValidationError {broken.pk}")


AGE = {"days_between": [{"var": "icf_date"}, {"today": []}]}


def consent_rule(study: Study, **more: Any) -> dict[str, Any]:
    """A rule that P001 passes for ten days more."""
    rows = snapshot.read_subject(study.project, "P001").rows
    signed = next(str(row["icf_date"]) for row in rows if row.get("icf_date"))
    most = (clock.today(study.project.timezone) - date.fromisoformat(signed)).days + 10
    return rule(id="OLD", field="icf_date", **({"logic": {"<=": [AGE, most]}} | more))


def told(record: str = "P001") -> list[str]:
    rows = PendingAction.objects.filter(record_id=record, rule_key="OLD")
    return [*rows.values_list("record_id", flat=True)]


@pytest.mark.parametrize(
    "trigger",
    [
        {"trigger_type": "webhook"},
        *({"trigger_type": "event", "event": event} for event in EVENTS),
    ],
)
def test_a_rule_that_names_the_day_is_looked_at_each_day(
    study: Study, skill: Skill, trigger: dict[str, str]
) -> None:
    """Once at first on everybody, then where it says something else than at the last look."""
    Skill.objects.filter(pk=skill.pk).update(is_active=False)
    nodes = {"a": hard(rules=[consent_rule(study), rule()], on_fail="end_bad")}
    new_skill(study, nodes, "qc_process:dated", **trigger)

    first = looked()
    assert "P001" in {run.record_id for run in first}
    assert all([one["id"] for one in run.config["nodes"]["a"]["rules"]] == ["OLD"] for run in first)
    assert told() == []

    def runs_of(days: int) -> list[str | None]:
        with time_machine.travel(now() + timedelta(days=days)):
            known = {*TaskRun.objects.values_list("pk", flat=True)}
            return [run.record_id for run in looked() if run.pk not in known]

    assert "P001" not in runs_of(1)
    assert "P001" in runs_of(11)
    assert told() == ["P001"]
    assert runs_of(12).count("P001") == 0


@pytest.mark.full
def test_after_days_without_a_look_what_failed_meanwhile_is_looked_at(
    study: Study, skill: Skill
) -> None:
    """A rule may fail on a day between, and pass again: whatever ran then is not known to have passed."""
    Skill.objects.filter(pk=skill.pk).update(is_active=False)
    most = consent_rule(study)["logic"]["<="][1]
    either = {"or": [{"<=": [AGE, most]}, {">": [AGE, most + 5]}]}
    nodes = {"a": hard(rules=[consent_rule(study, logic=either)])}
    new_skill(study, nodes, "qc_process:dated", trigger_type="webhook")
    looked()
    with time_machine.travel(now() + timedelta(days=20)):
        known = {*TaskRun.objects.values_list("pk", flat=True)}
        assert "P001" in [run.record_id for run in looked() if run.pk not in known]


def dated_skill(study: Study, most: int, kind: str = "qc_process:dated") -> Skill:
    """A workflow with a rule that P001 passes for as many days as `most` is beyond its days till now."""
    rules = [consent_rule(study, logic={"<=": [AGE, most]})]
    return new_skill(study, {"a": hard(rules=rules)}, kind, trigger_type="webhook")


@pytest.mark.full
def test_a_workflow_that_came_after_the_last_look_is_looked_at_for_everybody(
    study: Study, skill: Skill
) -> None:
    """A rule that failed on the day of that look already says the same on both days."""
    looked()
    with time_machine.travel(now() + timedelta(days=1)):
        most = consent_rule(study)["logic"]["<="][1]
        dated_skill(study, most - 100)
    with time_machine.travel(now() + timedelta(days=2)):
        looked()
    assert told() == ["P001"]


@pytest.mark.full
def test_a_look_that_the_next_day_overtakes_begins_anew(
    study: Study, skill: Skill, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else those looked at on the evening before would not be compared for that day."""
    Skill.objects.filter(pk=skill.pk).update(is_active=False)
    dated_skill(study, consent_rule(study)["logic"]["<="][1])
    looked()
    monkeypatch.setattr(daily_checks, "AT_ONCE", 1)
    with time_machine.travel(now() + timedelta(days=9)):
        more = daily_checks.look_at_day(study.project)
        assert more is not None
    with time_machine.travel(now() + timedelta(days=11)):
        again = daily_checks.look_at_day(study.project, more.last, more.due)
        assert again is not None
        assert again.last == more.last


@pytest.mark.full
def test_an_interrupted_look_reads_nobody_again_who_has_a_run(
    study: Study, skill: Skill, monkeypatch: pytest.MonkeyPatch
) -> None:
    Skill.objects.filter(pk=skill.pk).update(is_active=False)
    dated_skill(study, consent_rule(study)["logic"]["<="][1])
    monkeypatch.setattr(daily_checks, "AT_ONCE", 1)
    first = daily_checks.look_at_day(study.project)
    assert first is not None
    again = daily_checks.look_at_day(study.project)
    assert again is not None
    assert again.last > first.last
