"""Changed data: the rules that read a changed field run again, once, and no others."""

from __future__ import annotations

import pytest

from engines.models import PendingAction, TaskRun
from engines.sop.events import CHANGE_ACTOR, data_changed
from skills.models import Skill
from study import change_handlers, sync
from tests.engines.sop.kit import change, hard, new_skill, rule, run_of
from tests.engines.sop.test_findings_life import rows_of
from tests.support.study import Study

pytestmark = pytest.mark.django_db
ECOG = rule(id="E", field="ecog", logic={"<=": [{"var": "ecog"}, 2]}, message="ECOG>2")
SEX = rule(id="S", field="sex", logic={"in": [{"var": "sex"}, ["1", "2"]]}, message="sex")


@pytest.fixture
def skill(study: Study) -> Skill:
    Skill.objects.filter(project=study.project).update(is_active=False)
    nodes = {
        "a": hard(rules=[ECOG], on_pass="b", on_fail="b"),
        "b": hard(rules=[SEX], on_pass="end_success"),
    }
    sync.sweep(study.project)
    return new_skill(study, nodes)


def put(study: Study, value: str, record: str = "P001", field: str = "ecog_score") -> None:
    place = next(row["redcap_event_name"] for row in rows_of(study, record) if row.get(field))
    change(study, record, str(place), **{field: value})


def polled(study: Study) -> list[TaskRun]:
    """The runs that a poll and its followers started."""
    before = {*TaskRun.objects.values_list("pk", flat=True)}
    sync.poll(study.project)
    assert change_handlers.handle_changes(study.project, data_changed).left == 0
    return [*TaskRun.objects.exclude(pk__in=before)]


def test_only_the_rules_that_read_the_field_run_again(study: Study, skill: Skill) -> None:
    put(study, "3")
    [run] = polled(study)
    assert (run.record_id, run.triggered_by, run.status) == ("P001", CHANGE_ACTOR, "COMPLETED")
    assert [step.node for step in run.steps.order_by("seq")] == ["a"]
    assert [rule["id"] for rule in run.config["nodes"]["a"]["rules"]] == ["E"]
    [found] = PendingAction.objects.filter(record_id="P001")
    assert (found.rule_key, found.state) == ("E", "open")


def test_what_no_rule_reads_starts_nothing(study: Study, skill: Skill) -> None:
    put(study, "66", field="weight_kg")
    assert polled(study) == []


def test_a_change_is_followed_up_once(study: Study, skill: Skill) -> None:
    put(study, "3")
    assert len(polled(study)) == 1
    assert polled(study) == []
    put(study, "1")
    assert len(polled(study)) == 1


def test_a_finding_that_the_data_answer_waits_to_be_confirmed(study: Study, skill: Skill) -> None:
    put(study, "3")
    sync.poll(study.project)
    run_of(study, skill)
    [found] = PendingAction.objects.filter(rule_key="E")
    put(study, "1")
    polled(study)
    found.refresh_from_db()
    assert found.state == "data_changed"
    assert PendingAction.objects.filter(rule_key="E").count() == 1


def test_an_outage_answers_no_finding(study: Study, skill: Skill) -> None:
    """The correcting value comes with a truncated body: it closes nothing, and the next poll does."""
    put(study, "3")
    polled(study)
    [found] = PendingAction.objects.filter(rule_key="E")
    put(study, "1")
    sync.poll(study.project)
    study.stand_ins.fault("redcap", "body", '[{"record_id":"P001","ecog_', times=1)
    assert change_handlers.handle_changes(study.project, data_changed).left == 1
    found.refresh_from_db()
    assert found.state == "open"
    assert change_handlers.handle_changes(study.project, data_changed).left == 0
    found.refresh_from_db()
    assert found.state == "data_changed"
