"""Findings: opened once, observed again, resolved by data change, opened again, closed by a person."""

from __future__ import annotations

import json
from typing import Any

import pytest

from core.house.db import atomic
from engines import sop
from engines.models import FindingEvent, PendingAction, TaskRun
from engines.pages.evidence import evidence, review_view
from engines.sop import finding_life
from engines.sop import findings as book
from engines.sop.nodes import soft_instruction as judging
from projects.models import Project
from skills.models import Skill
from study import roster
from study.models import Subject
from study.records import read_record
from tests.engines.sop.doors import console
from tests.engines.sop.kit import (
    birth_rule,
    born,
    change,
    findings,
    hard,
    human,
    new_skill,
    review_of,
    rule,
    run_of,
    run_qc,
    soft,
)
from tests.engines.sop.test_soft_lies import said
from tests.support.study import Study

pytestmark = pytest.mark.django_db
State = PendingAction.State
SCREENING = "screening_arm_1"
ECOG = rule(id="E", field="ecog", logic={"<=": [{"var": "ecog"}, 2]}, message="ECOG>2")


def ecog(study: Study, value: str) -> None:
    event = next(
        row["redcap_event_name"]
        for row in rows_of(study, "P004")
        if row.get("ecog_score") not in {None, ""}
    )
    change(study, "P004", str(event), ecog_score=value)


def rows_of(study: Study, record: str) -> list[dict[str, Any]]:
    from engines.sop import snapshot

    return [dict(row) for row in snapshot.read_subject(study.project, record).rows]


def only() -> PendingAction:
    return PendingAction.objects.get()


def events(finding: PendingAction) -> list[str]:
    return [*finding.events.values_list("what", flat=True)]


def test_a_second_run_observes_and_opens_nothing(study: Study) -> None:
    run_qc(study, "P004")
    again = run_qc(study, "P004")

    finding = only()
    assert (finding.state, events(finding)) == (State.OPEN, ["observed"])
    assert findings(again) == [finding]


@pytest.mark.full
def test_changed_data_resolve_but_a_person_closes(study: Study) -> None:
    run_qc(study, "P004")
    ecog(study, "1")
    later = run_qc(study, "P004")

    finding = only()
    assert (finding.state, events(finding)) == (State.DATA_CHANGED, ["resolved by data change"])
    assert finding.open_key
    assert finding.resolved_at is None
    assert later.final_state != "end_with_violation"


@pytest.mark.full
def test_a_value_that_breaks_the_rule_again_opens_the_same_finding(study: Study) -> None:
    run_qc(study, "P004")
    ecog(study, "1")
    run_qc(study, "P004")
    ecog(study, "4")
    run_qc(study, "P004")

    finding = only()
    assert finding.state == State.OPEN
    assert events(finding) == ["resolved by data change", "observed", "reopened"]
    assert finding.value == "4", "it says what was seen last"


def test_a_closed_finding_stays_closed_and_a_new_one_is_opened(study: Study) -> None:
    run_qc(study, "P004")
    with atomic():
        assert book.close_finding(only(), actor=study["admin"], resolution="已核对")
        assert not book.close_finding(only(), actor=study["admin"], resolution="又一次")
    run_qc(study, "P004")

    assert sorted(PendingAction.objects.values_list("state", flat=True)) == [
        State.CLOSED,
        State.OPEN,
    ]
    closed = PendingAction.objects.get(state=State.CLOSED)
    assert (closed.resolved_by, closed.resolution, closed.open_key) == ("admin", "已核对", None)


@pytest.mark.full
def test_what_a_person_closes_while_the_model_is_asked_is_found_anew(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run has read the open findings before: it does not go by what it knew then."""
    bad = hard(rules=[rule(logic={">": [{"var": "age"}, 500]})], on_pass="j", on_fail="j")
    skill = new_skill(study, {"a": bad, "j": soft(on_fail="end_bad")})
    study.stand_ins.script(said(passed=False, reason="坏"))
    run_of(study, skill)
    first = PendingAction.objects.get(node="j")
    judge = judging.judge

    def close_meanwhile(*given: Any, **named: Any) -> Any:
        with atomic():
            assert book.close_finding(first, actor=study["admin"], resolution="已核对")
        return judge(*given, **named)

    monkeypatch.setattr(judging, "judge", close_meanwhile)
    study.stand_ins.script(said(passed=False, reason="坏"))
    run = run_of(study, skill)

    assert run.final_state == "end_bad"
    newer = PendingAction.objects.get(node="j", open_key__isnull=False)
    assert (newer.task_run_id, newer.outcome) == (run.pk, "FAIL")


@pytest.mark.parametrize("passes", [True, False])
def test_a_run_that_asks_at_once_knows_what_is_open(study: Study, passes: bool) -> None:
    """What stands in the database when its question is stored counts, as for any other run."""
    old = rule(id="R", logic={">": [{"var": "age"}, 500]})
    skill = new_skill(study, {"a": hard(rules=[old], on_fail="b", on_pass="b"), "b": human()})
    start_ahead(study, skill)
    opened = only()
    rules = [rule(id="R")] if passes else [old]
    nodes = {**skill.config["nodes"], "a": hard(rules=rules, on_fail="b", on_pass="b")}
    skill.config = {**skill.config, "nodes": nodes}
    skill.save()
    start_ahead(study, skill)

    assert only().pk == opened.pk
    expected = (
        (State.DATA_CHANGED, "resolved by data change") if passes else (State.OPEN, "observed")
    )
    assert (only().state, *events(only())) == expected


def start_ahead(study: Study, skill: Skill) -> None:
    """A run from a reading just made, suspended in the transaction that creates it."""
    data = read_record(project=study.project, record_id="P001")
    assert data
    run = sop.start(
        project=study.project, skill=skill, record_id="P001", triggered_by="zhangyi", data=data
    )
    assert run.status == "SUSPENDED"


def test_an_incomplete_read_resolves_nothing(study: Study) -> None:
    run_qc(study, "P004")
    ecog(study, "1")
    token = study.run["redcap_tokens"]["deidentified"]
    Project.objects.filter(pk=study.project.pk).update(redcap_token=token)
    study.project.refresh_from_db()
    run = run_qc(study, "P004")

    assert not run.is_complete
    assert PendingAction.objects.get(rule_key="EL03").state == State.OPEN


@pytest.mark.full
def test_who_decides_on_an_incomplete_read_is_told_so(study: Study) -> None:
    hide_identifiers(study)
    run = run_of(
        study, new_skill(study, {"a": hard(rules=[ECOG], on_fail="b"), "b": human()}), "P004"
    )
    shown = review_view(review_of(run))
    assert not shown["is_complete"]
    assert "REDCap 未能返回该受试者的全部数据。" in evidence(review_of(run)).lines()
    page = console("wanghushi").get(f"/admin/engines/review/{review_of(run).pk}/desk/")
    assert "REDCap did not show all data of the subject." in page.content.decode()


@pytest.mark.full
def test_a_question_on_other_values_says_whether_those_are_all(study: Study) -> None:
    """Not what the run saw that first asked it."""
    skill = new_skill(study, {"a": hard(rules=[ECOG], on_fail="b"), "b": human()})
    whole = study.project.redcap_token
    run = run_of(study, skill, "P004")
    seen = []
    for token in (study.run["redcap_tokens"]["deidentified"], whole):
        Project.objects.filter(pk=study.project.pk).update(redcap_token=token)
        study.project.refresh_from_db()
        run_of(study, skill, "P004")
        seen.append(review_view(review_of(run))["is_complete"])
    assert seen == [False, True]


def hide_identifiers(study: Study) -> None:
    token = study.run["redcap_tokens"]["deidentified"]
    Project.objects.filter(pk=study.project.pk).update(redcap_token=token)
    study.project.refresh_from_db()


@pytest.mark.parametrize("end", ["end_success", "end", "end_ok"])
def test_an_incomplete_read_never_ends_in_success(study: Study, end: str) -> None:
    hide_identifiers(study)
    run = run_of(study, new_skill(study, {"a": hard(on_pass=end)}))

    assert (run.is_complete, run.final_state) == (False, "end_review_required")
    assert run.message
    assert [f.action_type for f in findings(run)] == ["review_required"]


def test_blanking_the_value_makes_the_violation_a_question(study: Study) -> None:
    skill = new_skill(study, {"a": hard(rules=[ECOG])})
    run_of(study, skill, "P004")
    ecog(study, "")
    run_of(study, skill, "P004")

    finding = PendingAction.objects.get(rule_key="E")
    assert (finding.state, finding.outcome, finding.reason) == (State.OPEN, "UNKNOWN", "missing")
    assert finding.action_type == "review_required"
    assert FindingEvent.objects.get(finding=finding).note == "FAIL → UNKNOWN"


@pytest.mark.parametrize(
    ("severity", "kind"), [("error", "violation"), ("warning", "warning"), ("info", "warning")]
)
def test_the_kind_of_a_finding_follows_the_severity(study: Study, severity: str, kind: str) -> None:
    run = run_of(
        study, new_skill(study, {"a": hard(rules=[ECOG | {"severity": severity}])}), "P004"
    )

    found = {f.rule_key: f.action_type for f in findings(run)}
    assert found == {"E": kind, "end_review_required": "review_required"}


def test_a_later_success_answers_the_finding_of_the_end(study: Study) -> None:
    skill = new_skill(study, {"a": hard(rules=[ECOG])})
    assert run_of(study, skill, "P004").final_state == "end_review_required"
    ecog(study, "0")
    assert run_of(study, skill, "P004").final_state == "end_success"

    assert {f.state for f in PendingAction.objects.all()} == {State.DATA_CHANGED}


@pytest.mark.full
def test_two_subjects_two_workflows_two_nodes_are_four_places(study: Study) -> None:
    same = {"rules": [rule(id="X", logic={">": [{"var": "age"}, 200]})], "on_fail": "b"}
    nodes = {"a": hard(**same), "b": hard(**(same | {"on_fail": "end_x"}))}
    for kind in ("qc_process:x", "qc_process:y"):
        skill = new_skill(study, nodes, kind)
        for record in ("P001", "P004", "P001"):
            run_of(study, skill, record)

    assert (
        PendingAction.objects.count()
        == len({*PendingAction.objects.values_list("open_key", flat=True)})
        == 8
    )


def test_a_rule_that_lost_its_field_does_not_silence_the_others(study: Study) -> None:
    broken = rule(id="GONE", field="no_such_field", logic={">": [{"var": "no_such_field"}, 1]})
    skill = new_skill(study, {"a": hard(rules=[ECOG])})
    skill.config["nodes"]["a"]["rules"].append(broken)
    run = run_of(study, skill, "P004")

    found = {f.rule_key: (f.outcome, f.action_type) for f in findings(run)}
    assert found["E"] == ("FAIL", "violation")
    assert found["GONE"] == ("ERROR", "review_required")
    assert PendingAction.objects.get(rule_key="GONE").message.startswith("规则执行异常: ")
    assert run.final_state == "end_review_required"


def test_hard_rules_without_a_subject_are_no_pass(study: Study) -> None:
    run = run_of(study, new_skill(study, {"a": hard()}), None)

    assert run.final_state == "end_review_required"
    assert {f.outcome for f in findings(run)} == {"UNKNOWN"}


def test_a_verdict_about_no_subject_is_no_finding(study: Study) -> None:
    run = run_of(study, new_skill(study, {"a": soft(on_fail="end_nothing"), "b": human()}), None)

    assert findings(run) == []
    assert run.status == "SUSPENDED"
    assert sop.open_review(run)


def rejected(study: Study, rule_key: str) -> None:
    found = PendingAction.objects.get(rule_key=rule_key, open_key__isnull=False)
    finding_life.move(finding=found, step="reject", actor=study["zhangyi"], reason="误报")


def states(rule_key: str) -> list[str]:
    rows = PendingAction.objects.filter(rule_key=rule_key).order_by("created_at")
    return [*rows.values_list("state", flat=True)]


@pytest.mark.full
def test_a_false_alarm_of_an_identifying_value_is_one_of_that_value(study: Study) -> None:
    """The value stands in no finding: the runs tell whether it is the same, as long as they are kept."""
    skill = new_skill(study, {"a": hard(rules=[birth_rule()])})
    born(study, "1910-01-01")
    run_of(study, skill)
    rejected(study, "B")
    run_of(study, skill)
    assert states("B") == ["rejected"]
    born(study, "2090-01-01")
    run_of(study, skill)
    assert states("B") == ["rejected", "open"]
    rejected(study, "B")
    TaskRun.objects.update(data="")
    run_of(study, skill)
    assert states("B") == ["rejected", "rejected", "open"]


@pytest.mark.full
def test_a_false_alarm_of_one_twin_says_nothing_of_another(study: Study) -> None:
    skill = new_skill(study, {"a": {"type": "hard_rule", "checks": {"duplicate": {}}}})
    own = json.loads(Subject.objects.get(project=study.project, record_id="P001").identifiers)

    def same_as(record: str) -> None:
        change(study, record, "screening_arm_1", id_card=own["id_card"])
        roster.sync_roster(study.project)
        run_of(study, skill)

    same_as("P002")
    rejected(study, "std.duplicate.id_card")
    run_of(study, skill)
    assert states("std.duplicate.id_card") == ["rejected"]
    same_as("P003")
    assert states("std.duplicate.id_card") == ["rejected", "open"]
