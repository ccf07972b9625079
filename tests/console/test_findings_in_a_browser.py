"""The findings desk in a real Chromium: keys, a step with its reason, a batch; a phone shows it whole."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engines.models import PendingAction, TaskRun
from tests.console.conftest import log_in

pytestmark = pytest.mark.browser
LIST = "/admin/engines/pendingaction/"


def picture(page: Page, name: str) -> None:
    """Kept where somebody wants to look at it."""
    if where := os.environ.get("PICTURES"):
        page.screenshot(path=Path(where) / f"{name}.png", full_page=True)


def is_whole(page: Page) -> bool:
    """Whether nothing has to be scrolled sideways."""
    wide: bool = page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    return wide


def test_a_crc_works_through_findings_by_keys(
    page: Page, study: Any, suspended: Callable[[str], TaskRun]
) -> None:
    suspended("P002"), suspended("P003")
    log_in(page, study, "wanghushi")
    page.goto(f"{LIST}?waits=yes")
    expect(page.locator("#result_list tbody tr")).to_have_count(2)
    picture(page, "findings")
    page.keyboard.press("?")
    expect(page.locator("#iit-keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    expect(page.locator("[data-test=finding]")).to_contain_text("P002")
    page.keyboard.press("e")
    page.keyboard.type("请核对出生日期")
    page.get_by_role("button", name="向中心发出质疑").click()
    expect(page.get_by_text("已发出质疑", exact=False).first).to_be_visible()
    expect(page.locator("[data-test=thread]")).to_contain_text("请核对出生日期")
    picture(page, "finding")
    page.keyboard.press("j")
    expect(page.locator("[data-test=finding]")).to_contain_text("P003")
    page.keyboard.press("/")
    expect(page.locator("#result_list tbody tr")).to_have_count(2)
    assert PendingAction.objects.get(record_id="P002").state == "queried"


def test_several_are_moved_on_with_one_reason(
    page: Page, study: Any, suspended: Callable[[str], TaskRun]
) -> None:
    suspended("P002"), suspended("P003")
    log_in(page, study, "wanghushi")
    page.goto(LIST)
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.keyboard.press("j")
    page.keyboard.press("x")
    page.locator("select[name=action]").select_option("reject_findings")
    page.locator("#changelist-form button[type=submit]").first.click()
    expect(page.locator("[data-test=ask]")).to_contain_text("P002")
    page.locator("#ask_reason").fill("规则误报")
    page.get_by_role("button", name="继续").click()
    expect(page.get_by_text("已处理 2 条疑点。")).to_be_visible()
    assert {row.state for row in PendingAction.objects.all()} == {"rejected"}


def test_a_phone_shows_all_of_it(
    page: Page, study: Any, suspended: Callable[[str], TaskRun]
) -> None:
    suspended("P002"), suspended("P003")
    log_in(page, study, "admin")
    page.set_viewport_size({"width": 390, "height": 844})
    finding = PendingAction.objects.get(record_id="P002")
    for name, path in (
        ("list", ""),
        ("page", f"{finding.pk}/change/"),
        ("rates", "rates/"),
        ("undecided", "undecided/"),
        ("checks", "checks/"),
    ):
        page.goto(f"{LIST}{path}")
        expect(page.locator("h1").first).to_be_visible()
        picture(page, f"phone-{name}")
        assert is_whole(page), name
