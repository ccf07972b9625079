"""Weekly reports in prompts and on demand (seed 000, 2; decisions.md, "week number")."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memory import history, reports
from memory.models import WeeklyReport
from memory.weekly import book
from memory.weekly.book import Draft
from memory.weekly.metrics import Figures
from tests.support.study import Study

ZONE = ZoneInfo("Asia/Shanghai")


def test_the_newest_fifty_ascending(study: Study) -> None:
    WeeklyReport.objects.all().delete()
    start = datetime(2026, 1, 6, tzinfo=ZONE)
    WeeklyReport.objects.bulk_create(
        WeeklyReport(
            project=study.project,
            week_number=n,
            week_start=start + timedelta(weeks=n - 1),
            week_end=start + timedelta(weeks=n),
            summary=f"第{n}份",
            created_by="x",
        )
        for n in range(1, 61)
    )
    pages = history.pages(study.project, study["zhangyi"])
    assert [page.week for page in pages] == list(range(11, 61))
    assert pages[0].block == "[W11]: 第11份"


def test_lines_about_hidden_subjects_are_left_out(study: Study) -> None:
    WeeklyReport.objects.filter(week_number=12).update(summary="### 进度\n- P001 入组\n- 补贴提高")
    page = next(p for p in history.pages(study.project, study["crc_b"]) if p.week == 12)
    assert page.text == "### 进度\n- 补贴提高"
    assert (
        "P001"
        in next(p for p in history.pages(study.project, study["zhangyi"]) if p.week == 12).text
    )


@pytest.mark.parametrize("week", [12, 1])
def test_readers_of_one_site_get_no_figures_of_all_sites(study: Study, week: int) -> None:
    """Whether the week stands by itself or in a year's digest."""
    if week == 1:
        start = datetime(2026, 1, 6, tzinfo=ZONE)
        WeeklyReport.objects.all().delete()
        WeeklyReport.objects.bulk_create(
            WeeklyReport(
                project=study.project,
                week_number=n,
                week_start=start + timedelta(weeks=n - 1),
                week_end=start + timedelta(weeks=n),
                summary="### 进度\n- 补贴提高",
                metrics={"enrolled": 3, "enrolled_total": 3 * n, "target": 300},
                created_by="x",
            )
            for n in range(1, 103)
        )
    WeeklyReport.objects.filter(week_number=week).update(
        summary="### 进度\n- 累计入组:15 / 30 例\n- 补贴提高"
    )
    for userid, are_seen in (("crc_b", False), ("zhangyi", True)):
        text = "\n".join(page.text for page in history.book(study.project, study[userid]))
        assert "补贴提高" in text
        assert (("15 / 30" if week == 12 else "第 1 年(") in text) is are_seen


@pytest.mark.parametrize(
    ("day", "number"),
    [
        (date(2026, 1, 5), None),
        (date(2026, 1, 6), 1),
        (date(2026, 1, 12), 1),
        (date(2026, 1, 13), 2),
        (date(2026, 2, 3), 5),
        (date(2027, 1, 5), 53),
    ],
)
def test_week_n_starts_start_date_plus_7_n_minus_1(
    study: Study, day: date, number: int | None
) -> None:
    week = reports.week_of(study.project, day)
    assert (week.number if week else None) == number


def test_the_documented_title(study: Study) -> None:
    assert reports.week(study.project, 5).title == "## Week 5 (2026-02-03 ~ 2026-02-09)"


def test_a_report_is_saved_once(study: Study) -> None:
    week = reports.week(study.project, 200)
    metrics = {"enrolled": 3, "enrolled_total": 15, "target": 30, "completion": 50, "queries": 5}
    moment = reports.bounds(study.project, week)[1]
    draft = Draft(
        reports.period(study.project, week, moment), Figures(metrics), None, counted_at=moment
    )
    report, created = book.store(project=study.project, draft=draft, author="zhangyi")
    again, second = book.store(project=study.project, draft=draft, author="admin")
    assert (created, second, again.pk) == (True, False, report.pk)
    assert report.metrics == {**metrics, "complete": True, "unread": []}
    assert report.created_by == "zhangyi"
    assert "- 完成率:50%" in report.summary.split("\n")
    for line in (
        "### 进度",
        "本周新入组:3 例",
        "累计入组:15 / 30 例",
        "### 关键决策",
        "### 踩坑记录",
        "### 待办",
    ):
        assert line in report.summary
    assert report.week_start.astimezone(ZONE).date() == week.first
    assert report.week_end.astimezone(ZONE).date() == week.last
    assert reports.exists(study.project, 200) == report
