"""A workflow on a schedule has no subject: nobody orders it for one, wherever they ask (design.md 4)."""

from __future__ import annotations

import io

import pytest
from django.core.management import CommandError, call_command

from engines.models import TaskRun
from engines.models.runs import Batch
from engines.sop.order_run import OnSchedule, start_batch_for, start_for
from skills.models import Skill
from tests.api.conftest import Login
from tests.api.test_dry_run_and_rerun import rehearse, repeat
from tests.api.test_editing import problem
from tests.api.test_runs import CLEAN, order, started
from tests.support.study import Study
from tests.support.tasks import drain

pytestmark = pytest.mark.django_db(transaction=True)
CRON = ["daily_briefing", "visit_reminder", "weekly_report"]


@pytest.mark.full
@pytest.mark.parametrize("kind", CRON)
@pytest.mark.parametrize("userid", ["zhangyi", "wanghushi", "admin"])
def test_not_by_the_api(userid: str, kind: str, study: Study, login: Login) -> None:
    body = {"project": "LUNG-IIT", "skill_type": kind, "record_ids": [CLEAN]}
    answers = [
        order(login, userid, skill_type=kind),
        rehearse(login, userid, skill_type=kind),
        login(userid).post("/api/v1/task-runs/start-batch/", body, format="json"),
    ]
    for answer in answers:
        assert problem(answer, 400)["errors"].keys() == {"skill_type"}
    assert drain() == []
    assert not TaskRun.objects.exists()
    assert not Batch.objects.exists()


@pytest.mark.parametrize("kind", CRON)
def test_not_by_the_command_nor_by_any_other_caller(kind: str, study: Study) -> None:
    with pytest.raises(CommandError):
        call_command("qc", CLEAN, "--skill", kind, stdout=io.StringIO())
    skill = Skill.objects.get(project=study.project, skill_type=kind)
    with pytest.raises(OnSchedule):
        start_for(study["zhangyi"], study.project, skill, CLEAN)
    with pytest.raises(OnSchedule):
        start_batch_for(study["zhangyi"], study.project, skill, [CLEAN], cap=1)
    assert not TaskRun.objects.exists()


@pytest.mark.full
def test_a_run_of_the_schedule_is_still_repeated(study: Study, login: Login) -> None:
    skill = Skill.objects.get(project=study.project, skill_type="daily_briefing")
    run = TaskRun.objects.create(
        project=study.project,
        skill=skill,
        skill_version=skill.version,
        config=skill.config,
        triggered_by="system_scheduler",
        status="FAILED",
        current_node=skill.config["start_node"],
    )
    assert repeat(login, "admin", str(run.pk)).status_code == 201


@pytest.mark.full
def test_a_subjects_run_is_not_repeated_on_what_is_a_schedule_now(
    study: Study, login: Login
) -> None:
    pk = started(login, "zhangyi", CLEAN)
    Skill.objects.filter(skill_type="qc_process").update(
        trigger_type="cron", cron_schedule="0 9 * * *"
    )
    assert problem(repeat(login, "zhangyi", pk), 409)["code"] == "on_schedule"
    assert TaskRun.objects.count() == 1


@pytest.mark.full
def test_what_answers_events_may_be_ordered(study: Study, login: Login) -> None:
    """As on the console's page."""
    Skill.objects.filter(skill_type="qc_process:ae").update(trigger_type="event")
    assert order(login, "zhangyi", skill_type="qc_process:ae").status_code == 201
