"""A visit that is missed changes nothing in the data: it is found because the day has come."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest
import time_machine
from django.utils.timezone import now

from engines import tasks
from engines.models import PendingAction, TaskRun
from engines.sop.chain import DAY_ACTOR
from projects.models import Project
from skills.models import Skill
from study import sync
from tests.engines.sop.kit import hard, new_skill
from tests.support.study import Study
from tests.support.tasks import drain

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
    tasks.check_visits()
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
