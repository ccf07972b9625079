"""“Corrected” is looked at in REDCap before it is noted, in every door; then the checks run again."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import translation
from django.utils.timezone import now

from demo.planted import CHECKS
from engines.models import PendingAction, RunEvent, TaskRun
from engines.pages import finding_words
from engines.sop import finding_life
from engines.sop.checks.switch import switch
from engines.sop.events import CHANGE_ACTOR
from projects.models import Project
from study.models import BlindedField
from tests.engines.sop.doors import api, console
from tests.engines.sop.kit import (
    birth_rule,
    born,
    change,
    hard,
    new_skill,
    rule,
    run_of,
    run_qc,
    tell,
)
from tests.support.study import Study
from tests.wechat.working import click, outgoing, work
from wechat.models import Card, OutboxMessage

pytestmark = pytest.mark.django_db
State = PendingAction.State
DOORS = ["card", "console", "console answer", "api", "api answer"]


@pytest.fixture
def finding(study: Study) -> PendingAction:
    """ECOG 3 of P004, about which the site was asked."""
    run_qc(study, "P004")
    found = PendingAction.objects.select_related("project", "task_run").get(rule_key="EL03")
    OutboxMessage.objects.all().delete()
    RunEvent.objects.all().delete()
    finding_life.move(finding=found, step="query", actor=study["zhangyi"], reason="请核对 ECOG")
    tell()
    return found


def say_corrected(door: str, finding: PendingAction) -> str:
    """What the person is told."""
    step = {"step": "answer", "reason": "已更正"} if "answer" in door else {"step": "correct"}
    if door == "card":
        card = Card.objects.get(kind="query", ref=str(finding.pk))
        click(card.task_id, "answer", "wanghushi", selected="corrected")
        work()
        return "\n".join(outgoing("wanghushi"))
    if door.startswith("console"):
        url = f"/admin/engines/pendingaction/{finding.pk}/step/"
        return str(console("wanghushi").post(url, step, follow=True).content.decode())
    url = f"/api/v1/pending-actions/{finding.pk}/move/"
    answer: Any = api("wanghushi").post(url, step, format="json")
    return str(answer.content.decode())


def state(finding: PendingAction) -> str:
    finding.refresh_from_db()
    return str(finding.state)


def correct(study: Study, value: str) -> None:
    change(study, "P004", "screening_arm_1", ecog_score=value)


@pytest.mark.full
@pytest.mark.parametrize("door", DOORS)
def test_what_stands_unchanged_is_not_noted_as_corrected(
    study: Study, finding: PendingAction, door: str
) -> None:
    told = say_corrected(door, finding)
    assert "REDCap still shows what was found (3)" in told or "仍是原来的值(3)" in told
    assert state(finding) == State.QUERIED
    assert not TaskRun.objects.filter(triggered_by=CHANGE_ACTOR).exists()

    correct(study, "1")
    say_corrected(door, finding)
    assert TaskRun.objects.filter(triggered_by=CHANGE_ACTOR).count() == 1
    assert state(finding) == State.DATA_CHANGED, "a person still confirms it"
    assert finding.events.filter(what="correct", by="wanghushi").exists()


UNCHANGED = {"EL07": "P022", "std.consent.icf_date": "P009", "std.lab_ae.alt": "P016"}


@pytest.mark.full
@pytest.mark.parametrize("rule", UNCHANGED)
def test_boxes_and_dates_that_stand_unchanged_are_not_either(study: Study, rule: str) -> None:
    """A value of several boxes, and a finding that rests on the dates of several forms."""
    skill = switch(project=study.project, checks=CHECKS, actor="admin")
    assert skill
    run_of(study, skill, UNCHANGED[rule])
    run_qc(study, UNCHANGED[rule])
    rows = PendingAction.objects.filter(record_id=UNCHANGED[rule])
    [found] = [one for one in rows if rule in {witness[2] for witness in one.witnesses}]
    with pytest.raises(finding_life.Unfit):
        finding_life.move(finding=found, step="correct", actor=study["zhangyi"])
    assert state(found) == State.OPEN


def test_a_box_says_whether_it_is_ticked(study: Study) -> None:
    run_qc(study, "P022")
    rows = finding_words.worded(PendingAction.objects.filter(rule_key="EL07"))
    with translation.override("en"):
        told = finding_words.ground(rows.get())
    assert told
    assert [one.text for one in told.read] == ["No"] * 5 + ["Yes"] + ["No"] * 2 + ["有症状的脑转移"]


@pytest.mark.full
def test_another_wrong_value_is_found_again(study: Study, finding: PendingAction) -> None:
    correct(study, "4")
    say_corrected("card", finding)
    assert TaskRun.objects.filter(triggered_by=CHANGE_ACTOR).count() == 1
    assert state(finding) == State.ANSWERED
    assert finding.value == "4"


@pytest.mark.full
def test_an_outage_notes_nothing(study: Study, finding: PendingAction) -> None:
    correct(study, "1")
    study.stand_ins.fault("redcap", "status", 500, times=50)
    told = say_corrected("api", finding)
    assert "could not be read" in told or "读不到 REDCap" in told
    assert state(finding) == State.QUERIED


@pytest.mark.full
@pytest.mark.parametrize("text", ["已更正", "已更正。", "Corrected"])
def test_it_is_not_closed_as_corrected_either(
    study: Study, finding: PendingAction, text: str
) -> None:
    url = f"/api/v1/pending-actions/{finding.pk}/resolve/"
    client = api("wanghushi")
    assert client.post(url, {"resolution": text}, format="json").status_code == 400
    console("wanghushi").post(
        f"/admin/engines/pendingaction/{finding.pk}/resolve/", {"reason": text}
    )
    assert state(finding) == State.QUERIED
    correct(study, "1")
    assert client.post(url, {"resolution": text}, format="json").status_code == 200
    assert state(finding) == State.CLOSED
    assert TaskRun.objects.filter(triggered_by=CHANGE_ACTOR).exists()


def test_the_card_of_a_query_chooses_no_answer(study: Study, finding: PendingAction) -> None:
    import json

    selection = json.loads(Card.objects.get(kind="query").content)["button_selection"]
    assert "selected_id" not in selection
    assert selection["option_list"][0]["id"] == "none"


def refused(study: Study, found: PendingAction) -> str:
    with pytest.raises(finding_life.Unfit) as told:
        finding_life.move(finding=found, step="correct", actor=study["zhangyi"])
    return str(told.value)


@pytest.mark.full
def test_an_identifying_value_that_stands_unchanged_is_not_either(study: Study) -> None:
    """It is kept in no finding: what counts is what the last run read."""
    skill = new_skill(study, {"a": hard(rules=[birth_rule()])})
    for wrong in ("1910-01-01", "1911-01-01"):
        born(study, wrong)
        run_of(study, skill)
        found = PendingAction.objects.get(rule_key="B")
        told = refused(study, found)
        assert found.value == ""
        assert wrong not in told
    born(study, "1960-01-01")
    finding_life.move(finding=found, step="correct", actor=study["zhangyi"])
    assert state(found) == State.DATA_CHANGED


@pytest.mark.full
def test_an_identifying_value_beside_the_field_counts(study: Study) -> None:
    early = {"!": [{"before": [{"var": "icf_date"}, {"var": "birth_date"}]}]}
    skill = new_skill(study, {"a": hard(rules=[rule(id="I", field="icf_date", logic=early)])})
    born(study, "2090-01-01")
    run_of(study, skill)
    found = PendingAction.objects.get(rule_key="I")
    assert "birth_date" in found.detail
    assert "2090" not in found.detail
    refused(study, found)
    born(study, "1960-01-01")
    finding_life.move(finding=found, step="correct", actor=study["zhangyi"])
    assert state(found) == State.DATA_CHANGED


def hide(study: Study, what: str) -> None:
    """What a finding rests on is shown to nobody, or to no run, any more."""
    if what == "token":
        token = study.run["redcap_tokens"]["deidentified"]
        Project.objects.filter(pk=study.project.pk).update(redcap_token=token)
    else:
        BlindedField.objects.create(project=study.project, field=what, kind=BlindedField.Kind.LAB)
        Project.objects.filter(pk=study.project.pk).update(blinded_since=now())


@pytest.mark.full
@pytest.mark.parametrize(
    ("key", "hidden"),
    [("B", "token"), ("EL03", "ecog_score"), ("std.lab_ae.alt", "token")],
)
def test_what_is_shown_no_more_is_no_correction(study: Study, key: str, hidden: str) -> None:
    if key == "B":
        born(study, "1910-01-01", "P004")
        run_of(study, new_skill(study, {"a": hard(rules=[birth_rule()])}), "P004")
    elif key == "EL03":
        run_qc(study, "P004")
    else:
        skill = switch(project=study.project, checks=CHECKS, actor="admin")
        assert skill
        run_of(study, skill, "P016")
    hide(study, hidden)
    found = PendingAction.objects.get(rule_key=key)
    refused(study, found)
    assert state(found) == State.OPEN
