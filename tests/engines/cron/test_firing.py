"""A schedule fires once per due time, with two beats and after downtime (decisions.md, "cron skills")."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from django_celery_beat.models import PeriodicTask
from django_celery_beat.schedulers import ModelEntry

from core.house.models import CronFiring
from engines import sop, tasks
from engines.models import TaskRun
from engines.sop import events
from iit_manager.celery import app
from skills import beat
from skills.models import Skill
from skills.services import delete_skill, save_skill
from tests.engines.cron.kit import at, clock, configure, skill_of
from tests.house.kit import together
from tests.support.study import Study
from tests.support.tasks import drain


def sweep() -> None:
    """What beat asks for every minute, and the workers do."""
    tasks.fire_missed_skills()
    drain()


def causes(kind: str) -> list[str]:
    runs = TaskRun.objects.filter(skill__skill_type=kind).order_by("created_at", "cause")
    return [str(run.cause).removeprefix("cron:")[5:16] for run in runs]


def expected(*moments: datetime) -> list[str]:
    return [moment.isoformat()[5:16] for moment in moments]


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_two_beats_at_once(study: Study) -> None:
    skill = skill_of(study, "daily_briefing")
    with at(clock(study, "08:30")):
        outcomes = together(*[lambda: tasks.fire_skill(str(skill.pk))] * 4)
        sweep()

    assert outcomes == [None] * 4
    assert causes("daily_briefing") == expected(clock(study, "08:30"))
    assert CronFiring.objects.filter(job=f"skill:{skill.pk}").count() == 1


@pytest.mark.django_db
def test_a_firing_whose_run_is_there_already_is_settled(study: Study) -> None:
    """Whatever became of the firing's row: the sweeper does not come back for it for ever."""
    skill = skill_of(study, "daily_briefing")
    with at(clock(study, "08:30")):
        first = sop.fire(skill)
        CronFiring.objects.all().delete()
        assert sop.fire(skill) == first
    assert CronFiring.objects.filter(job=f"skill:{skill.pk}").count() == 1


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("catch_up", "dues"),
    [("latest", [3]), ("all", [1, 2, 3]), ("none", [])],
)
def test_after_downtime_each_skill_catches_up_as_it_says(
    study: Study, catch_up: str, dues: list[int]
) -> None:
    """Down from day 0, 10:00 to day 3, 12:00; due at 9:00."""
    with at(clock(study, "08:00")):
        skill = configure(study, "visit_reminder", catch_up=catch_up)
    with at(clock(study, "09:00")):
        tasks.fire_skill(str(skill.pk))
    with at(clock(study, "12:00", days=3)):
        for _beat in range(2):
            tasks.fire_skill(str(skill.pk))
            sweep()

    due = [0, *dues]
    assert causes("visit_reminder") == expected(*[clock(study, "09:00", day) for day in due])
    with at(clock(study, "09:00", days=4)):
        tasks.fire_skill(str(skill.pk))
    assert causes("visit_reminder")[-1:] == expected(clock(study, "09:00", 4))


@pytest.mark.django_db
def test_yesterdays_briefing_is_nobodys_and_last_weeks_report_still_is(study: Study) -> None:
    with at(clock(study, "08:00")):
        briefing = configure(study, "daily_briefing", schedule="30 8 * * *")
        weekly = configure(study, "weekly_report", schedule="0 9 * * *")
    with at(clock(study, "01:00", days=1)):
        sweep()

    assert causes("daily_briefing") == []
    assert causes("weekly_report") == expected(clock(study, "09:00"))
    for skill in (briefing, weekly):
        assert CronFiring.objects.filter(job=f"skill:{skill.pk}").count() == 1


@pytest.mark.django_db
def test_a_few_minutes_late_over_midnight_is_not_missed(study: Study) -> None:
    with at(clock(study, "08:00")):
        skill = configure(study, "daily_briefing", schedule="55 23 * * *", catch_up="none")
    with at(clock(study, "00:05", days=1)):
        tasks.fire_skill(str(skill.pk))

    assert causes("daily_briefing") == expected(clock(study, "23:55"))


@pytest.mark.django_db
def test_what_beat_missed_is_fired_once(study: Study) -> None:
    with at(clock(study, "08:00")):
        skill = configure(study, "visit_reminder", schedule="0 9 * * *")
    with at(clock(study, "08:59")):
        assert str(skill.pk) not in events.unfired()
    with at(clock(study, "09:01")):
        assert str(skill.pk) in events.unfired()
        sweep()
        assert events.unfired() == []
        sweep()
    assert causes("visit_reminder") == expected(clock(study, "09:00"))


@pytest.mark.django_db
@pytest.mark.parametrize("change", ["created", "rescheduled", "switched_on"])
def test_a_schedule_counts_from_its_last_change(study: Study, change: str) -> None:
    """At 10:00 a time of this morning is not behind, whichever way it came into the schedule."""
    with at(clock(study, "10:00", days=-3)):
        skill = configure(study, "visit_reminder", schedule="0 11 * * *")
        skill.is_active = change != "switched_on"
        save_skill(skill=skill, actor="admin")
        PeriodicTask.objects.update(last_run_at=clock(study, "11:00", days=-4))
    with at(clock(study, "10:00")):
        if change == "created":
            fields = {"trigger_type": "cron", "cron_schedule": "0 9 * * *", "name": "新"}
            skill = Skill(project=study.project, skill_type="new", config=skill.config, **fields)
        skill.cron_schedule = "0 9 * * *"
        skill.is_active = True
        save_skill(skill=skill, actor="admin")
        sweep()
        assert causes(skill.skill_type) == []
        assert not is_due(skill)
    with at(clock(study, "09:00", days=1)):
        assert is_due(skill)


def is_due(skill: Skill) -> bool:
    """What beat would do now."""
    entry = ModelEntry(PeriodicTask.objects.get(name=beat.name(skill)), app=app)
    return bool(entry.is_due().is_due)


@pytest.mark.django_db
def test_a_switched_off_or_deleted_skill_fires_no_more(study: Study) -> None:
    with at(clock(study, "08:00")):
        off = skill_of(study, "visit_reminder")
        off.is_active = False
        save_skill(skill=off, actor="admin")
        gone = skill_of(study, "daily_briefing")
        pk = str(gone.pk)
        delete_skill(skill=gone, actor="admin")
    with at(clock(study, "09:30")):
        tasks.fire_skill(str(off.pk))
        tasks.fire_skill(pk)
        sweep()

    assert causes("visit_reminder") == causes("daily_briefing") == []
    assert not PeriodicTask.objects.filter(name=f"skill:{pk}").exists()
    assert not PeriodicTask.objects.get(name=beat.name(off)).enabled


@pytest.mark.django_db
def test_due_times_are_those_of_the_studys_zone(study: Study) -> None:
    study.project.timezone = "America/New_York"
    study.project.save()
    with at(clock(study, "08:00", days=-1)):
        configure(study, "visit_reminder", schedule="0 9 * * *")
    with at(clock(study, "12:00")):  # 23:00 of the day before in New York
        sweep()
    (cause,) = causes("visit_reminder")
    assert cause == (clock(study, "09:00") - timedelta(days=1)).isoformat()[5:16]
