"""A finding from its opening to its end over the API (issue I, Findings)."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from engines.models import PendingAction
from projects.models import AuditEntry
from tests.engines.sop.kit import (
    birth_rule,
    born,
    change,
    hard,
    human,
    new_skill,
    run_of,
    run_qc,
)
from tests.support.study import Study

pytestmark = pytest.mark.django_db


@pytest.fixture
def finding(study: Study) -> PendingAction:
    run_qc(study, "P004")
    return PendingAction.objects.get(rule_key="EL03")


def post(study: Study, userid: str, finding: PendingAction, what: str, **said: Any) -> Any:
    token = study.run["logins"][userid]["token"]
    return Client().post(
        f"/api/v1/pending-actions/{finding.pk}/{what}/",
        json.dumps(said),
        content_type="application/json",
        headers={"authorization": f"Token {token}"},
    )


@pytest.mark.full
def test_the_life_of_a_finding(study: Study, finding: PendingAction) -> None:
    """Each step from its state only, with its reason; a stranger finds nothing."""
    crc = "wanghushi"
    assert post(study, "crc_b", finding, "move", step="confirm").status_code == 404
    assert post(study, crc, finding, "move", step="answer", reason="x").status_code == 409
    assert post(study, crc, finding, "move", step="query").status_code == 400
    for step, state in (
        ("confirm", "confirmed"),
        ("query", "queried"),
        ("answer", "answered"),
        ("reject", "rejected"),
        ("reopen", "open"),
    ):
        answer = post(study, crc, finding, "move", step=step, reason="已核对原始病历")
        assert (answer.status_code, answer.json()["state"]) == (200, state), answer.content
    finding.refresh_from_db()
    assert finding.open_key
    assert not finding.resolved_by
    assert post(study, crc, finding, "comment", text="等待中心回复").status_code == 200
    assert post(study, crc, finding, "assign", assignee="crc_b").status_code == 400
    done = post(study, crc, finding, "assign", assignee="wanghushi", due_on="2026-12-01")
    assert (done.json()["assignee"], done.json()["due_on"]) == ("wanghushi", "2026-12-01")
    assert post(study, crc, finding, "resolve", resolution="数据已更正").status_code == 200
    assert post(study, crc, finding, "assign", assignee="").status_code == 409
    assert [event.what for event in finding.events.order_by("at", "pk")] == [
        *("confirm", "query", "answer", "reject", "reopen", "comment", "assign", "closed")
    ]
    actions = ("finding.step", "finding.reject")
    steps = AuditEntry.objects.filter(action__in=actions, actor=crc)
    assert {entry.reason for entry in steps} == {"已核对原始病历"}
    assert steps.count() == 5


def test_a_false_alarm_is_told_once(study: Study, finding: PendingAction) -> None:
    """The same value opens nothing; another does, and the old one cannot come back beside it."""
    post(study, "wanghushi", finding, "move", step="reject", reason="误报")
    run_qc(study, "P004")
    assert PendingAction.objects.filter(rule_key="EL03", record_id="P004").count() == 1
    change(study, "P004", "screening_arm_1", ecog_score="4")
    run_qc(study, "P004")
    assert PendingAction.objects.filter(rule_key="EL03", open_key__isnull=False).count() == 1
    answer = post(study, "wanghushi", finding, "move", step="reopen", reason="再看")
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_state")


@pytest.mark.full
def test_data_that_change_resolve_what_was_confirmed(
    study: Study, finding: PendingAction, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Whoever is to see to it stays, and the query tells who."""
    post(study, "wanghushi", finding, "move", step="confirm")
    post(study, "wanghushi", finding, "assign", assignee="wanghushi")
    query = {
        "select": ["@findings.rule", "@findings.assignee"],
        "where": [{"field": "@findings.assignee", "op": "=", "value": "wanghushi"}],
    }
    monkeypatch.setattr("sys.stdin", io.StringIO(json.dumps(query) + "\n"))
    call_command("query", "--user", "wanghushi")
    answer = json.loads(capsys.readouterr().out)
    assert {fact["value"] for fact in answer["facts"]} == {"EL03", "wanghushi"}
    change(study, "P004", "screening_arm_1", ecog_score="1")
    run_qc(study, "P004")
    finding.refresh_from_db()
    assert (finding.state, finding.assignee) == ("data_changed", "wanghushi")


BIRTH = "1910-01-01"


@pytest.mark.full
@pytest.mark.parametrize("was_stored", [False, True])
def test_a_date_of_birth_leaves_through_no_finding(
    study: Study, was_stored: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a study's own rule: neither what is stored now nor what was stored before it identified anybody."""
    born(study, BIRTH)
    nodes = {"a": hard(rules=[birth_rule()], on_fail="ask"), "ask": human()}
    run_of(study, new_skill(study, nodes))
    found = PendingAction.objects.get(rule_key="B")
    assert (found.value, found.detail) == ("", "")
    if was_stored:
        place = {"event": found.event, "instrument": "", "instance": ""}
        detail = json.dumps([{"var": "birth_date", "raw": BIRTH, "value": BIRTH, **place}])
        PendingAction.objects.filter(pk=found.pk).update(value=BIRTH, detail=detail)
    call_command("qc", "P001", "--skill", "qc_process:test")
    refused = post(study, "zhangyi", found, "move", step="correct")
    assert refused.status_code == 400
    headers = {"authorization": f"Token {study.run['logins']['zhangyi']['token']}"}
    listed = Client().get("/api/v1/pending-actions/", headers=headers)
    run = Client().get(f"/api/v1/task-runs/{found.task_run_id}/", headers=headers)
    assert run.json()["review"]["findings"][0]["field"] == "birth_date"
    told = [capsys.readouterr().out, *(one.content.decode() for one in (refused, listed, run))]
    assert all("birth_date" in one for one in (told[0], *told[2:]))
    assert "出生日期" in refused.content.decode()
    assert BIRTH not in "".join(told)
