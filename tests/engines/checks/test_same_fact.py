"""One finding per fact, whichever standard check, rule, node or workflow finds it."""

from __future__ import annotations

import pytest

from demo.planted import CHECKS, PLANTED
from engines.models import PendingAction, TaskRun
from engines.pages.evidence import evidence
from engines.sop.checks.switch import switch
from engines.sop.finding_life import move
from skills.models import Skill
from skills.services import save_skill
from tests.engines.sop.doors import DOORS, Door, Said
from tests.engines.sop.kit import (
    change,
    hard,
    human,
    new_skill,
    qc,
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
TWINS = [one for one in PLANTED if one.check]
KETO = said(passed=False, reason="合并用药:酮康唑", evidence=["酮康唑"], confidence=0.95)


def standard(study: Study) -> Skill:
    skill = switch(project=study.project, checks=CHECKS, actor="admin")
    assert skill
    return skill


def open_findings(record: str) -> list[PendingAction]:
    return [*PendingAction.objects.unclosed().filter(record_id=record)]


@pytest.mark.full
def test_a_rule_and_a_standard_check_make_one_finding(study: Study) -> None:
    """Of every planted error that both tell; the second one is named in the finding's events."""
    checks, two = standard(study), {}
    for one in TWINS:
        run_qc(study, one.subject, one.skill)
        run_of(study, checks, one.subject)
        found = open_findings(one.subject)
        rows = [row for row in found if {one.rule, one.check} & {w[2] for w in row.witnesses}]
        [row] = rows
        assert [w[2] for w in row.witnesses] == [one.rule, one.check], one
        assert one.check in "".join(row.events.values_list("note", flat=True))
        two[one.subject] = one
    assert {"P009", "P015", "P017", "P019"} <= two.keys()


@pytest.mark.full
def test_a_consent_that_was_never_begun_is_one_finding(study: Study) -> None:
    """The check of consents tells it, and a rule that asks for the date; then the form is begun."""
    change(study, "P033", "screening_arm_1", consent_complete="")
    run_qc(study, "P033")
    checks = standard(study)
    for second in ("std.consent.icf_date", "std.required.icf_date"):
        run_of(study, checks, "P033")
        [row] = [row for row in open_findings("P033") if row.field == "icf_date"]
        assert [one[2] for one in row.witnesses] == ["EL05", second]
        change(study, "P033", "screening_arm_1", icf_version="2.0")
    change(study, "P033", "screening_arm_1", icf_date="2026-01-02")
    for skill in (checks, qc(study)):
        run_of(study, skill, "P033")
    row.refresh_from_db()
    assert row.state == State.DATA_CHANGED


def test_the_order_does_not_matter(study: Study) -> None:
    run_of(study, standard(study), "P015")
    run_qc(study, "P015")
    [row] = [row for row in open_findings("P015") if row.field == "pregnancy_test"]
    assert (row.rule_key, [one[2] for one in row.witnesses]) == (
        "std.required.pregnancy_test",
        ["std.required.pregnancy_test", "EL08"],
    )


@pytest.mark.full
def test_a_review_cites_the_rule_of_its_own_workflow(study: Study) -> None:
    """Also where a standard check has found the fact before."""
    run_of(study, standard(study), "P015")
    there = {"!": [{"is_blank": [{"var": "pregnancy_test"}]}]}
    mine = rule(id="A", field="pregnancy_test", logic=there, same_as="std.required.pregnancy_test")
    nodes = {"a": hard(rules=[mine], on_fail="ask"), "ask": human()}
    [one] = evidence(review_of(run_of(study, new_skill(study, nodes), "P015"))).grounds
    assert one.finding.rule_key == "A"
    assert one.rule


def test_it_resolves_when_the_last_of_its_rules_passes(study: Study) -> None:
    """What one rule no longer says another may still say: it speaks for that one then."""
    young, old = rule(id="A", message="甲"), rule(id="B", message="乙")
    bad = {"logic": {"!": [{"is_blank": [{"var": "ecog"}]}]}, "field": "ecog"}
    kinds = ("qc_process:first", "qc_process:second")
    nodes = [{"a": hard(rules=[one | bad], on_fail="end_bad")} for one in (young, old)]
    skills = [new_skill(study, node, kind) for node, kind in zip(nodes, kinds, strict=True)]
    change(study, "P001", "screening_arm_1", ecog_score="")
    for skill in skills:
        run_of(study, skill)
    [row] = open_findings("P001")
    assert (row.message, len(row.witnesses)) == ("甲", 2)
    change(study, "P001", "screening_arm_1", ecog_score="1")
    run_of(study, skills[0])
    row.refresh_from_db()
    assert (row.state, row.rule_key) == (State.OPEN, "B")
    run_of(study, skills[1])
    row.refresh_from_db()
    assert row.state == State.DATA_CHANGED


def test_different_facts_of_one_field_stay_two(study: Study) -> None:
    """Nothing is lost: two rules that judge a filled value may both be right."""
    rules = [
        rule(id="A", field="ecog", logic={">": [{"var": "ecog"}, 50]}, message="甲"),
        rule(id="B", field="ecog", logic={"<": [{"var": "ecog"}, 0]}, message="乙"),
    ]
    run_of(study, new_skill(study, {"a": hard(rules=rules, on_fail="end_bad")}))
    assert {row.message for row in open_findings("P001")} == {"甲", "乙"}


@pytest.mark.full
@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_a_decided_review_settles_what_others_find_of_it(study: Study, decision: str) -> None:
    """A model, a rule and a standard check find one medication: one finding, decided once."""
    nodes = {"judge": soft(same_as="std.prohibited.cm_name", on_fail="ask"), "ask": human()}
    nodes["judge"]["instruction"] = "检查合并用药,排除强效CYP3A4抑制剂。"
    study.stand_ins.script(KETO)
    review = review_of(run_of(study, new_skill(study, nodes), "P019"))
    others = [qc(study, "qc_process:ae"), standard(study)]
    if decision == "reject":
        for skill in others:
            run_of(study, skill, "P019")
    DOORS["API"](review, Said(decision=decision, reason="属实"))
    for skill in others:
        run_of(study, skill, "P019")
    found = open_findings("P019")
    if decision == "approve":
        assert found == []
        return
    [row] = found
    assert row.state == State.CONFIRMED
    assert [one[2] for one in row.witnesses] == ["verdict", "CM01", "std.prohibited.cm_name"]


def test_a_rule_that_cites_no_standard_check_is_refused(study: Study) -> None:
    from django.core.exceptions import ValidationError

    for wrong in ("prohibited", "std.nothing.x", "std.prohibited."):
        with pytest.raises(ValidationError):
            new_skill(study, {"a": hard(rules=[rule(same_as=wrong)])})


DECISIONS_OVER_A_FAILURE = [*DOORS.items()]


@pytest.mark.full
@pytest.mark.parametrize(("name", "door"), DECISIONS_OVER_A_FAILURE, ids=[*DOORS])
def test_letting_a_failure_pass_wants_a_reason_in_every_door(
    study: Study, name: str, door: Door
) -> None:
    review = review_of(run_qc(study, "P012"))
    door(review, Said(reason="" if name != "page of many" else "  ", selected="none"))
    review.refresh_from_db()
    assert review.status == "open"
    assert TaskRun.objects.get(pk=review.task_run_id).status == "SUSPENDED"
    door(review, Said(reason="既往史已核对"))
    review.refresh_from_db()
    assert review.status == "approved"
    assert review.reason not in ("", "未说明")
    doors = {"page": "console", "page of many": "console", "API": "api"}
    assert review.door == doors.get(name, name)


def against_consent(name: str, operator: str) -> dict[str, object]:
    consent = {"across_events": ["screening_arm_1", {"var": "icf_date"}]}
    return rule(id=name, field=name, logic={operator: [{"var": name}, consent]}, message=name)


def test_intervals_since_the_consent_stay_facts_of_their_own(study: Study) -> None:
    """Only what was done before the consent is the fact of the standard check."""
    rules = [against_consent(name, "before") for name in ("enroll_date", "first_dose_date")]
    run_of(study, new_skill(study, {"a": hard(rules=rules, on_fail="end_bad")}))
    assert {row.message for row in open_findings("P001")} == {"enroll_date", "first_dose_date"}


@pytest.mark.full
def test_a_false_alarm_is_one_for_the_dates_it_was_told_of(study: Study) -> None:
    """A finding of several dates has no value of its own: other dates are another finding."""
    checks = standard(study)
    run_of(study, checks, "P009")
    [row] = [one for one in open_findings("P009") if one.rule_key == "std.consent.icf_date"]
    move(finding=row, step="reject", actor=study["zhangyi"], reason="日期录入有误,已核对")
    run_of(study, checks, "P009")
    assert "std.consent.icf_date" not in {one.rule_key for one in open_findings("P009")}
    change(study, "P009", "screening_arm_1", icf_date="2026-10-01")
    run_of(study, checks, "P009")
    assert "std.consent.icf_date" in {one.rule_key for one in open_findings("P009")}


def test_what_is_left_of_a_finding_is_told_at_once(study: Study) -> None:
    """A finding that one rule leaves says what the other found, in the very run that saw it."""
    rules = [
        rule(id=name, field="ecog", logic={"!": [{"is_blank": [{"var": "ecog"}]}]}, message=name)
        for name in ("first", "second")
    ]
    skill = new_skill(study, {"a": hard(rules=rules, on_fail="end_bad")})
    change(study, "P001", "screening_arm_1", ecog_score="")
    run_of(study, skill)
    [row] = open_findings("P001")
    assert (row.message, len(row.witnesses)) == ("first", 2)
    skill.config["nodes"]["a"]["rules"][0]["logic"] = {">": [{"var": "age"}, 1]}
    run_of(study, save_skill(skill=skill, actor="admin"))
    row.refresh_from_db()
    assert (row.state, row.rule_key, row.message) == (State.OPEN, "second", "second")


@pytest.mark.full
@pytest.mark.parametrize("is_told_by_both", [True, False])
def test_what_was_undecided_joins_the_fact_that_it_turns_out_to_be(
    study: Study, is_told_by_both: bool
) -> None:
    """A rule that cannot judge a blank has no fact; where a check found the blank, it leaves for that."""
    low = rule(id="E", field="ecog", logic={"<=": [{"var": "ecog"}, 2]}, message="ECOG>2")
    own, checks = new_skill(study, {"a": hard(rules=[low], on_fail="end_bad")}), standard(study)
    change(study, "P001", "screening_arm_1", ecog_score="")
    run_of(study, own)
    [undecided] = open_findings("P001")
    if is_told_by_both:
        run_of(study, checks)
        assert len(open_findings("P001")) == 2
    change(study, "P001", "screening_arm_1", ecog_score="9")
    for skill in (own, checks, own):
        run_of(study, skill)
    found = [row for row in open_findings("P001") if row.field == "ecog_score"]
    [row] = [one for one in found if one.state == State.OPEN]
    rules = {one[2] for one in row.witnesses}
    assert {"E", "std.choice.ecog_score"} <= rules
    assert (row.pk == undecided.pk) is not is_told_by_both
    change(study, "P001", "screening_arm_1", ecog_score="")
    run_of(study, own)
    assert [one.pk for one in open_findings("P001") if one.state == State.OPEN] == [row.pk]
