"""A study without tokens left waits for its next day (issue B, "waiting for LLM budget")."""

from __future__ import annotations

from datetime import datetime
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.utils.timezone import now

from core.llm.models import LlmUsage
from engines.tasks import sweep_runs
from projects.models import Project
from tests.engines.sop.kit import go, new_skill, run_of, soft, steps
from tests.engines.sop.test_soft_lies import said
from tests.support.study import Study

pytestmark = pytest.mark.django_db


def test_the_run_waits_until_the_studys_midnight(study: Study) -> None:
    Project.objects.filter(pk=study.project.pk).update(
        llm_daily_token_cap=10, timezone="Asia/Tokyo"
    )
    study.project.refresh_from_db()
    LlmUsage.objects.create(project=study.project, purpose="x", model="m", input_tokens=10)
    skill = new_skill(study, {"judge": soft()})
    study.stand_ins.script(said())
    run = run_of(study, skill)

    assert (run.status, run.sub_status, run.lease_until) == ("RUNNING", "llm_budget", None)
    assert run.available_at
    local = run.available_at.astimezone(ZoneInfo("Asia/Tokyo"))
    assert (local.hour, local.minute) == (0, 0)
    assert (local.date() - datetime.now(ZoneInfo("Asia/Tokyo")).date()).days == 1
    assert study.stand_ins.requests("llm") == []
    assert steps(go(run)) == ["read pass"], "not today"

    with time_machine.travel(run.available_at, tick=True):
        go(run)
    assert (run.status, run.final_state, run.sub_status) == ("COMPLETED", "end_success", "")


@pytest.mark.full
def test_waiting_for_tokens_is_no_failed_trial(study: Study) -> None:
    Project.objects.filter(pk=study.project.pk).update(llm_daily_token_cap=0)
    study.project.refresh_from_db()
    run = run_of(study, new_skill(study, {"judge": soft(retry={"times": 0, "wait_s": 1})}))
    for _day in range(3):
        assert run.available_at
        with time_machine.travel(run.available_at, tick=True):
            go(run)

    assert (run.status, run.attempts) == ("RUNNING", 0)
    assert not run.reviews.exists()


@pytest.mark.full
def test_more_tokens_let_it_go_on_at_once(study: Study) -> None:
    """Not where the cap was raised to less than was used, nor in a study without tokens."""
    used = LlmUsage(project=study.project, purpose="x", model="m", input_tokens=10)
    used.save()
    caps = Project.objects.filter(pk=study.project.pk)
    caps.update(llm_daily_token_cap=5)
    study.project.refresh_from_db()
    run = run_of(study, new_skill(study, {"judge": soft()}))
    study.stand_ins.script(said())
    caps.update(llm_daily_token_cap=8)
    sweep_runs()
    run.refresh_from_db()
    assert run.available_at
    assert run.available_at > now()

    caps.update(llm_daily_token_cap=10_000_000)
    sweep_runs()
    run.refresh_from_db()
    assert run.available_at
    assert run.available_at <= now()
    run.project.refresh_from_db()
    go(run)
    assert (run.status, run.final_state) == ("COMPLETED", "end_success")
