"""The phone page in a real browser."""

from __future__ import annotations

import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from demo.simulators.http import Response
from tests.simulators.wecom_kit import (
    AGENT,
    Inbound,
    Kit,
    passive_text,
    review_card,
    serve_wecom,
)

CHROMIUM = shutil.which("chromium")
ARGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--disable-sync",
]  # fmt: skip
pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(CHROMIUM is None, reason="NOT RUN: no Chromium"),
]


@pytest.fixture(scope="module")
def kit() -> Iterator[Kit]:
    with serve_wecom() as found:
        yield found


@pytest.fixture(scope="module")
def browser_page(kit: Kit) -> Iterator[Page]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGS)
        yield browser.new_page()
        browser.close()


@pytest.fixture
def page(kit: Kit, browser_page: Page) -> Iterator[Page]:
    kit.control("reset")
    kit._token = ""
    kit.receiver.seen.clear()
    kit.receiver.answer = lambda _: Response.text("")
    problems: list[str] = []
    browser_page.on("pageerror", lambda error: problems.append(str(error)))
    browser_page.on("console", lambda line: problems.append(line.text))
    browser_page.goto(f"{kit.url}/simulator/?user=ZhangYi")
    expect(browser_page.get_by_test_id("member")).to_have_value("ZhangYi")
    yield browser_page
    assert [line for line in problems if "favicon" not in line] == []


def test_a_question_and_its_answers(kit: Kit, page: Page) -> None:
    def answer(message: Inbound) -> Response:
        return passive_text("ZhangYi", f"🫡 收到：{message.text('Content')}")

    kit.receiver.answer = answer
    box = page.get_by_test_id("input")
    expect(page.get_by_test_id("send")).to_be_disabled()
    box.fill("P001 的年龄？")
    box.press("Enter")
    bubbles = page.get_by_test_id("bubble")
    expect(bubbles).to_have_count(2)
    expect(page.locator("#hint")).to_have_text("对方正在输入…")
    kit.text("年龄:56")
    expect(bubbles).to_have_text(["P001 的年龄？", "🫡 收到：P001 的年龄？", "年龄:56"])
    sides = [bubbles.nth(n).get_attribute("data-side") for n in range(3)]
    assert sides == ["me", "bot", "bot"]
    expect(page.locator("#hint")).to_have_text("")
    expect(box).to_have_value("")


def test_shift_enter_breaks_the_line_and_the_button_sends(kit: Kit, page: Page) -> None:
    box = page.get_by_test_id("input")
    box.press_sequentially("一")
    box.press("Shift+Enter")
    box.press_sequentially("二")
    page.get_by_test_id("send").click()
    assert kit.receiver.wait_for(1)[0].text("Content") == "一\n二"


def test_messages_can_never_become_markup(kit: Kit, page: Page) -> None:
    kit.text(
        '<img src=x onerror=alert(1)> <a href="javascript:alert(1)">坏</a> https://h.example/a'
    )
    bubble = page.get_by_test_id("bubble").first
    expect(bubble).to_contain_text("<img src=x onerror=alert(1)>")
    links = bubble.locator("a")
    expect(links).to_have_count(1)
    expect(links).to_have_attribute("href", "https://h.example/a")
    expect(links).to_have_attribute("rel", "noopener noreferrer")
    expect(bubble.locator("img")).to_have_count(0)


def test_the_markdown_subset(kit: Kit, page: Page) -> None:
    content = "## 简报\n**入组** `P003`\n> 引用\n[查看](https://h.example/)\n<b>不是</b>"
    kit.send(msgtype="markdown", markdown={"content": content})
    bubble = page.get_by_test_id("bubble").first
    expect(bubble.locator(".heading")).to_have_text("简报")
    expect(bubble.locator("strong")).to_have_text("入组")
    expect(bubble.locator("code")).to_have_text("P003")
    expect(bubble.locator("blockquote")).to_have_text("引用")
    expect(bubble.locator("a")).to_have_attribute("href", "https://h.example/")
    expect(bubble).to_contain_text("<b>不是</b>")


def test_a_review_card_from_click_to_grey(kit: Kit, page: Page) -> None:
    kit.card(review_card())
    buttons = page.get_by_test_id("card-button")
    expect(buttons).to_have_text(["同意", "驳回"])
    page.get_by_label("内容有误").check()
    page.locator('[data-testid="card-button"][data-key="reject"]').click()
    (event,) = kit.receiver.wait_for(1)
    assert event.text("EventKey") == "reject"
    assert [option.text for option in event.xml.iter("OptionId")] == ["r_err"]
    code = event.text("ResponseCode")
    body = {
        "agentid": AGENT,
        "response_code": code,
        "atall": 1,
        "button": {"replace_name": "已驳回"},
    }
    kit.post("message/update_template_card", body)
    expect(page.get_by_role("button", name="已驳回")).to_be_disabled()
    expect(buttons).to_have_count(0)
    expect(page.get_by_test_id("bubble")).to_have_count(1)


def test_another_member_and_what_he_has_not_read(kit: Kit, page: Page) -> None:
    kit.text("给王护士", touser="wanghushi")
    expect(page.locator("option", has_text="王护士")).to_have_text("● 王护士（CRC）")
    page.get_by_test_id("member").select_option("wanghushi")
    expect(page.get_by_test_id("bubble")).to_have_text(["给王护士"])
    expect(page.locator("option", has_text="王护士")).to_have_text("王护士（CRC）")


def test_a_recalled_message_disappears(kit: Kit, page: Page) -> None:
    msgid = kit.text("发错了")["msgid"]
    expect(page.get_by_test_id("bubble")).to_have_count(1)
    kit.post("message/recall", {"msgid": msgid})
    expect(page.get_by_text("对方撤回了一条消息")).to_be_visible()
    expect(page.get_by_test_id("bubble")).to_have_count(0)


def test_after_a_reset_the_chat_is_empty(kit: Kit, page: Page) -> None:
    kit.text("旧消息")
    expect(page.get_by_test_id("bubble")).to_have_count(1)
    kit.control("reset")
    expect(page.get_by_test_id("bubble")).to_have_count(0)
    kit._token = ""
    kit.text("新消息")
    expect(page.get_by_test_id("bubble")).to_have_text(["新消息"])
