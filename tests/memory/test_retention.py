"""The flow log goes when its week's report has covered it for long enough, never before (design.md 4)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils.timezone import now

from engines.tasks import write_report
from memory import tasks
from memory.log import flow_log, retention
from memory.models import ConversationHistory, WeeklyNote, WeeklyReport
from projects.models import AuditEntry, Project
from tests.house.kit import together
from tests.memory.weekly_kit import (
    DECISION,
    forget,
    last_number,
    last_week,
    report,
    said,
    told,
    write,
)
from tests.support.study import Study
from tests.support.tasks import drain

pytestmark = pytest.mark.database

DAYS = 30


def rows() -> int:
    return ConversationHistory.objects.count()


@pytest.fixture
def covered(study: Study) -> Study:
    """Last week's talks, and the report that covers them."""
    forget(study)
    for day in range(4):
        said(study, DECISION, day=day)
    study.stand_ins.script(told())
    write()
    assert report(study).narrated_at is not None
    return study


def later(study: Study, days: float = DAYS, seconds: int = 1) -> Any:
    written = report(study).narrated_at
    assert written is not None
    return written + timedelta(days=days, seconds=seconds)


@pytest.mark.full
def test_rows_go_thirty_days_after_the_report_that_covers_them(covered: Study) -> None:
    assert retention.purge(covered.project, later(covered, seconds=-1)) == 0
    assert rows() == 8
    assert retention.purge(covered.project, later(covered)) == 8
    assert rows() == 0
    assert report(covered).log_purged_at is not None
    entry = AuditEntry.objects.get(action="log.purge")
    assert entry.new == {"week": last_number(covered), "rows": 8}
    assert entry.actor == "system_scheduler"


@pytest.mark.full
def test_again_there_is_nothing_to_do(covered: Study) -> None:
    retention.purge(covered.project, later(covered))
    assert retention.purge(covered.project, later(covered, 60)) == 0
    assert AuditEntry.objects.filter(action="log.purge").count() == 1


@pytest.mark.full
@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda found: found.update(narrated_at=None), id="no narrative"),
        pytest.param(
            lambda found: found.update(narrated_at=found.get().week_start), id="mid-week narrative"
        ),
        pytest.param(lambda found: found.delete(), id="no report"),
        pytest.param(lambda found: WeeklyNote.objects.all().delete(), id="nobody read it"),
    ],
)
def test_never_before_the_report(covered: Study, spoil: Callable[[Any], object]) -> None:
    moment = later(covered, 400)
    spoil(WeeklyReport.objects.filter(week_number=last_number(covered)))
    assert retention.purge(covered.project, moment) == 0
    assert rows() == 8
    assert not AuditEntry.objects.filter(action="log.purge").exists()


@pytest.mark.full
def test_a_row_that_came_after_the_narrative_keeps_its_week(covered: Study) -> None:
    said(covered, "迟到的一条", day=6)
    assert retention.purge(covered.project, later(covered)) == 0
    assert rows() == 10


@pytest.mark.full
def test_only_the_weeks_that_are_covered(covered: Study) -> None:
    said(covered, "更早", back=1)
    before = report(covered, last_number(covered) - 1)
    WeeklyReport.objects.filter(pk=before.pk).update(narrated_at=None)
    ConversationHistory.objects.create(
        project=covered.project, user_id="zhangyi", role="user", content="本周", created_at=now()
    )
    assert retention.purge(covered.project, later(covered)) == 8
    assert rows() == 3


@pytest.mark.full
def test_another_studys_rows_are_not_ours(covered: Study) -> None:
    other = Project.objects.create(code="OTHER", name="x", start_date=covered.project.start_date)
    ConversationHistory.objects.update(project=other)
    retention.purge(covered.project, later(covered))
    assert rows() == 8


@pytest.mark.full
@pytest.mark.parametrize("days", [0, 7, 90])
def test_the_study_says_how_long(covered: Study, days: int) -> None:
    covered.project.flow_log_days = days
    covered.project.save()
    if days:
        assert retention.purge(covered.project, later(covered, days, -1)) == 0
    assert retention.purge(covered.project, later(covered, days)) == 8


def test_in_short_transactions_and_bounded_runs(covered: Study, monkeypatch: Any) -> None:
    monkeypatch.setattr(retention, "CHUNK", 3)
    monkeypatch.setattr(retention, "CHUNKS", 2)
    assert retention.purge(covered.project, later(covered)) == 6
    assert report(covered).log_purged_at is None
    assert retention.purge(covered.project, later(covered)) == 2
    assert report(covered).log_purged_at is not None
    counts = [entry.new["rows"] for entry in AuditEntry.objects.filter(action="log.purge")]
    assert sorted(counts) == [2, 3, 3]


@pytest.mark.full
def test_the_task_goes_on_until_nothing_is_left(covered: Study, monkeypatch: Any) -> None:
    monkeypatch.setattr(retention, "CHUNK", 2)
    monkeypatch.setattr(retention, "CHUNKS", 1)
    covered.project.flow_log_days = 0
    covered.project.save()
    tasks.purge_flow_logs()
    drain()
    assert rows() == 0
    assert report(covered).log_purged_at is not None


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_delivered_twice_at_once_every_answer_is_counted_once(
    covered: Study, monkeypatch: Any
) -> None:
    monkeypatch.setattr(retention, "CHUNK", 2)
    ConversationHistory.objects.filter(role="assistant").update(feedback="thumbs_up")
    before = flow_log.feedback_given(covered.project)
    moment = later(covered)
    together(*[lambda: retention.purge(covered.project, moment)] * 4)
    assert rows() == 0
    assert flow_log.feedback_given(covered.project) == before


@pytest.mark.full
def test_figures_and_feedback_outlive_the_rows(covered: Study) -> None:
    answers = ConversationHistory.objects.filter(role="assistant").order_by("created_at")
    for row, value in zip(answers, ("thumbs_up", "thumbs_up", "thumbs_down"), strict=False):
        ConversationHistory.objects.filter(pk=row.pk).update(feedback=value)
    before = flow_log.feedback_given(covered.project)["zhangyi"]
    retention.purge(covered.project, later(covered))
    assert rows() == 0
    assert flow_log.feedback_given(covered.project)["zhangyi"] == before
    assert (before.up, before.down) == (14, 2), "the demo study's 12 and 1, and these"
    WeeklyReport.objects.filter(week_number=last_number(covered)).update(counted_at=None)
    write_report(str(covered.project.pk), last_number(covered))
    drain()
    found = report(covered)
    assert found.metrics["messages"] == 4, "what cannot be counted any more is not counted as 0"
    assert found.counted_at is not None
    assert last_week(covered).title in found.summary
