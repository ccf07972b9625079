"""Repeating a run: the current version, the same subject, a run of its own (issue B, "rerun")."""

from __future__ import annotations

import pytest

from engines import sop
from engines.models import TaskRun
from engines.sop import snapshot
from projects.models import AuditEntry
from skills.services import save_skill
from tests.engines.sop.kit import begin, go, hard, human, new_skill, run_of
from tests.engines.sop.test_findings_life import ecog
from tests.support.study import Study

pytestmark = pytest.mark.django_db


@pytest.mark.full
def test_the_current_version_runs_on_the_data_as_they_are_now(study: Study) -> None:
    skill = new_skill(study, {"check": hard()})
    first = run_of(study, skill, "P004")
    skill.config = skill.config | {"nodes": {"check": hard(on_pass="end_checked")}}
    save_skill(skill=skill, actor="admin")
    ecog(study, "1")

    again = go(sop.rerun(first, study["zhangyi"]))

    assert (again.rerun_of, again.record_id, again.triggered_by) == (first, "P004", "zhangyi")
    assert (first.skill_version, again.skill_version) == (1, 2)
    assert (first.final_state, again.final_state) == ("end_success", "end_checked")
    assert snapshot.rows(again) != snapshot.rows(first)
    entry = AuditEntry.objects.get(action="run.start", object_id=str(again.pk))
    assert entry.new["rerun_of"] == str(first.pk)


def test_pressed_twice_it_is_one_run_and_later_another(study: Study) -> None:
    first = run_of(study, new_skill(study, {"ask": human()}))
    sop.cancel(run=first, actor="zhangyi", reason="")
    again = sop.rerun(first, "zhangyi")
    assert sop.rerun(first, "zhangyi") == again
    sop.cancel(run=again, actor="zhangyi", reason="")

    third = sop.rerun(first, "zhangyi")
    assert third not in {first, again}
    assert TaskRun.objects.filter(rerun_of=first).count() == 2


def test_what_still_goes_on_is_not_repeated(study: Study) -> None:
    skill = new_skill(study, {"ask": human()})
    for run in (begin(study, skill), run_of(study, skill)):
        with pytest.raises(sop.NotEnded):
            sop.rerun(run, "zhangyi")


def test_a_workflow_that_is_off_is_not_repeated(study: Study) -> None:
    skill = new_skill(study, {"check": hard()})
    run = run_of(study, skill)
    skill.is_active = False
    save_skill(skill=skill, actor="admin")
    with pytest.raises(sop.Inactive):
        sop.rerun(run, "zhangyi")


def test_a_run_about_no_subject(study: Study) -> None:
    run = run_of(study, new_skill(study, {"check": hard()}), None)
    again = sop.rerun(run, "zhangyi")
    assert (again.record_id, again.rerun_of) == (None, run)
