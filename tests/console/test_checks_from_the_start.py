"""Standard checks are proposed from the start of a study, run at once, and a result names what ran."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from engines.models import Batch, PendingAction, TaskRun
from engines.sop.checks import switch
from engines.sop.checks.kinds import PROPOSED
from projects.models import Project
from skills.models import Skill
from study.models import Subject
from study.setup import steps
from tests.engines.chat.kit import ask, mute
from tests.engines.sop.kit import hard, new_skill, rule, run_of, tell
from tests.support.study import Study
from tests.support.tasks import drain
from tests.wechat.working import outgoing

PAGE = "/admin/engines/pendingaction/checks/"
ALL = {kind: {} for kind in PROPOSED}


def step_of(project: Project) -> str:
    return next(one.state.value for one in steps.checklist(project) if one.step.key == "checks")


@pytest.mark.full
def test_set_up_proposes_them_with_what_they_would_find(
    as_user: Callable[..., Client], study: Study
) -> None:
    Project.objects.filter(pk=study.project.pk).update(status=Project.Status.PLANNING)
    study.project.refresh_from_db()
    assert step_of(study.project) == "missing"

    page = as_user("admin", "zh-hans").get(PAGE)
    assert page.context["proposed"]
    assert page.context["total"] > 0
    assert page.context["total"] == sum(page.context["counts"].values())
    assert not PendingAction.objects.exists(), "a preview stores nothing"

    ticked = {f"on_{kind}": "on" for kind in PROPOSED}
    as_user("admin").post(PAGE, ticked | {"times": "3", "days": "14", "save": "1"})
    assert step_of(study.project) == "done"
    assert not as_user("admin").get(PAGE).context["proposed"]


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_they_run_at_once_on_everybody_and_again_when_they_change(study: Study) -> None:
    present = Subject.objects.filter(project=study.project, is_present=True)
    everybody = {*present.values_list("record_id", flat=True)}
    switch.switch(project=study.project, checks={"required": {}}, actor="admin")
    drain()
    batch = Batch.objects.get()
    assert {*batch.runs.values_list("record_id", flat=True)} == everybody
    assert not batch.runs.exclude(status=TaskRun.Status.COMPLETED).exists()

    switch.switch(project=study.project, checks={"required": {}}, actor="admin")
    assert Batch.objects.count() == 1, "nothing was changed"
    switch.switch(project=study.project, checks={"required": {}, "range": {}}, actor="admin")
    assert Batch.objects.count() == 2
    switch.switch(project=study.project, checks={}, actor="admin")
    assert Batch.objects.count() == 2


@pytest.fixture
def passed(study: Study) -> TaskRun:
    """A run with two rules that pass, ordered by the investigator."""
    fine: list[Any] = [rule(id=name, logic={">": [{"var": "age"}, 1]}) for name in ("A", "B")]
    skill = new_skill(study, {"check": hard(rules=fine)}, "qc_process:enrolment")
    run = run_of(study, skill, "P001", triggered_by="zhangyi")
    assert run.final_state == "end_success"
    return run


def test_a_result_names_what_ran_and_what_did_not(passed: TaskRun) -> None:
    tell()
    told = outgoing("zhangyi")[-1]
    assert "规则 2 条通过;未启用:" in told
    assert "安全性核查" in told


@pytest.mark.full
def test_what_is_on_is_not_told_as_off(study: Study, passed: TaskRun) -> None:
    mute(study)
    asked = ask("zhangyi", "P001的质控跑完了吗").text
    assert "规则 2 条通过" in asked
    assert "安全性核查" in asked
    Skill.objects.create(
        project=study.project,
        skill_type=switch.TYPE,
        config=switch.config_of(ALL),
        trigger_type="event",
    )
    assert "未启用" not in ask("zhangyi", "P001的质控跑完了吗").text


def test_the_page_of_a_run_names_it(as_user: Callable[..., Client], passed: TaskRun) -> None:
    page = as_user("admin", "zh-hans").get(f"/admin/engines/taskrun/{passed.pk}/change/")
    assert "规则 2 条通过" in page.content.decode()
