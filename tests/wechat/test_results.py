"""Who ordered a run hears what came of it, once (design.md 2: receivers only insert outbox rows)."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils.timezone import now

from core.house.db import atomic
from engines.models import PendingAction, TaskRun
from engines.sop.run_events import Kind, keep_event
from projects.models import Member, Project
from skills.models import Skill
from study.models import Subject
from tests.engines.sop.kit import tell
from tests.wechat.working import outgoing, said
from wechat.reviews.run_events import result_text

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("people", "subjects")]


def finished(
    project: Project, by: str = "zhangyi", record_id: str | None = "P001", **more: Any
) -> TaskRun:
    skill, _ = Skill.objects.get_or_create(
        project=project, skill_type="qc_process", defaults={"name": "质控", "config": {}}
    )
    return TaskRun.objects.create(
        project=project,
        skill=skill,
        record_id=record_id,
        triggered_by=by,
        skill_version=1,
        config={},
        **{"status": "COMPLETED", "final_state": "end_success", "completed_at": now(), **more},
    )


def announce(run: TaskRun) -> None:
    with atomic():
        keep_event(Kind.RUN_FINISHED, run)
    tell()


def find(run: TaskRun, number: int, key: str | None = "") -> None:
    PendingAction.objects.create(
        project=run.project,
        task_run=run,
        record_id=run.record_id,
        action_type="violation",
        message=f"问题{number}",
        severity="error",
        skill_type="qc_process",
        node="n",
        rule_key=str(number),
        open_key=None if key is None else f"{run.pk}-{number}",
    )


def seen_by(project: Project) -> Member:
    return Member.objects.get(project=project, wecom_userid="wanghushi")


def test_the_orderer_is_told_once(project: Project) -> None:
    run = finished(project)
    announce(run)
    announce(run)
    assert len(outgoing("zhangyi")) == 1
    assert "质控 P001" in outgoing("zhangyi")[0]


@pytest.mark.parametrize("by", ["system_scheduler", "console_user", ""])
def test_schedules_and_console_users_get_no_message(project: Project, by: str) -> None:
    announce(finished(project, by=by))
    assert not outgoing()


def test_who_may_no_longer_see_the_subject_is_not_told(project: Project) -> None:
    run = finished(project, by="wanghushi")
    Subject.objects.filter(record_id="P001").update(site="site_b")
    announce(run)
    Member.objects.filter(wecom_userid="zhangyi").update(is_active=False)
    announce(finished(project))
    assert not outgoing()


def test_open_findings_are_listed_and_counted(project: Project) -> None:
    run = finished(project, status="COMPLETED", final_state="end_review_required")
    for number in range(1, 8):
        find(run, number)
    find(run, 8, key=None)
    lines = result_text(run, seen_by(project)).splitlines()
    assert lines[1:6] == [f"{n}. 问题{n}" for n in range(1, 6)]
    assert "7" in lines[6]
    assert len(lines) == 7


def test_what_is_another_sites_is_neither_listed_nor_counted(project: Project) -> None:
    run = finished(project, status="COMPLETED", final_state="end_review_required")
    for number in range(1, 4):
        find(run, number)
    PendingAction.objects.filter(rule_key="2").update(message="与 P002 重复入组")
    lines = result_text(run, seen_by(project)).splitlines()
    assert lines[1:] == ["1. 问题1", "2. 问题3"]


def test_a_failure_says_why(project: Project) -> None:
    run = finished(project, status="FAILED", final_state="end_error", message="REDCap 无法读取")
    assert "REDCap 无法读取" in result_text(run, seen_by(project))


def test_a_transaction_that_fails_tells_nobody(project: Project) -> None:
    run = finished(project)

    def fail() -> None:
        with atomic():
            keep_event(Kind.RUN_FINISHED, run)
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    tell()
    assert not outgoing()


@pytest.mark.parametrize(
    ("status", "end", "shown"),
    [
        ("COMPLETED", "end_success", "Passed"),
        ("COMPLETED", "end_review_required", "Ended, review required"),
        ("FAILED", "end_error", "Ended with an error"),
    ],
)
def test_the_end_is_told_in_words(project: Project, status: str, end: str, shown: str) -> None:
    announce(finished(project, status=status, final_state=end))
    [text] = outgoing("zhangyi")
    assert said(shown) in text
    assert "end_" not in text


def test_an_end_that_says_what_the_status_says_is_told_once(project: Project) -> None:
    announce(finished(project, status="CANCELLED", final_state="cancelled"))
    assert outgoing("zhangyi")[0].count(said("Cancelled")) == 1
