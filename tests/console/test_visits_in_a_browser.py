"""Visit board and subject page in a real Chromium: by keyboard, on a desktop and on a phone."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engines.models import TaskRun
from study import readings
from study.models import Subject
from tests.console.conftest import log_in

pytestmark = pytest.mark.browser

PHONE, DESKTOP = {"width": 390, "height": 844}, {"width": 1400, "height": 900}


def keep(page: Page, name: str) -> None:
    """A picture for who wants to look."""
    if folder := os.environ.get("SCREENS"):
        page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)


def overflows(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


def test_from_the_board_to_a_subject_by_keyboard(page: Page, study: Any, run_a: TaskRun) -> None:
    readings.read_all(study.project)
    log_in(page, study, "wanghushi")
    page.set_viewport_size(DESKTOP)
    page.goto("/admin/visits/")
    keep(page, "board")
    page.get_by_label("状态").select_option("overdue")
    page.get_by_role("button", name="查看").press("Enter")
    expect(page.locator(".iit-board tbody tr")).to_have_count(1)
    link = page.locator(".iit-board tbody a").first
    expect(link).to_have_text("P005")
    link.press("Enter")
    expect(page.locator("[data-test=timeline]")).to_contain_text("超窗 13 天")
    expect(page.locator("[data-test=labs] svg").first).to_be_visible()
    keep(page, "subject")
    page.get_by_role("link", name="访视看板").last.press("Enter")
    page.get_by_role("link", name="月", exact=True).press("Enter")
    expect(page.locator("[aria-current=date]")).to_have_count(1)
    keep(page, "month")
    page.get_by_role("link", name="周", exact=True).press("Enter")
    expect(page.locator(".iit-days > li")).to_have_count(7)
    keep(page, "week")
    with page.expect_download() as told:
        page.locator("[data-test=ics]").click()
    assert told.value.suggested_filename == "visits.ics"


def test_on_a_phone_nothing_runs_out_of_the_page(page: Page, study: Any) -> None:
    readings.read_all(study.project)
    log_in(page, study, "wanghushi")
    page.set_viewport_size(PHONE)
    pk = Subject.objects.get(record_id="P003").pk
    for name, path in (
        ("board", "/admin/visits/"),
        ("week", "/admin/visits/?view=week"),
        ("month", "/admin/visits/?view=month"),
        ("subject", f"/admin/study/subject/{pk}/page/"),
    ):
        page.goto(path)
        expect(page.locator("[data-test=board], [data-test=subject]")).to_be_visible()
        keep(page, f"{name}-phone")
        assert not overflows(page), path
