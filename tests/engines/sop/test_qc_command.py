"""`manage.py qc`: a JSON line per run, an exit code that says whether all was read (contracts.md)."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from engines.models import PendingAction, TaskRun
from projects.models import Project
from skills.models import Skill
from tests.support.study import Study

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> tuple[int, list[dict[str, Any]]]:
    out, code = io.StringIO(), 0
    try:
        call_command("qc", *arguments, stdout=out)
    except SystemExit as end:
        code = int(end.code or 0)
    return code, [json.loads(line) for line in out.getvalue().splitlines()]


@pytest.mark.full
def test_a_line_for_every_subject_in_the_order_asked(study: Study) -> None:
    code, lines = run("P004", "P001", "P012", "--json")

    assert code == 0
    assert [line["record_id"] for line in lines] == ["P004", "P001", "P012"]
    assert [line["status"] for line in lines] == ["COMPLETED", "COMPLETED", "SUSPENDED"]
    assert [line["final_state"] for line in lines] == [
        "end_with_violation",
        "end_success",
        "human_review",
    ]
    assert {*lines[0]} == {"record_id", "task_run_id", "status", "final_state", "findings"}
    finding = lines[0]["findings"][0]
    assert (finding["rule"], finding["field"], finding["outcome"]) == ("EL03", "ecog_score", "FAIL")
    assert finding["action_type"] == "violation"
    assert [len(line["findings"]) for line in lines] == [1, 0, 1]


def test_a_second_run_shows_the_same_finding(study: Study) -> None:
    (first,), (second,) = run("P004")[1], run("P004")[1]

    assert [f["id"] for f in first["findings"]] == [f["id"] for f in second["findings"]]
    assert PendingAction.objects.count() == 1


def test_another_workflow(study: Study) -> None:
    code, (line,) = run("P023", "--skill", "qc_process:ae", "--project", "LUNG-IIT")

    assert code == 0
    assert [f["rule"] for f in line["findings"]] == ["AE02"]
    assert line["findings"][0]["instrument"] == "ae"


def test_an_unknown_subject_is_a_failure_and_the_others_are_done(study: Study) -> None:
    code, lines = run("P999", "P004")

    assert code == 1
    assert [line["status"] for line in lines] == ["FAILED", "COMPLETED"]


def test_an_unreadable_redcap(study: Study) -> None:
    study.stand_ins.fault("redcap", "status", 403, times=None)
    code, (line,) = run("P001")

    assert (code, line["status"]) == (1, "FAILED")
    with pytest.raises(CommandError) as caught:
        call_command("qc", "--all", stdout=io.StringIO())
    assert caught.value.returncode == 1


def test_redcap_away_for_the_moment_is_not_clean_either(study: Study) -> None:
    study.stand_ins.fault("redcap", "status", 503, times=None)
    code, (line,) = run("P001")

    assert (code, line["status"]) == (1, "RUNNING")


def test_an_incomplete_read(study: Study) -> None:
    token = study.run["redcap_tokens"]["deidentified"]
    Project.objects.filter(pk=study.project.pk).update(redcap_token=token)
    code, (line,) = run("P001")

    assert code == 1
    assert line["final_state"] != "end_success"


@pytest.mark.parametrize(
    "arguments", [[], ["P001", "--all"], ["P001", "--skill", "nope"], ["P001", "--project", "NOPE"]]
)
def test_a_wrong_order(study: Study, arguments: list[str]) -> None:
    with pytest.raises(CommandError):
        call_command("qc", *arguments, stdout=io.StringIO())


@pytest.mark.parametrize("record", ["", "  ", "P001\0", "\udcff", "x" * 101], ids=range(5))
def test_what_is_no_subjects_number_starts_nothing(record: str, study: Study) -> None:
    with pytest.raises(CommandError):
        call_command("qc", "P004", record, stdout=io.StringIO())
    assert not TaskRun.objects.exists()
    assert not PendingAction.objects.exists()


def test_a_disabled_workflow_is_not_run(study: Study) -> None:
    Skill.objects.filter(skill_type="qc_process").update(is_active=False)

    with pytest.raises(CommandError):
        call_command("qc", "P001", stdout=io.StringIO())


def test_the_study_must_be_named_where_there_are_two(study: Study) -> None:
    Project.objects.create(code="OTHER", name="另一个", start_date="2026-01-01")

    with pytest.raises(CommandError):
        call_command("qc", "P001", stdout=io.StringIO())
    assert run("P004", "--project", "LUNG-IIT")[0] == 0
