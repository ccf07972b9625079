"""The history book in a real Chromium: complete a report, correct it, meet a conflict, look at old years."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from memory.models import WeeklyReport
from memory.reports import report_store
from tests.console.conftest import log_in
from tests.memory.test_year_digest import fill
from tests.support.tasks import drain

pytestmark = pytest.mark.browser

LIST = "/admin/memory/weeklyreport/"


def tick(page: Page, row: WeeklyReport) -> None:
    """Tick the row of a list and choose to complete it."""
    page.goto(LIST)
    page.locator(f".action-select[value='{row.pk}']").check()
    page.locator("select[name=action]").select_option("write_again")
    page.locator("[type=submit][name=index]").click()


def test_a_report_that_lacks_something_is_completed(page: Page, study: Any) -> None:
    report = WeeklyReport.objects.order_by("-week_number").first()
    WeeklyReport.objects.filter(pk=report.pk).update(counted_at=None, narrated_at=None)
    study.stand_ins.script({"content": '{"entries": []}'})
    log_in(page, study, "zhangyi")
    page.goto(LIST)
    row = page.locator("tr").filter(has=page.locator(f".action-select[value='{report.pk}']"))
    expect(row).to_contain_text("指标待补")
    tick(page, report)
    expect(page.locator("#main")).to_contain_text("已加入队列:1 份周报。")
    assert "engines.tasks.write_report" in drain()
    page.goto(LIST)
    expect(row).not_to_contain_text("指标待补")


def test_a_report_that_lacks_nothing_is_not_queued(page: Page, study: Any) -> None:
    report = WeeklyReport.objects.order_by("-week_number").first()
    assert report.narrated_at
    log_in(page, study, "zhangyi")
    tick(page, report)
    expect(page.locator("select[name=action]")).to_be_attached()
    assert "engines.tasks.write_report" not in drain()


def test_the_later_of_two_editors_sees_both_texts(page: Page, study: Any) -> None:
    report = WeeklyReport.objects.order_by("-week_number").first()
    log_in(page, study, "zhangyi")
    page.goto(f"{LIST}{report.pk}/change/")
    expect(page.locator(".iit-preview h2").first).to_be_visible()
    report_store.edit(
        report=report,
        content=f"{report.summary}\n### 甲\n- 甲写的\n",
        actor="admin",
        base_version=report.version,
    )
    box = page.locator("textarea[name=summary]")
    box.fill(f"### 乙\n- 乙写的\n{report.summary}")
    page.locator("[name=_continue]").first.click()
    expect(page.locator("details", has_text="甲写的").first).to_be_visible()
    both = box.input_value()
    assert "甲写的" in both
    assert "乙写的" in both
    page.locator("[name=_save]").first.click()
    expect(page).to_have_url(LIST)
    saved = WeeklyReport.objects.get(pk=report.pk).summary
    assert "甲写的" in saved
    assert "乙写的" in saved


def test_an_older_version_comes_back(page: Page, study: Any) -> None:
    report = WeeklyReport.objects.order_by("-week_number").first()
    before = report.summary
    report_store.edit(report=report, content="换了\n", actor="admin", base_version=report.version)
    log_in(page, study, "zhangyi")
    page.goto(f"{LIST}{report.pk}/change/")
    versions = page.locator("[data-test=versions]")
    versions.locator("summary").first.click()
    versions.get_by_role("button").first.click()
    expect(page.locator("textarea[name=summary]")).to_have_value(before)
    assert WeeklyReport.objects.get(pk=report.pk).summary == before


def test_old_years_are_told_in_a_paragraph_each(page: Page, study: Any) -> None:
    fill(study, 120)
    log_in(page, study, "admin")
    page.goto("/admin/what-would-be-sent/")
    page.locator("#question").fill("第1年的关键决策有哪些?")
    page.locator("form.iit-panel button[type=submit]").click()
    expect(page.locator("[data-test=prompt]").last).to_contain_text("第 1 年(第 1 ~ 52 周)")
