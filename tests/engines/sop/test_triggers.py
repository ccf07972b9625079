"""What starts a run by itself: a change, a finding, a schedule; each once (decisions.md, "triggers")."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest
import time_machine
from django.core.exceptions import ValidationError
from django.utils.timezone import now

from engines import sop, tasks
from engines.models import PendingAction, TaskRun
from engines.sop import events
from skills.models import Skill
from skills.services import save_skill
from study import change_handlers, dictionary, sync
from study.models import Dictionary, Reading
from tests.engines.sop.kit import change, findings, go, hard, human, new_skill, rule, run_qc, tell
from tests.engines.sop.test_findings_life import rows_of
from tests.support.study import Study

pytestmark = pytest.mark.django_db
ECOG = rule(id="E", field="ecog", logic={"<=": [{"var": "ecog"}, 2]}, message="ECOG>2")


def listener(study: Study, event: str = "record_changed", **more: Any) -> Skill:
    nodes = {"a": hard(rules=[ECOG], on_fail="end_bad")}
    return new_skill(study, nodes, f"on_{event}", trigger_type="event", event=event, **more)


def changed(study: Study, record: str = "P001") -> list[TaskRun]:
    return events.subjects_changed(study.project, [record])


def put(study: Study, record: str = "P001", **values: str) -> None:
    name = next(iter(values))
    place = next(row["redcap_event_name"] for row in rows_of(study, record) if row.get(name))
    change(study, record, str(place), **values)


@pytest.mark.full
def test_once_per_change_however_often_it_is_told(study: Study) -> None:
    listener(study)

    assert [len(changed(study)) for _time in range(3)] == [1, 0, 0]
    put(study, ecog_score="2")
    assert [len(changed(study)) for _time in range(3)] == [1, 0, 0]
    assert TaskRun.objects.get(cause__contains=":0:").triggered_by == "system_event"


@pytest.mark.full
def test_a_value_that_is_put_back_is_a_change_too(study: Study) -> None:
    listener(study)
    before = next(str(row["ecog_score"]) for row in rows_of(study, "P001") if row.get("ecog_score"))
    go(changed(study)[0])
    put(study, ecog_score="4")
    bad = go(changed(study)[0])
    assert findings(bad)[0].state == "open"
    put(study, ecog_score=before)
    (run,) = changed(study)

    assert go(run).final_state == "end_success"
    assert findings(bad)[0].state == "data_changed"


@pytest.mark.full
def test_a_filter_listens_to_its_field_or_form_only(study: Study) -> None:
    listener(study, event_field="ecog_score")
    assert len(changed(study)) == 1
    put(study, weight_kg="71")
    assert changed(study) == []
    put(study, ecog_score="2")
    assert len(changed(study)) == 1


@pytest.mark.full
def test_a_new_adverse_event(study: Study) -> None:
    listener(study, "ae_added")
    assert changed(study, "P014") == [], "there is none yet"
    row = {"record": "P014", "event": "log_arm_1", "instrument": "ae", "instance": 1}
    study.stand_ins.post("redcap/records", [row | {"values": {"ae_term": "乏力"}}])
    assert len(changed(study, "P014")) == 1
    study.stand_ins.post("redcap/records", [row | {"values": {"ae_term": "恶心"}}])
    assert changed(study, "P014") == [], "changed, not added"


@pytest.mark.full
def test_an_adverse_event_that_was_deleted_and_one_that_takes_its_place(study: Study) -> None:
    """What goes is no new one; what comes after it is, in the same instance, too."""
    listener(study, "ae_added")
    row = {"record": "P014", "event": "log_arm_1", "instrument": "ae"}
    first, second = (row | {"instance": n, "values": {"ae_term": "乏力"}} for n in (1, 2))
    started = []
    for rows, gone in (([first], []), ([second], []), ([], [second]), ([], [first]), ([first], [])):
        study.stand_ins.post("redcap/records", [*rows, *(one | {"delete": True} for one in gone)])
        started.append(len(changed(study, "P014")))
    assert started == [1, 1, 0, 0, 1]


@pytest.mark.full
def test_an_old_adverse_event_is_no_new_one_when_its_first_version_is_forgotten(
    study: Study,
) -> None:
    listener(study, "ae_added")
    row = {"record": "P014", "event": "log_arm_1", "instrument": "ae", "instance": 1}
    for term in ("乏力", "恶心"):
        study.stand_ins.post("redcap/records", [row | {"values": {"ae_term": term}}])
        assert len(changed(study, "P014")) == (term == "乏力")
    old = Reading.objects.filter(record_id="P014", instrument="ae", is_current=False)
    assert old.delete()[0]
    put(study, "P014", ecog_score="2")
    assert changed(study, "P014") == []


@pytest.mark.full
def test_an_event_that_came_before_anybody_listened_is_no_new_one(study: Study) -> None:
    row = {"record": "P014", "event": "log_arm_1", "instrument": "ae"}
    first, second = (row | {"instance": n, "values": {"ae_term": "乏力"}} for n in (1, 2))
    study.stand_ins.post("redcap/records", [first])
    sync.sweep(study.project)
    skill = listener(study, "ae_added")
    put(study, "P014", ecog_score="2")
    assert changed(study, "P014") == []
    study.stand_ins.post("redcap/records", [first | {"values": {"ae_term": "恶心"}}])
    assert polled(study) == [], "its own row was corrected"
    Skill.objects.filter(pk=skill.pk).update(is_active=False)
    study.stand_ins.post("redcap/records", [second])
    polled(study)
    Skill.objects.filter(pk=skill.pk).update(is_active=True)
    put(study, "P014", ecog_score="1")
    assert [*changed(study, "P014"), *polled(study)] == []
    study.stand_ins.post("redcap/records", [first | {"delete": True}])
    polled(study)
    study.stand_ins.post("redcap/records", [first])
    (run,) = polled(study)
    assert run.skill == skill


def polled(study: Study) -> list[TaskRun]:
    """What a poll and its followers started because of an event."""
    before = {*TaskRun.objects.values_list("pk", flat=True)}
    sync.poll(study.project)
    assert change_handlers.handle_changes(study.project, events.data_changed).left == 0
    return [*TaskRun.objects.exclude(pk__in=before).filter(triggered_by=events.ACTOR)]


@pytest.mark.full
def test_a_new_event_on_a_form_that_does_not_repeat(study: Study) -> None:
    """It stands once at an event of the study, in the row that it shares with other forms."""
    listener(study, "ae_added", event_form="labs")
    assert changed(study, "P014") == []
    started = []
    for event, values in (
        ("baseline_arm_1", {"sbp": "128"}),
        ("baseline_arm_1", {"alt": "30"}),
        ("baseline_arm_1", {"alt": "31"}),
        ("v2_arm_1", {"alt": "90"}),
        ("baseline_arm_1", {"alt": ""}),
        ("baseline_arm_1", {"alt": "32"}),
    ):
        change(study, "P014", event, **values)
        started.append(len(changed(study, "P014")))
    assert started == [0, 1, 0, 1, 0, 1]


@pytest.mark.full
@pytest.mark.parametrize(
    ("about", "nobody", "somebody"),
    [
        ({"event_form": "physical"}, {"bmi": "22"}, {"weight_kg": "71"}),
        ({"event_form": "eligibility"}, {"sex": "1"}, {"exclusion___2": "1"}),
        ({"event_field": "weight_kg"}, {"height_cm": "171"}, {"weight_kg": "71"}),
    ],
)
def test_an_event_is_what_somebody_entered(
    study: Study, about: dict[str, str], nobody: dict[str, str], somebody: dict[str, str]
) -> None:
    """No calculation, box that is not ticked, or field that nobody listens to."""
    place = "screening_arm_1" if "sex" in nobody else "baseline_arm_1"
    listener(study, "ae_added", **about)
    started = []
    for values in (nobody, somebody):
        change(study, "P099", place, **values)
        started.append(len(changed(study, "P099")))
    assert started == [0, 1]


def test_a_listener_that_could_never_hear_is_refused(study: Study) -> None:
    row = Dictionary.objects.get(project=study.project)
    for one in (*row.content["metadata"], *row.content["mapping"], *row.content["instruments"]):
        for key in {"form_name", "form", "instrument_name"} & one.keys():
            one[key] = "adverse_events" if one[key] == "ae" else one[key]
    row.digest = "other"
    row.save()
    for about in ({}, {"event_form": "ae"}, {"event_form": "labs", "event_field": "ae_term"}):
        with pytest.raises(ValidationError, match="event_f"):
            listener(study, "ae_added", **about)
    for about in ({"event_form": "adverse_events"}, {"event_field": "ae_term"}):
        listener(study, "ae_added", **about).delete()


@pytest.mark.full
def test_a_finding_of_an_ordinary_form_starts_who_listens_to_that_form(study: Study) -> None:
    finding = findings(run_qc(study, "P004"))[0]
    assert finding.field
    form = dictionary.load(study.project).form_of(finding.field)
    PendingAction.objects.all().delete()
    for name, about in (("finding_opened", form), ("elsewhere", "ae")):
        nodes = {"a": hard(rules=[ECOG], on_fail="end_bad")}
        new_skill(
            study, nodes, name, trigger_type="event", event="finding_opened", event_form=about
        )
    run_qc(study, "P004")
    tell()
    assert TaskRun.objects.filter(skill__skill_type="finding_opened").count() == 1
    assert not TaskRun.objects.filter(skill__skill_type="elsewhere").exists()


@pytest.mark.full
def test_a_finding_starts_its_skill_once_and_no_loop(study: Study) -> None:
    listener(study, "finding_opened")
    run_qc(study, "P004")
    tell()
    run_qc(study, "P004")
    tell()

    (follow_up,) = TaskRun.objects.filter(skill__skill_type="on_finding_opened")
    assert follow_up.cause
    assert follow_up.cause.startswith("finding:")
    assert go(follow_up).final_state == "end_bad"
    tell()
    assert TaskRun.objects.filter(skill__skill_type="on_finding_opened").count() == 1


@pytest.mark.parametrize("fault", [503, 403])
def test_an_unreadable_redcap_starts_nothing(study: Study, fault: int) -> None:
    listener(study)
    study.stand_ins.fault("redcap", "status", fault, times=None)

    change_handlers.note_changed_subject(study.project, "P001")
    tasks.read_changed(str(study.project.pk))
    assert not TaskRun.objects.exists()
    assert change_handlers.projects_with_changed_subjects() == [str(study.project.pk)]


def test_a_disabled_skill_listens_no_more(study: Study) -> None:
    skill = listener(study)
    skill.is_active = False
    save_skill(skill=skill, actor="admin")

    assert changed(study) == []


def test_the_hook_of_redcap_is_only_a_hint(study: Study, client: Any) -> None:
    from tests.support.tasks import drain

    listener(study)
    url = f"/redcap/det/{study.project.redcap_det_secret}/"
    for _time in range(2):
        answer = client.post(url, {"record": "P004", "project_id": "1"})
        assert (answer.status_code, answer.content) == (200, b"")
    drain()
    assert TaskRun.objects.count() == 1
    assert client.post("/redcap/det/wrong/", {"record": "P004"}).status_code == 404


def test_a_choice_that_is_newer_than_the_dictionary_is_seen_by_rules(study: Study) -> None:
    """Such a dictionary is minutes old, and nobody looks again at data that stay as they are."""
    place = next(row for row in rows_of(study, "P001") if row.get("exclusion___3") == "0")
    stored = Dictionary.objects.get(project=study.project)
    names = stored.content["export_field_names"]
    names[:] = [row for row in names if row["export_field_name"] != "exclusion___3"]
    for row in stored.content["metadata"]:
        if row["field_name"] == "exclusion":
            told = row["select_choices_or_calculations"].split(" | ")
            row["select_choices_or_calculations"] = " | ".join(told[:2] + told[3:])
    stored.digest, stored.read_at = "of before", now()
    stored.save()
    none = rule(
        id="X", field="exclusion", logic={"!": {"var": "exclusion"}}, message="符合排除标准"
    )
    nodes = {"a": hard(rules=[none], on_fail="end_bad")}
    new_skill(study, nodes, "on_change", trigger_type="event", event="record_changed")
    change(
        study, "P001", str(place["redcap_event_name"]), exclusion___3="1", eligibility_complete="2"
    )

    (run,) = changed(study)

    assert go(run).final_state == "end_bad"
    assert [one.rule_key for one in findings(run)] == ["X"]


def test_a_schedule_fires_once(study: Study) -> None:
    skill = new_skill(
        study, {"a": human()}, "daily", trigger_type="cron", cron_schedule="0 9 * * *"
    )
    with time_machine.travel(datetime.fromisoformat("2026-12-01T09:00:20+08:00"), tick=False):
        runs = [sop.fire(Skill.objects.get(pk=skill.pk)) for _caller in range(3)]
        tasks.fire_skill(str(skill.pk))
    assert [run is not None for run in runs] == [True, False, False]
    with time_machine.travel(datetime.fromisoformat("2026-12-02T08:59:59+08:00"), tick=False):
        assert sop.fire(skill) is None
    with time_machine.travel(datetime.fromisoformat("2026-12-02T11:30:00+08:00"), tick=False):
        late = sop.fire(skill)
    assert late
    assert late.cause == "cron:2026-12-02T09:00:00+08:00"
    assert (late.record_id, late.triggered_by) == (None, "system_scheduler")


@pytest.mark.parametrize(
    "values", [{"is_active": False}, {"trigger_type": "webhook"}, {"cron_schedule": None}]
)
def test_what_has_no_schedule_does_not_fire(study: Study, values: dict[str, Any]) -> None:
    skill = new_skill(
        study, {"a": human()}, "daily", trigger_type="cron", cron_schedule="0 9 * * *"
    )
    for name, value in values.items():
        setattr(skill, name, value)

    assert sop.fire(skill) is None


def test_a_cause_is_used_once(study: Study) -> None:
    skill = new_skill(study, {"a": hard()})
    runs = [
        sop.start(project=study.project, skill=skill, record_id="P001", triggered_by="x", cause="c")
        for _caller in range(2)
    ]

    assert runs[0].pk == runs[1].pk
    assert TaskRun.objects.count() == 1
