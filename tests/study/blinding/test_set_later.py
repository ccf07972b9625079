"""What dates visits and enrolment once a study is blinded: nothing that tells an arm, whatever was set."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from core.house import clock
from engines.agenda import Kind, agenda
from engines.briefing import daily_briefing
from engines.briefing_material import Material, read_study
from memory.reports import weeks
from memory.reports.metrics import SourceDown, visits
from memory.reports.weeks import Period
from projects.models import Member, Project
from skills.graph import Node
from study.admin.project_form import ProjectForm
from study.admin.studies import VisitPlanForm
from study.blinding import services
from study.models import Dictionary, VisitPlanEntry
from study.setup import plan
from tests.study.blinding import twins
from tests.study.blinding.conftest import OfBoth, Open
from tests.support.study import Study

TELLING = "drug_a_start"
VISIT: dict[str, Any] = {
    "position": 90,
    "visit": "首剂",
    "anchor_field": "enroll_date",
    "date_field": TELLING,
    "day": 1,
    "minus": 0,
    "plus": 300,
}


def errors(study: Study, **given: Any) -> Any:
    form = VisitPlanForm({"project": study.project.pk, **VISIT, **given})
    form.instance.project = study.project
    return form.errors


@pytest.mark.full
@pytest.mark.parametrize("column", ["date_field", "anchor_field"])
def test_a_visit_is_dated_by_nothing_that_tells_an_arm(study: Study, column: str) -> None:
    plain = {"date_field": "v1_date", "anchor_field": "enroll_date"}
    assert not errors(study, **plain).keys() & {"date_field", "anchor_field", "arm"}
    refused = [
        str(errors(study, **plain | {column: name})[column]).replace(name, "X").partition("X")[:2]
        for name in (TELLING, "drug_q_start")
    ]
    assert refused[0] == refused[1]
    assert "arm" in errors(study, **plain, arm="1")


@pytest.mark.full
@pytest.mark.parametrize("column", ["enrolment_field", "withdraw_field"])
def test_nor_is_an_enrolment_or_a_withdrawal(study: Study, column: str) -> None:
    form = ProjectForm({column: TELLING}, instance=study.project)
    assert column in form.errors
    assert TELLING in str(form.errors[column])


@pytest.mark.full
def test_none_is_offered(open_twin: Open) -> None:
    study = open_twin("a")
    assert TELLING in dict(plan.anchor_dates(study.project))
    services.switch_on(project=study.project, fields=twins.fields(), actor="test")
    assert TELLING not in dict(plan.anchor_dates(study.project))
    assert TELLING not in {row.field for row in plan.proposed_visits(study.project)}


def forced(study: Study) -> Project:
    """The study, blinded, with such a visit in its plan all the same."""
    services.switch_on(project=study.project, fields=twins.fields(), actor="test")
    VisitPlanEntry.objects.create(project=study.project, **VISIT)
    return study.project


def shown(study: Study) -> list[str]:
    """Visits over the API, a briefing and the figures of a week."""
    project = forced(study)
    client = Client()
    user = User.objects.get(username="zhangyi")
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    pages = []
    address = f"/api/v1/visits/?project={project.code}"
    while address:
        answer = client.get(address).json()
        pages += answer["results"]
        address = answer["next"]
    assert {row["visit"] for row in pages} >= {"首剂"}
    node = Node.model_validate({"type": "notify", "content": "daily_briefing", "roles": ["PI"]})
    reader = Member.objects.select_related("project", "person__user").get(pk=study["zhangyi"].pk)
    material = Material(reader.project, node, clock.now(), read_study(reader.project))
    parts = daily_briefing(material.for_reader(reader)).parts
    number = weeks.weeks_over(project, clock.now())
    week = weeks.period(project, weeks.week(project, number), clock.now())
    return [json.dumps(pages), *(part.text for part in parts), repr(figures(project, week))]


def figures(project: Project, week: Period) -> Any:
    """What the report of a week counts of visits; None where a date is not shown."""
    try:
        return visits(project, week)
    except SourceDown:
        return None


@pytest.mark.full
def test_a_plan_that_was_forced_tells_no_arm(of_both: OfBoth) -> None:
    one, other = of_both(shown)
    assert one == other


@pytest.mark.full
def test_a_study_that_tells_its_arms_later_is_a_fault_of_the_day(study: Study) -> None:
    def faults(name: str) -> list[str]:
        rows = agenda(study.project, study[name], None)
        return [one.text for row in rows if row.kind is Kind.BLINDING for one in row.entries]

    assert faults("admin") == []
    forced(study)
    assert [TELLING in text for text in faults("admin")] == [True]
    kept = Dictionary.objects.get(project=study.project)
    arm = {**kept.content["events"][0], "unique_event_name": "baseline_arm_2", "arm_num": 2}
    kept.content["events"].append(arm)
    Dictionary.objects.filter(pk=kept.pk).update(content=kept.content, digest="of two arms")
    assert len(faults("admin")) == 2
    assert faults("zhangyi") == []
