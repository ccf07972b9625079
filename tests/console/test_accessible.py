"""Every page of the console under axe-core, in both themes, and on a phone: no serious violation, whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, ViewportSize, expect

from study import readings
from tests.console.conftest import log_in
from tests.support import foreign
from tests.support.addresses import addresses
from tests.support.canaries import STUDY, Canaries

pytestmark = pytest.mark.browser

GRAVE = {"serious", "critical"}
STANDARD = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"], "resultTypes": ["violations"]}
PHONE: ViewportSize = {"width": 390, "height": 844}
WIDE: ViewportSize = {"width": 1440, "height": 900}
# Files and answers of scripts, which nobody sees as a page.
NO_PAGES = (
    "jsi18n",
    "autocomplete",
    "logout",
    "obj_perms",
    "r/",
    "/search/",
    "password_change/done",
)
ROUTES = [
    one
    for one in addresses()
    if one.path.startswith("/admin/")
    and not any(part in one.path for part in NO_PAGES)
    and not {*one.parameters} - {"object_id", "pk", "app_label"}
]
SECTIONS = sorted({one.path.split("/")[2] for one in ROUTES})


def violations(page: Page) -> list[str]:
    """What axe-core finds grave on the page as it stands, a line each with the first place."""
    found = Axe().run(page, options=STANDARD).response["violations"]
    return [
        f"{one['id']} ×{len(one['nodes'])}: {one['nodes'][0]['html'][:160]}"
        for one in found
        if one["impact"] in GRAVE
    ]


def is_whole_on_a_phone(page: Page) -> bool:
    """Whether a phone shows the page without scrolling sideways."""
    usual = page.viewport_size
    page.set_viewport_size(PHONE)
    is_whole: bool = page.evaluate(
        "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    )
    page.set_viewport_size(usual or WIDE)
    return is_whole


def faults_of(page: Page, see: Callable[[str], object] = str) -> list[str]:
    """What is wrong with the page as it stands: grave violations in either theme, and scrolling sideways.

    `see` is called while the page is in a theme, with its name.
    """
    found = []
    for theme in ("light", "dark"):
        page.evaluate(
            "theme => document.documentElement.classList.toggle('dark', theme === 'dark')", theme
        )
        found += [f"{theme} {one}" for one in violations(page)]
        see(theme)
    return found if is_whole_on_a_phone(page) else [*found, "scrolls sideways on a phone"]


def paths(section: str, canaries: Canaries) -> list[str]:
    """The addresses of a section with the key of a row of the study where they want one."""
    found = []
    for one in ROUTES:
        if one.path.split("/")[2] != section:
            continue
        if not one.parameters:
            found.append(one.path)
        elif one.model in canaries.rows and STUDY in canaries.rows[one.model]:
            found.append(one.of(canaries.rows[one.model][STUDY].pk))
    return found


@pytest.mark.parametrize("section", SECTIONS)
def test_no_page_has_a_serious_violation_or_scrolls_sideways(
    section: str, page: Page, study: Any
) -> None:
    canaries = foreign.build(study).canaries
    log_in(page, study, "admin")
    faults = []
    for path in paths(section, canaries):
        reply = page.request.get(path, max_redirects=0)
        if reply.status != 200 or "text/html" not in reply.headers.get("content-type", ""):
            continue
        page.goto(path)
        faults += [f"{path} {one}" for one in faults_of(page)]
    assert faults == []


@pytest.mark.full
def test_home_is_accessible_when_work_waits(page: Page, study: Any) -> None:
    """Rows with their subjects beside the link: a link in text is told by more than its colour."""
    readings.read_all(study.project)
    log_in(page, study, "wanghushi")
    rows = page.locator("[data-test=agenda] li:has(a + .iit-muted)")
    expect(rows.first).to_be_visible()
    assert faults_of(page) == []
