"""The phone page in a real browser in front of the whole house (issue 5, must show 5).

Approve by card, reject with a reason, double click, feedback by card and under a stream.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, Page, expect, sync_playwright
from pytest_django import Settings

from engines.models import Review
from memory.models import ConversationHistory
from projects.models import AuditEntry
from tests.support.study import Study
from tests.support.tasks import drain
from tests.wechat.bot_kit import AES_KEY, TOKEN
from tests.wechat.callback_kit import CORP
from tests.wechat.test_decisions import Run, suspend
from wechat.models import InboxMessage

CHROMIUM = shutil.which("chromium")
ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
pytestmark = [
    pytest.mark.browser,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(CHROMIUM is None, reason="NOT RUN: no Chromium"),
]
__all__ = ["suspend"]


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Its driver keeps an event loop in this thread, which Django must put up with."""
    patch = pytest.MonkeyPatch()
    patch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "1")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield found
        found.close()
    patch.undo()


@pytest.fixture
def house(study: Study, live_server: Any, settings: Settings) -> Study:
    """Our server behind the stand-in's callbacks, for both channels."""
    settings.WECOM_AIBOT_TOKEN, settings.WECOM_AIBOT_AES_KEY = TOKEN, AES_KEY
    url = f"{live_server.url}/wechat"
    config = {
        "corp_id": CORP,
        "callback_url": f"{url}/callback/",
        "aibot_callback_url": f"{url}/aibot/",
        "aibot_token": TOKEN,
        "aibot_aes_key": AES_KEY,
        "aibot_poll_s": 0.1,
    }
    study.stand_ins.post("configure", {"wecom": config})
    return study


@pytest.fixture
def phone(browser: Browser, house: Study) -> Iterator[Callable[[str], Page]]:
    """Opens the page as a member; nothing may go wrong in its console."""
    context = browser.new_context(locale="zh-CN")
    problems: list[str] = []

    def open_as(user: str) -> Page:
        page = context.new_page()
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("console", lambda line: problems.append(line.text))
        page.goto(f"{house.stand_ins.url}/simulator/?user={user}")
        expect(page.get_by_test_id("member")).to_have_value(user)
        return page

    yield open_as
    context.close()
    assert [line for line in problems if "favicon" not in line] == []


def wait_for(condition: Callable[[], bool], page: Page) -> None:
    """Until the stand-in has delivered: it works in the background."""
    for _ in range(200):
        if condition():
            return
        page.wait_for_timeout(50)
    raise AssertionError("nothing arrived")


def arrived(page: Page, event: str = "", count: int = 1) -> None:
    """Until that many messages came in and were handled: a row is there before its wake is."""
    handled = InboxMessage.objects.filter(event=event, status=InboxMessage.Status.DONE)

    def are_handled() -> bool:
        drain()
        return handled.count() >= count

    wait_for(are_handled, page)


def button(page: Page, key: str) -> Locator:
    return page.locator(f"[data-testid=card-button][data-key={key}]")


def test_a_review_is_approved_on_the_card(suspend: Run, phone: Callable[[str], Page]) -> None:
    review = suspend()
    drain()
    page = phone("wanghushi")
    expect(page.locator(".card fieldset input").first).to_be_visible()
    expect(page.locator(".card fieldset input:checked")).to_have_count(0)
    button(page, "approve").click()
    arrived(page, "template_card_event")
    expect(page.locator(".card .done")).to_have_text("已同意")
    expect(button(page, "approve")).to_have_count(0)
    review.refresh_from_db()
    assert (review.status, review.decided_by) == (Review.Status.APPROVED, "wanghushi")


def test_a_review_is_rejected_with_the_reason_chosen(
    suspend: Run, phone: Callable[[str], Page]
) -> None:
    review = suspend()
    drain()
    page = phone("wanghushi")
    page.locator("input[value=r_err]").check()
    button(page, "reject").click()
    arrived(page, "template_card_event")
    expect(page.locator(".card .done")).to_have_text("已驳回")
    review.refresh_from_db()
    assert review.status == Review.Status.REJECTED
    assert review.reason == "数据有误"


def test_a_double_click_decides_once(suspend: Run, phone: Callable[[str], Page]) -> None:
    review = suspend()
    drain()
    page = phone("wanghushi")
    button(page, "approve").dblclick(force=True)
    arrived(page, "template_card_event")
    expect(page.locator(".card .done")).to_have_text("已同意")
    drain()
    assert AuditEntry.objects.filter(action="review.approve").count() == 1
    review.refresh_from_db()
    assert review.status == Review.Status.APPROVED


def test_an_answer_is_rated_by_card(
    house: Study, phone: Callable[[str], Page], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wechat.outbound.feedback_cards.LEAST_CHARS", 5)
    house.project.feedback_cards = True
    house.project.save()
    page = phone("zhangyi")
    page.get_by_test_id("input").fill("P001 入组了吗?")
    page.get_by_test_id("send").click()
    arrived(page)
    page.locator("input[value=too_long]").check()
    button(page, "down").click()
    arrived(page, "template_card_event")
    expect(page.locator(".card .done")).to_have_text("谢谢")
    row = ConversationHistory.objects.get(role="assistant")
    assert (row.feedback, row.feedback_reason) == ("thumbs_down", "too_long")


def test_the_stream_of_the_bot_grows_and_is_rated(
    house: Study, phone: Callable[[str], Page]
) -> None:
    page = phone("zhangyi")
    page.get_by_test_id("channel").select_option("bot")
    page.get_by_test_id("input").fill("P001 入组了吗?")
    page.get_by_test_id("send").click()
    bubble = page.locator(".bubble.stream")
    expect(bubble).to_contain_text("正在查询")
    expect(page.get_by_test_id("vote-up")).to_have_count(0)
    arrived(page)
    expect(bubble).to_contain_text("2026-02-05")
    page.get_by_test_id("vote-up").click()
    arrived(page, "feedback_event")
    expect(page.get_by_test_id("vote-up")).to_have_attribute("aria-pressed", "true")
    row = ConversationHistory.objects.get(role="assistant")
    assert row.feedback == "thumbs_up"
    page.get_by_test_id("vote-down").click()
    page.get_by_test_id("reasons").locator("input[value='3']").check()
    page.get_by_test_id("vote-submit").click()
    arrived(page, "feedback_event", 2)
    row.refresh_from_db()
    assert (row.feedback, row.feedback_reason) == ("thumbs_down", "inaccurate")
    expect(page.get_by_test_id("vote-down")).to_have_attribute("aria-pressed", "true")
    page.get_by_test_id("vote-down").click()
    arrived(page, "feedback_event", 3)
    row.refresh_from_db()
    assert row.feedback is None
