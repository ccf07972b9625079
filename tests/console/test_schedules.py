"""Schedules in the console: when, what came of it, run now, paused and going on again."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.test import Client
from django_celery_beat.models import PeriodicTask

from engines import sop
from engines.models import TaskRun
from projects.models import AuditEntry, Project
from skills import beat
from skills.models import Skill
from skills.services import save_skill
from tests.console.conftest import CONFIG
from tests.support.study import Study

LIST = "/admin/engines/taskrun/schedules/"
ZONE = ZoneInfo("Asia/Shanghai")
MONDAY = datetime(2026, 11, 23, 8, 0, 30, tzinfo=ZONE)


@pytest.fixture
def skill(study: Study) -> Skill:
    """A workflow of the study without a subject, on Mondays."""
    Skill.objects.filter(trigger_type=Skill.Trigger.CRON).delete()
    ask = CONFIG["nodes"]["ask"]  # type: ignore[index]
    made = Skill(
        project=study.project,
        skill_type="weekly_check",
        name="周检",
        config={"start_node": "ask", "nodes": {"ask": ask}},
        trigger_type=Skill.Trigger.CRON,
        cron_schedule="0 8 * * 1",
    )
    return save_skill(skill=made, actor="test")


def shown(client: Client, skill: Skill) -> str:
    answer = client.get(f"{LIST}{skill.pk}/")
    assert answer.status_code == 200
    return answer.content.decode()


def do(client: Client, skill: Skill, what: str) -> str:
    return client.post(f"{LIST}{skill.pk}/", {what: "1"}, follow=True).content.decode()


@pytest.mark.full
def test_the_next_firings_and_what_came_of_the_last(
    as_user: Callable[..., Client], skill: Skill
) -> None:
    client = as_user("wanghushi", "zh-hans")
    with time_machine.travel(MONDAY, tick=False):
        assert sop.fire(skill) is not None
        page = client.get(LIST).content.decode()
        one = shown(client, skill)
    assert "每周一 08:00" in page
    assert "2026-11-30 08:00" in page
    for day in ("11-30", "12-07", "12-14", "12-21", "12-28"):
        assert f"2026-{day} 08:00" in one
    assert "2026-11-23 08:00" in one
    run = f"/admin/engines/taskrun/{TaskRun.objects.get(skill=skill).pk}/change/"
    assert run in shown(as_user("zhangyi"), skill)
    assert run not in one
    assert "已启动" in one


@pytest.mark.full
def test_it_runs_out_of_turn_once_asked(as_user: Callable[..., Client], skill: Skill) -> None:
    client = as_user("admin")
    assert "Started out of turn" in do(client, skill, "run")
    run = TaskRun.objects.get(skill=skill)
    assert (run.triggered_by, run.cause) == ("admin", None)
    assert AuditEntry.objects.filter(action="run.start", actor="admin").count() == 1
    assert "out of turn" in shown(client, skill)


@pytest.mark.full
def test_it_is_paused_and_goes_on(as_user: Callable[..., Client], skill: Skill) -> None:
    client = as_user("admin")
    assert "The schedule is paused." in do(client, skill, "pause")
    assert not PeriodicTask.objects.get(name=beat.name(skill)).enabled
    assert "let it go on first" in do(client, skill, "run")
    assert not TaskRun.objects.filter(skill=skill).exists()
    assert "The schedule goes on" in do(client, skill, "resume")
    assert PeriodicTask.objects.get(name=beat.name(skill)).enabled
    told = AuditEntry.objects.filter(action="skill.change", actor="admin").order_by("number")
    assert [row.new for row in told] == [{"is_active": False}, {"is_active": True}]


def test_what_cannot_be_saved_is_paused_and_stays_so(
    as_user: Callable[..., Client], skill: Skill
) -> None:
    Skill.objects.filter(pk=skill.pk).update(config={"start_node": "x", "nodes": {}})
    client = as_user("admin")
    do(client, skill, "pause")
    do(client, skill, "resume")
    assert not Skill.objects.get(pk=skill.pk).is_active


def test_a_closed_study_runs_nothing(as_user: Callable[..., Client], skill: Skill) -> None:
    Project.objects.update(status=Project.Status.CLOSED)
    do(as_user("admin"), skill, "run")
    assert not TaskRun.objects.filter(skill=skill).exists()


@pytest.mark.full
@pytest.mark.parametrize("name", ["zhangyi", "wanghushi", "auditor"])
def test_others_only_look(as_user: Callable[..., Client], skill: Skill, name: str) -> None:
    client = as_user(name)
    assert 'name="pause"' not in shown(client, skill)
    for what in ("run", "pause"):
        assert client.post(f"{LIST}{skill.pk}/", {what: "1"}).status_code == 403
    assert Skill.objects.get(pk=skill.pk).is_active
    assert not TaskRun.objects.filter(skill=skill).exists()


def test_a_stranger_sees_nothing(as_user: Callable[..., Client], skill: Skill) -> None:
    client = as_user("charlie")
    assert client.get(LIST).status_code == 404
    assert client.get(f"{LIST}{skill.pk}/").status_code == 404


@pytest.mark.full
def test_the_list_asks_as_much_for_many(
    as_user: Callable[..., Client],
    skill: Skill,
    study: Study,
    django_assert_max_num_queries: Any,
) -> None:
    for number in range(8):
        save_skill(
            skill=Skill(
                project=study.project,
                skill_type=f"weekly_{number}",
                name=f"检 {number}",
                config=skill.config,
                trigger_type=Skill.Trigger.CRON,
                cron_schedule="0 8 * * 1",
            ),
            actor="test",
        )
    client = as_user("admin")
    with django_assert_max_num_queries(15):
        client.get(LIST)
