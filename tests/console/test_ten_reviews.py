"""A CRC clears the morning's ten reviews: page to page, each with its evidence, the list never between."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engines.models import PendingAction, Review, TaskRun
from study.models import Subject
from tests.console.conftest import log_in

pytestmark = pytest.mark.browser

TEN, MOST_KEYS = 10, 32
"""Three keys each: what is let pass all the same has a reason."""
DESK = "/admin/engines/review/desk/"
OVER = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Keys:
    """The keyboard, which counts."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self.pressed = 0

    def press(self, key: str) -> None:
        self.pressed += 1
        self._page.keyboard.press(key)


@pytest.fixture
def ten(study: Any, suspended: Callable[[str], TaskRun]) -> list[str]:
    """Ten subjects of the CRC's site whose runs wait."""
    ours = Subject.objects.filter(project=study.project, site="site_a").order_by("record_id")
    found = [*ours.values_list("record_id", flat=True)[:TEN]]
    for record_id in found:
        suspended(record_id)
    return found


def went(page: Page) -> list[str]:
    """The paths that the page goes to from now on."""
    paths: list[str] = []
    page.on("framenavigated", lambda frame: paths.append(frame.url.split("/admin/", 1)[1]))
    return paths


def shown(page: Page, record_id: str) -> None:
    """The review of a subject, with the rule and the value it rests on."""
    review = page.locator("[data-test=review]")
    expect(review.locator("h2").first).to_contain_text(record_id)
    expect(review.locator(".iit-question")).to_have_text("年龄是否已核对?")
    grounds = page.locator("[data-test=grounds]")
    expect(grounds).to_contain_text("年龄超出范围")
    expect(grounds.locator(".iit-read strong").first).not_to_be_empty()
    expect(page.locator("tr.is-hit").first).to_be_visible()
    expect(page.locator("button[name=approve]")).to_contain_text("关闭 1 条")


def all_are_decided(count: int) -> None:
    assert Review.objects.filter(status=Review.Status.APPROVED).count() == count
    assert not PendingAction.objects.unclosed().filter(rule_key="C1").exists()


def test_ten_by_keys(page: Page, study: Any, ten: list[str]) -> None:
    log_in(page, study, "wanghushi")
    page.goto(DESK)
    expect(page.locator("[data-desk-row]")).to_have_count(TEN)
    keys = Keys(page)
    paths = went(page)
    keys.press("j")
    keys.press("Enter")
    for record_id in ten:
        shown(page, record_id)
        keys.press("1")
        keys.press("a")
        expect(page.locator("button[name=approve]")).to_be_focused()
        keys.press("Enter")
    expect(page.locator(".iit-empty")).to_be_visible()
    assert keys.pressed <= MOST_KEYS
    assert [path for path in paths[:-1] if not path.endswith("/desk/")] == []
    assert paths.index("engines/review/desk/") == len(paths) - 1
    all_are_decided(TEN)


def test_ten_under_the_thumb(page: Page, study: Any, ten: list[str]) -> None:
    log_in(page, study, "wanghushi")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(DESK)
    assert page.evaluate(OVER) == 0
    page.locator("[data-desk-row]").first.click()
    paths = went(page)
    for record_id in ten:
        shown(page, record_id)
        assert page.evaluate(OVER) == 0
        button = page.locator("button[name=approve]")
        expect(button).to_be_in_viewport()
        page.get_by_role("button", name="已核对源文件").click()
        button.click()
    expect(page.locator(".iit-empty")).to_be_visible()
    assert paths.index("engines/review/desk/") == len(paths) - 1
    all_are_decided(TEN)


def test_the_last_decision_is_taken_back_by_keys(page: Page, study: Any, ten: list[str]) -> None:
    log_in(page, study, "wanghushi")
    page.goto(DESK)
    page.locator("[data-desk-row]").first.click()
    shown(page, ten[0])
    page.keyboard.press("1")
    page.keyboard.press("a")
    page.keyboard.press("Enter")
    shown(page, ten[1])
    page.keyboard.press("u")
    page.locator("#take_back_reason").fill("点错了")
    page.locator("button[name=take_back]").click()
    shown(page, ten[0])
    assert Review.objects.filter(status=Review.Status.OPEN).count() == TEN
