"""What happens to a study happens to its schedules: another zone, its end, its return."""

from __future__ import annotations

import pytest
from django_celery_beat.models import PeriodicTask

from engines import tasks
from engines.models import TaskRun
from engines.sop import events
from engines.sop.nodes import notify
from projects.models import Project
from projects.services import save_project
from skills import beat
from skills.models import Skill
from tests.engines.cron.kit import at, clock, configure, fired, no_rest, rows
from tests.support.study import Study
from tests.support.tasks import drain

pytestmark = pytest.mark.django_db
KIND = "visit_reminder"


def change(study: Study, **values: str) -> None:
    """An administrator changes the study in the console."""
    project = Project.objects.get(pk=study.project.pk)
    for name, value in values.items():
        setattr(project, name, value)
    save_project(project=project, actor="admin")


def sweep() -> None:
    tasks.fire_missed_skills()
    drain()


def runs() -> int:
    return TaskRun.objects.filter(skill__skill_type=KIND).count()


def entry(skill: Skill) -> PeriodicTask:
    return PeriodicTask.objects.select_related("crontab").get(name=beat.name(skill))


def test_another_zone_is_in_beats_schedule_at_once(study: Study) -> None:
    with at(clock(study, "08:00")):
        skill = configure(study, KIND, schedule="0 9 * * *")
        change(study, timezone="Asia/Tokyo")
    assert str(entry(skill).crontab.timezone) == "Asia/Tokyo"


@pytest.mark.full
def test_a_new_zone_makes_up_for_nothing(study: Study) -> None:
    """At 17:00 in Shanghai it is 09:00 in London: today's time there was never missed."""
    with at(clock(study, "08:00")):
        skill = configure(study, KIND, schedule="30 8 * * *")
    with at(clock(study, "08:30")):
        tasks.fire_skill(str(skill.pk))
        drain()
    with at(clock(study, "17:00")):
        change(study, timezone="Europe/London")
        assert events.unfired() == []
        sweep()
    assert runs() == 1
    with at(clock(study, "16:31", days=1)):
        sweep()
    assert runs() == 2


def test_a_closed_study_fires_nothing(study: Study) -> None:
    with at(clock(study, "08:00")):
        skill = configure(study, KIND, schedule="0 9 * * *", catch_up="all")
        change(study, status=Project.Status.CLOSED)
        assert not entry(skill).enabled
    with at(clock(study, "09:00")):
        assert str(skill.pk) not in events.unfired()
        tasks.fire_skill(str(skill.pk))
        sweep()
    assert runs() == 0


@pytest.mark.full
def test_what_waits_when_a_study_closes_is_not_sent(study: Study) -> None:
    no_rest(study)
    with at(clock(study, "09:00")):
        configure(study, KIND, when_empty="say")
        run = fired(study, KIND)
        told = rows()[0]
        change(study, status=Project.Status.CLOSED)
        assert notify.renewed(run.pk, run.skill.config["start_node"], told.to_user) == ""


@pytest.mark.full
@pytest.mark.parametrize("status", [Project.Status.ACTIVE, Project.Status.PAUSED])
def test_a_study_that_comes_back_is_not_behind(study: Study, status: str) -> None:
    with at(clock(study, "08:00")):
        skill = configure(study, KIND, schedule="0 9 * * *", catch_up="all")
        change(study, status=Project.Status.CLOSED)
    with at(clock(study, "10:00", days=9)):
        change(study, status=status)
        sweep()
        assert runs() == 0
    with at(clock(study, "09:01", days=10)):
        assert str(skill.pk) in events.unfired()
        sweep()
    assert runs() == 1


def test_another_change_of_a_study_leaves_its_schedules_alone(study: Study) -> None:
    with at(clock(study, "08:00")):
        skill = configure(study, KIND, schedule="0 9 * * *")
    before = (entry(skill).pk, entry(skill).last_run_at, Skill.objects.get(pk=skill.pk).updated_at)
    with at(clock(study, "08:30")):
        change(study, name="另一个名字")
    after = (entry(skill).pk, entry(skill).last_run_at, Skill.objects.get(pk=skill.pk).updated_at)
    assert after == before
