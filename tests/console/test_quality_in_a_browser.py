"""The Data Quality rules in a browser: a file is taken over and the rules are switched on."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.console.conftest import log_in
from tests.console.test_accessible import GRAVE, STANDARD
from tests.skills.test_quality_rules import FILE

pytestmark = pytest.mark.browser


def test_a_file_is_taken_over_and_switched_on(page: Page, study: Any) -> None:
    log_in(page, study, "admin")
    page.goto("/admin/skills/qualityrule/upload/")
    expect(page.get_by_text("尚未接管任何规则")).to_be_visible()
    page.set_input_files("#id_file", FILE)
    page.get_by_role("button", name="接管").click()
    expect(page.get_by_text("尚未运行")).to_be_visible()
    expect(page.get_by_text("已接管 32 条规则,8 条未接管。")).to_be_visible()
    page.get_by_role("button", name="启用").click()
    expect(page.get_by_text("规则已开始运行。")).to_be_visible()
    _look(page, "upload")
    found = Axe().run(page, options=STANDARD).response["violations"]
    assert not [one["id"] for one in found if one["impact"] in GRAVE]
    page.get_by_role("link", name="逐行报告").click()
    expect(page.locator("#result_list")).to_contain_text("未知的函数")
    _look(page, "list")


def _look(page: Page, name: str) -> None:
    """A picture where somebody wants to look at it."""
    if folder := os.environ.get("IIT_PICTURES"):
        page.screenshot(path=Path(folder) / f"quality-{name}.png", full_page=True)
