"""Weekly reports in prompts and on demand (seed 000, 2; decisions.md, "week number")."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memory.models import WeeklyReport
from memory.reports import history, report_store, weeks
from memory.reports.metrics import Figures
from memory.reports.report_store import Draft
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
    older, *pages = history.book(study.project, study["zhangyi"])
    assert (older.name, [page.week for page in pages]) == ("Y1", list(range(11, 61)))
    assert pages[0].block == "[W11]: 第11份"


def test_lines_about_hidden_subjects_are_left_out(study: Study) -> None:
    WeeklyReport.objects.filter(week_number=12).update(summary="### 进度\n- P001 入组\n- 补贴提高")
    page = next(p for p in history.book(study.project, study["crc_b"]) if p.week == 12)
    assert page.text == "### 进度\n- 补贴提高"
    assert (
        "P001"
        in next(p for p in history.book(study.project, study["zhangyi"]) if p.week == 12).text
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


COUNTS = [
    "全中心入组 717 例",
    "全研究累计筛选:717 / 934",
    "截至目前累计入组 717 例",
    "总入组:717例,目标 934 例",
    "一共 717 名受试者",
    "各中心逾期访视合计 717 条",
    "３家中心入组 ７１７ 例",
    "**全项目** 脱落 717 例",
    "717 patients enrolled across sites",
    "累计入组: 717",
    "全国多中心研究入组:717 例\n    - 其中筛败 717 例",
]
NO_COUNTS = [
    "全中心每周三例会",
    "各中心于 3 月 5 日前完成培训",
    "累计两次漏服后停药",
    "维持 ECOG 0～2 分",
    "访视窗由 ±3 天改为 ±7 天",
    "第 12 周起补贴提高",
    "B中心复核 12 份知情同意书",
]


@pytest.mark.parametrize("line", COUNTS)
def test_a_count_over_all_sites_that_a_person_typed_is_one_too(study: Study, line: str) -> None:
    WeeklyReport.objects.filter(week_number=12).update(
        summary=f"### 进度\n- {line}\n- 补贴提高\n### 关键决策\n- 2026-02-01: {line}(张医生)"
    )
    for userid, are_seen in (("crc_b", False), ("zhangyi", True)):
        shown = next(p for p in history.book(study.project, study[userid]) if p.week == 12).text
        assert "补贴提高" in shown
        assert any(figure in shown for figure in ("717", "７１７")) is are_seen


@pytest.mark.parametrize("line", NO_COUNTS)
def test_what_counts_nothing_over_all_sites_stays(study: Study, line: str) -> None:
    WeeklyReport.objects.filter(week_number=12).update(summary=f"### 进度\n- {line}")
    page = next(p for p in history.book(study.project, study["crc_b"]) if p.week == 12)
    assert line in page.text


def test_every_figure_of_a_composed_report_is_one(study: Study) -> None:
    """Whatever the template comes to say: a line with a figure is no line for one site."""
    week = weeks.week(study.project, 200)
    moment = weeks.bounds(study.project, week)[1]
    keys = ("enrolled", "enrolled_total", "target", "completion", "visits_done", "visits_due")
    keys += ("visits_overdue", "findings_opened", "findings_closed", "queries", "qc_runs")
    keys += ("messages", "feedback_up", "feedback_down", "preferences")
    figures = Figures({key: 7000 + n for n, key in enumerate(keys)})
    draft = Draft(weeks.period(study.project, week, moment), figures, None, moment)
    report, _new = report_store.store(project=study.project, draft=draft, author="zhangyi")
    assert all(str(7000 + n) in report.summary for n in range(len(keys)))
    shown = next(p for p in history.book(study.project, study["crc_b"]) if p.week == 200).text
    assert not re.search(r"70\d\d", shown)
    assert "### 进度" in shown


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
    week = weeks.week_of(study.project, day)
    assert (week.number if week else None) == number


def test_the_documented_title(study: Study) -> None:
    assert weeks.week(study.project, 5).title == "## Week 5 (2026-02-03 ~ 2026-02-09)"


def test_a_report_is_saved_once(study: Study) -> None:
    week = weeks.week(study.project, 200)
    metrics = {"enrolled": 3, "enrolled_total": 15, "target": 30, "completion": 50, "queries": 5}
    moment = weeks.bounds(study.project, week)[1]
    draft = Draft(
        weeks.period(study.project, week, moment), Figures(metrics), None, counted_at=moment
    )
    report, created = report_store.store(project=study.project, draft=draft, author="zhangyi")
    again, second = report_store.store(project=study.project, draft=draft, author="admin")
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
    assert weeks.report_of(study.project, 200) == report
