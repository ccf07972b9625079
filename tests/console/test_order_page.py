"""Ordering a workflow in the console: one subject, several, all, or a trial that leaves no trace."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from engines.models import Batch, PendingAction, Review, TaskRun
from projects.models import AuditEntry
from skills.models import Skill
from skills.services import save_skill
from study.models import Subject
from tests.console.conftest import CONFIG, SITE_A, SITE_B
from tests.support.study import Study

URL = "/admin/engines/taskrun/order/"


@pytest.fixture
def skill(study: Study) -> Skill:
    return save_skill(
        skill=Skill(
            project=study.project, skill_type="qc_process:order", name="Order", config=CONFIG
        ),
        actor="test",
    )


def order(client: Client, skill: Skill, subjects: str, how: str) -> Any:
    return client.post(URL, {"skill": str(skill.pk), "subjects": subjects, how: "1"})


def test_one_subject_opens_its_run(as_user: Callable[..., Client], skill: Skill) -> None:
    answer = order(as_user("wanghushi"), skill, f" {SITE_A} ", "start")
    run = TaskRun.objects.get(skill=skill)
    assert answer.url == f"/admin/engines/taskrun/{run.pk}/change/"
    assert (run.record_id, run.triggered_by) == (SITE_A, "wanghushi")


def test_several_open_their_batch(as_user: Callable[..., Client], skill: Skill) -> None:
    answer = order(as_user("zhangyi"), skill, f"{SITE_A}、{SITE_B},{SITE_A}\nP001", "start")
    batch = Batch.objects.get(skill=skill)
    assert answer.url == f"/admin/engines/batch/{batch.pk}/change/"
    assert batch.record_ids == [SITE_A, SITE_B, "P001"]


def test_all_are_those_of_the_site(
    as_user: Callable[..., Client], skill: Skill, study: Study
) -> None:
    order(as_user("crc_b"), skill, "", "all")
    own = Subject.objects.filter(project=study.project, site="site_b", is_present=True)
    assert {*Batch.objects.get(skill=skill).record_ids} == {one.record_id for one in own}


def test_a_trial_says_what_would_happen_and_leaves_nothing(
    as_user: Callable[..., Client], skill: Skill
) -> None:
    client = as_user("wanghushi")
    before = AuditEntry.objects.count()
    page = order(client, skill, SITE_A, "try").content.decode()
    tried = page[page.index('data-test="tried"') :]
    assert "It would wait for a person." in tried
    assert "年龄超出范围" in tried
    assert "A person would be asked" in tried
    for model in (TaskRun, PendingAction, Review):
        assert not model.objects.exists(), model
    assert AuditEntry.objects.count() == before


@pytest.mark.full
@pytest.mark.parametrize("how", ["start", "try"])
def test_a_subject_of_another_site_reads_as_none(
    as_user: Callable[..., Client], skill: Skill, how: str
) -> None:
    answers = [
        order(as_user("crc_b"), skill, record, how).content.decode() for record in (SITE_A, "P998")
    ]
    for page in answers:
        assert "There is no such subject, or you may not see it." in page
    assert not TaskRun.objects.exists()


@pytest.mark.parametrize(
    ("subjects", "how", "message"),
    [
        ("", "start", "Name a subject"),
        ("", "try", "exactly one subject"),
        ("P001 P002", "try", "exactly one subject"),
    ],
)
def test_what_is_missing_is_said(
    as_user: Callable[..., Client], skill: Skill, subjects: str, how: str, message: str
) -> None:
    page = order(as_user("wanghushi"), skill, subjects, how).content.decode()
    assert message in page
    assert not TaskRun.objects.exists()


def test_redcap_that_is_down_is_said(
    as_user: Callable[..., Client], skill: Skill, study: Study
) -> None:
    fault = {"service": "redcap", "path": "/redcap/api/", "kind": "status", "value": 500}
    study.stand_ins.post("faults", [fault | {"times": 20}])
    page = order(as_user("wanghushi"), skill, SITE_A, "start").content.decode()
    assert "REDCap could not be read." in page
    assert not TaskRun.objects.exists()


@pytest.mark.full
def test_who_may_order(as_user: Callable[..., Client], skill: Skill, study: Study) -> None:
    assert as_user("charlie").get(URL).status_code == 403
    assert as_user("auditor").get(URL).status_code == 403
    listed = as_user("auditor").get("/admin/engines/taskrun/").content.decode()
    assert URL not in listed
    assert URL in as_user("wanghushi").get("/admin/engines/taskrun/").content.decode()
    page = as_user("wanghushi").get(URL).content.decode()
    assert str(skill.pk) in page
    assert str(Skill.objects.get(skill_type="daily_briefing").pk) not in page


@pytest.mark.full
def test_the_subjects_that_are_missing_are_named(
    as_user: Callable[..., Client], skill: Skill
) -> None:
    page = order(as_user("crc_b"), skill, f"{SITE_B}, {SITE_A}, P998", "start").content.decode()
    assert f"you may not see it. {SITE_A}, P998<" in page
