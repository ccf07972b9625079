"""Changed data: the rules that read a changed field run again, once, and no others."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from engines.models import PendingAction, TaskRun
from engines.sop import finding_life, snapshot
from engines.sop.events import ACTOR, CHANGE_ACTOR, data_changed, follow, subjects_changed
from projects.models import Project
from skills import chat
from skills.models import Skill
from skills.services import save_skill
from study import change_handlers, roster, sync
from tests.engines.sop.kit import birth_rule, born, change, hard, new_skill, rule, run_of, tell
from tests.engines.sop.test_findings_life import rows_of
from tests.support.study import Study
from wechat.models import Alert

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


@pytest.mark.full
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


@pytest.mark.full
def test_a_change_is_followed_up_once(study: Study, skill: Skill) -> None:
    put(study, "3")
    assert len(polled(study)) == 1
    assert polled(study) == []
    put(study, "1")
    assert len(polled(study)) == 1


@pytest.mark.full
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


def test_settings_of_the_chat_are_no_workflow_that_cannot_be_read(
    study: Study, skill: Skill
) -> None:
    about = {"skill_type": chat.TYPE, "name": "chat", "config": {"system_prompt": "请简短"}}
    save_skill(skill=Skill(project=study.project, **about), actor="admin")
    put(study, "3")
    assert len(polled(study)) == 1
    assert not Alert.objects.exists()


@pytest.mark.full
@pytest.mark.parametrize(
    "trigger",
    [
        {},
        {"trigger_type": "event", "event": "ae_added"},
        {"trigger_type": "event", "event": "finding_opened"},
        {"trigger_type": "event", "event": "record_changed", "event_field": "weight_kg"},
    ],
    ids=lambda one: one.get("event", "on request"),
)
def test_rules_run_again_whatever_starts_their_workflow(
    study: Study, skill: Skill, trigger: dict[str, str]
) -> None:
    """A value that gets worse after the event, and one that is corrected; each once, and no run of a run."""
    Skill.objects.filter(pk=skill.pk).update(is_active=False)
    mine = new_skill(study, {"a": hard(rules=[ECOG])}, "qc_process:mine", **trigger)
    put(study, "66", field="weight_kg")
    polled(study)
    for value, state in (("3", "open"), ("1", "data_changed"), ("4", "open")):
        put(study, value)
        (run,) = (one for one in polled(study) if one.triggered_by == CHANGE_ACTOR)
        assert (run.skill, state_of("E")) == (mine, state)
        tell()
        assert polled(study) == []
    answers = TaskRun.objects.filter(config__event="finding_opened", cause__startswith="finding:")
    assert not answers.exists()


@pytest.mark.full
@pytest.mark.parametrize("is_told_first", [False, True])
def test_a_workflow_that_has_just_started_on_the_data_needs_no_second_run(
    study: Study, skill: Skill, is_told_first: bool
) -> None:
    """Be it that the poll starts it, or REDCap's trigger did before."""
    Skill.objects.filter(pk=skill.pk).update(is_active=False)
    nodes = {"a": hard(rules=[ECOG], on_fail="end_bad")}
    about = {"trigger_type": "event", "event": "record_changed", "event_field": "ecog_score"}
    new_skill(study, nodes, "qc_process:mine", **about)
    for value in ("3", "1", "3"):
        put(study, value)
        told = subjects_changed(study.project, ["P001"]) if is_told_first else []
        assert [one.triggered_by for one in [*told, *polled(study)]] == [ACTOR]


@pytest.mark.full
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


def state_of(rule_key: str) -> str:
    return PendingAction.objects.get(rule_key=rule_key).state


def test_each_of_two_corrections_runs_the_rules_of_its_own(study: Study, skill: Skill) -> None:
    """Both values are corrected in REDCap before anybody says so of the first finding."""
    put(study, "3")
    put(study, "9", field="sex")
    run_of(study, skill)
    put(study, "1")
    put(study, "1", field="sex")
    for key in ("E", "S"):
        found = PendingAction.objects.get(rule_key=key)
        finding_life.move(finding=found, step="correct", actor=study["zhangyi"])
        assert state_of(key) == "data_changed"


@pytest.mark.full
def test_a_second_form_of_the_same_reading_runs_its_rules(study: Study, skill: Skill) -> None:
    """Two forms are saved before the change of the first is read."""
    put(study, "3")
    put(study, "9", field="sex")
    for columns in ({"ecog_score"}, {"sex"}, {"sex"}):
        follow(study.project, snapshot.read_subject(study.project, "P001"), columns)
    assert (state_of("E"), state_of("S")) == ("open", "open")
    assert TaskRun.objects.filter(triggered_by=CHANGE_ACTOR).count() == 2


@pytest.mark.full
@pytest.mark.parametrize("is_roster_first", [False, True])
def test_a_value_that_no_reading_keeps_runs_the_rules_that_read_it(
    study: Study, skill: Skill, is_roster_first: bool
) -> None:
    """Of a date of birth the age changes, or nothing that is kept; the roster may be read by itself, too."""
    mine = new_skill(study, {"a": hard(rules=[birth_rule(), SEX])}, "qc_process:birth")
    for day, expected in (
        ("1910-01-01", "open"),
        ("1910-01-02", "open"),
        ("1960-01-01", "data_changed"),
    ):
        born(study, day)
        if is_roster_first:
            roster.sync_roster(study.project)
        [run] = polled(study)
        assert (run.skill, state_of("B")) == (mine, expected)
        assert [rule["id"] for rule in run.config["nodes"]["a"]["rules"]] == ["B"]
        assert polled(study) == []


def test_an_identifier_that_changes_while_others_are_followed_up_waits(
    study: Study, skill: Skill
) -> None:
    put(study, "3")
    sync.poll(study.project)
    told: list[str] = []

    def meanwhile(project: Project, record_id: str, columns: Collection[str]) -> None:
        told.append(record_id)
        if len(told) == 1:
            change(study, "P001", "screening_arm_1", phone="13900000001")
            roster.sync_roster(study.project)

    assert change_handlers.handle_changes(study.project, meanwhile).left == 1
    assert change_handlers.handle_changes(study.project, meanwhile).left == 0
    assert told == ["P001", "P001"]
