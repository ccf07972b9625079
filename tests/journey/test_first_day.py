"""A newcomer's first day, in a real Chromium against what `make run` starts (issue A, must show 2)."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.journey.house import House, house, wait

pytestmark = [pytest.mark.browser, pytest.mark.slow, pytest.mark.xdist_group("journey")]
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
SLOW_MS = 60_000


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with house(tmp_path_factory.mktemp("house")) as made:
        made.start("supervisor", "-m", "demo.supervisor")
        try:
            wait(made.is_ready, "/readyz")
            yield made
        finally:
            print(made.log("supervisor"))
            made.kill("supervisor", signal.SIGTERM)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.skip("NOT RUN: no Chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def phone(running: House, chromium: Browser) -> Iterator[Page]:
    """The phone page as the PI."""
    context = chromium.new_context(locale="zh-CN")
    page = context.new_page()
    page.goto(f"{running.url}/simulator/")
    page.get_by_test_id("member").select_option("zhangyi")
    yield page
    context.close()


def say(page: Page, text: str) -> None:
    page.get_by_test_id("input").fill(text)
    page.get_by_test_id("send").click()


def console(running: House, chromium: Browser, user: str) -> Page:
    context = chromium.new_context(locale="zh-CN", viewport={"width": 1360, "height": 900})
    page = context.new_page()
    page.goto(f"{running.url}/admin/")
    page.locator("#id_username").fill(user)
    page.locator("#id_password").fill(running.run_file()["logins"][user]["password"])
    page.locator("form [type=submit]").first.click()
    return page


def test_a_question_gets_a_true_answer(phone: Page) -> None:
    say(phone, "P001 入组了吗?")
    answer = phone.get_by_test_id("bubble").filter(has_text="2026-02-05")
    expect(answer.first).to_be_visible(timeout=SLOW_MS)


def test_qc_suspends_is_approved_and_the_result_arrives(
    phone: Page, running: House, chromium: Browser, tmp_path: Path
) -> None:
    say(phone, "对P002进行质控")
    suspended = phone.get_by_test_id("bubble").filter(has_text="任务已挂起,等待人工复核")
    expect(suspended.first).to_be_visible(timeout=SLOW_MS)

    crc = console(running, chromium, "wanghushi")
    crc.goto(f"{running.url}/admin/engines/taskrun/?status__exact=SUSPENDED")
    crc.locator("#result_list tbody a").first.click()
    crc.locator("#decision_reason").fill("外院病历已核对,符合入组条件")
    crc.locator("button[name=approve]").click()
    expect(crc.locator("body")).to_contain_text("已同意", timeout=SLOW_MS)

    result = phone.get_by_test_id("bubble").filter(has_text="P002").filter(has_text="完成")
    expect(result.first).to_be_visible(timeout=SLOW_MS)


def test_the_page_asks_nobody_outside(running: House, chromium: Browser) -> None:
    page = chromium.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{running.url}/simulator/")
    page.goto(f"{running.url}/admin/login/")
    page.wait_for_load_state("load")
    assert asked
    assert [url for url in asked if not url.startswith((running.url, "data:", "blob:"))] == []
    page.close()
