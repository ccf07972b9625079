"""Beyond the newest fifty weeks a year is one paragraph (seed 000, 5.1; issue 4, "Routing")."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils.timezone import now
from hypothesis import given
from hypothesis import strategies as st

from memory.models import WeeklyReport
from memory.reports import history
from memory.reports.history import figures
from memory.reports.report_store import edit
from study.models import Subject
from tests.engines.chat.kit import ask, prompts
from tests.memory.hot_kit import browser
from tests.support.study import Study

ZONE = ZoneInfo("Asia/Shanghai")


def fill(study: Study, count: int, **metrics: Any) -> None:
    """`count` weeks, each with one decision."""
    WeeklyReport.objects.all().delete()
    start = datetime.combine(study.project.start_date, datetime.min.time(), ZONE)
    WeeklyReport.objects.bulk_create(
        WeeklyReport(
            project=study.project,
            week_number=n,
            week_start=start + timedelta(weeks=n - 1),
            week_end=start + timedelta(weeks=n) - timedelta(microseconds=1),
            summary=(
                f"## Week {n}\n\n### 进度\n- 普通进展{n}\n\n### 关键决策\n"
                f"- 2026-01-01: 决策编号{n}号\n\n### 待办\n- 杂事{n}"
            ),
            metrics={"enrolled": 2, "enrolled_total": 2 * n, "target": 900, **metrics},
            created_by="x",
        )
        for n in range(1, count + 1)
    )


def test_fifty_weeks_need_no_digest(study: Study) -> None:
    fill(study, 50)
    book = history.book(study.project, study["zhangyi"])
    assert [page.name for page in book] == [f"W{n}" for n in range(1, 51)]


def test_older_weeks_become_a_paragraph_a_year(study: Study) -> None:
    fill(study, 120)
    book = history.book(study.project, study["zhangyi"])
    assert [page.name for page in book] == ["Y1", "Y2", *(f"W{n}" for n in range(71, 121))]
    first, second = book[0].text, book[1].text
    assert first.startswith("第 1 年(第 1 ~ 52 周):入组 104 例")
    assert "累计入组 104 / 900 例" in first
    assert second.startswith("第 2 年(第 53 ~ 70 周):入组 36 例")
    for n in range(53, 71):
        assert f"决策编号{n}号" in second
    assert "普通进展" not in first + second
    assert "杂事" not in first + second
    assert book[0].block.startswith("[Y1]: 第 1 年")


@pytest.mark.full
def test_it_answers_questions_of_the_past_with_lines_of_old_weeks(study: Study) -> None:
    fill(study, 60)
    text = ask("zhangyi", "之前讨论过决策编号7号吗?").text
    assert "决策编号7号" in text
    ask("zhangyi", "P001 入组了吗?P003 的 V2 什么时候做?")
    assert "决策编号" not in str(prompts(study)[-1]["messages"])


@pytest.mark.full
def test_the_decisions_of_a_year_are_told_from_its_digest(study: Study) -> None:
    fill(study, 120)
    text = ask("zhangyi", "第1年的关键决策有哪些?").text
    assert "第 1 年(第 1 ~ 52 周)" in str(prompts(study)[-1]["messages"])
    assert "决策编号1号" in text
    assert "决策编号53号" not in text


def test_an_edited_old_report_counts_at_once(study: Study) -> None:
    fill(study, 60)
    assert "决策编号3号" in history.book(study.project, study["zhangyi"])[0].text
    found = WeeklyReport.objects.get(week_number=3)
    text = found.summary.replace("决策编号3号", "改过的决策")
    browser("zhangyi").post(
        f"/admin/memory/weeklyreport/{found.pk}/change/",
        {"summary": text, "base_version": found.version},
    )
    after = history.book(study.project, study["zhangyi"])[0].text
    assert "决策编号3号" not in after
    assert "改过的决策" in after


def test_an_edit_by_a_slower_clock_counts_at_once_too(study: Study) -> None:
    """Also one that was begun before, and committed after, a newer one."""
    fill(study, 60)
    WeeklyReport.objects.filter(week_number=2).update(updated_at=now() + timedelta(minutes=1))
    assert "决策编号3号" in history.book(study.project, study["zhangyi"])[0].text
    report = WeeklyReport.objects.get(week_number=3)
    content = report.summary.replace("决策编号3号", "改过的决策")
    edit(report=report, content=content, actor=study["zhangyi"], base_version=report.version)
    assert "改过的决策" in history.book(study.project, study["zhangyi"])[0].text


def test_a_report_that_is_gone_is_out_of_it(study: Study) -> None:
    fill(study, 60)
    assert "决策编号3号" in history.book(study.project, study["zhangyi"])[0].text
    WeeklyReport.objects.filter(week_number=3).delete()
    assert "决策编号3号" not in history.book(study.project, study["zhangyi"])[0].text


def test_lines_about_hidden_subjects_are_left_out_of_it_too(study: Study) -> None:
    fill(study, 160)
    found = WeeklyReport.objects.get(week_number=106)
    found.summary += "\n\n### 关键决策\n- 2026-02-01: P001 转为每日提醒\n- 2026-02-02: 增加例会"
    found.summary = found.summary.replace("### 关键决策\n- 2026-01-01: 决策编号106号\n\n", "")
    found.save()
    theirs = "\n".join(page.text for page in history.book(study.project, study["crc_b"]))
    ours = "\n".join(page.text for page in history.book(study.project, study["wanghushi"]))
    assert "P001" in ours
    assert "P001" not in theirs
    assert "增加例会" in theirs
    assert "第 106 周" in theirs, "a week number is no subject"


def test_a_year_has_a_size(study: Study) -> None:
    fill(study, 110)
    for found in WeeklyReport.objects.filter(week_number__lte=52):
        found.summary = "### 关键决策\n" + "\n".join(f"- 决策{n}" + "很" * 60 for n in range(3))
        found.save()
    from core.integrations import tokens

    first = history.book(study.project, study["zhangyi"])[0].text
    assert tokens.count(first) <= history.YEAR_TOKENS + 60
    assert "条决策,见第" in first


def test_who_left_reads_nothing(study: Study) -> None:
    fill(study, 60)
    member = study["zhangyi"]
    member.is_active = False
    member.save()
    assert history.book(study.project, member) == []


@given(st.lists(st.one_of(st.none(), st.integers(0, 50)), max_size=60))
def test_sums_are_the_reports_and_gaps_are_said(enrolled: list[int | None]) -> None:
    told = figures([{"enrolled": number} for number in enrolled])
    known = [number for number in enrolled if number is not None]
    if not known:
        assert told == []
        return
    (line,) = told
    assert line.startswith(f"入组 {sum(known)} 例")
    assert ("不完整" in line) == (len(known) < len(enrolled))


@pytest.mark.full
@pytest.mark.parametrize(
    "body",
    [
        "- P001:\n  - 暂停用药",
        "- P001\n\t- 暂停用药",
        "#### P001\n- 暂停用药\n#### 全体\n- 增加例会",
        "- A中心:\n  - 复核\n    - 暂停用药",
    ],
)
def test_what_stands_below_a_hidden_line_is_hidden_in_it_too(study: Study, body: str) -> None:
    fill(study, 60)
    found = WeeklyReport.objects.get(week_number=3)
    text = found.summary.replace("- 2026-01-01: 决策编号3号", body)
    edit(report=found, content=text, actor=study["zhangyi"], base_version=found.version)
    for user, is_seen in (("wanghushi", True), ("zhangyi", True), ("crc_b", False)):
        year = history.book(study.project, study[user])[0].text
        assert ("暂停用药" in year) is is_seen, user
        assert "决策编号4号" in year
        assert ("增加例会" in body) is ("增加例会" in year)


def test_a_subject_that_moves_takes_its_decisions_along(study: Study) -> None:
    fill(study, 60)
    found = WeeklyReport.objects.get(week_number=3)
    text = found.summary.replace("决策编号3号", "P001 暂停用药")
    edit(report=found, content=text, actor=study["zhangyi"], base_version=found.version)
    assert "暂停用药" not in history.book(study.project, study["crc_b"])[0].text
    Subject.objects.filter(project=study.project, record_id="P001").update(site="site_b")
    assert "暂停用药" in history.book(study.project, study["crc_b"])[0].text
    assert "暂停用药" not in history.book(study.project, study["wanghushi"])[0].text
