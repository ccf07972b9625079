"""Every report and list on the page, in both themes, from a phone to a desktop."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from study import readings
from tests.console.conftest import log_in
from tests.console.test_accessible import faults_of

pytestmark = [pytest.mark.browser, pytest.mark.full]

KINDS = ("week", "month", "ethics", "subjects", "findings")


def test_reports_are_accessible_at_each_width_and_in_both_themes(page: Page, study: Any) -> None:
    readings.read_all(study.project)
    log_in(page, study, "zhangyi")
    faults = []
    for kind in KINDS:
        page.set_viewport_size({"width": 1440, "height": 900})
        page.goto(f"/admin/papers/?kind={kind}")
        expect(page.locator("[data-test=papers] h3").first).to_be_visible()
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
        found = faults_of(page, lambda theme, kind=kind: _pictures(page, f"paper-{kind}-{theme}"))
        faults += [f"{kind} {one}" for one in found]
    assert faults == []


def _pictures(page: Page, name: str) -> None:
    """Pictures where somebody wants to look at them."""
    if folder := os.environ.get("IIT_PICTURES"):
        for width in (390, 1024, 1440):
            page.set_viewport_size({"width": width, "height": 900})
            page.screenshot(path=Path(folder) / f"{name}-{width}.png", full_page=True)
