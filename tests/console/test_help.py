"""Help: the manual in the reader's language, reached from the page that it speaks of, and told in the chat."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from iit_manager.manual import CHAPTERS
from tests.console.conftest import log_in
from tests.engines.chat.kit import ask

pytestmark = pytest.mark.django_db
As = Callable[..., Client]


def text_of(client: Client, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def help_of(client: Client, name: str) -> str:
    """Where the question mark of a page leads."""
    found = re.search(r'class="iit-help-link" href="([^"]+)"', text_of(client, reverse(name)))
    assert found
    return found[1]


def test_the_question_mark_leads_to_what_is_said_about_the_page(study: Any, as_user: As) -> None:
    client = as_user("wanghushi", "zh-hans")
    deviations = help_of(client, "admin:engines_deviation_changelist")
    assert deviations == "/admin/help/crc/#deviations"
    path, _mark, anchor = deviations.partition("#")
    page = text_of(client, path)
    assert f'id="{anchor}"' in page
    assert "方案偏离" in page
    assert help_of(client, "admin:index") == "/admin/help/clinician/"


@pytest.mark.full
def test_a_reader_gets_the_language_of_the_console(study: Any, as_user: As) -> None:
    assert "临床医生" in text_of(as_user("zhangyi", "zh-hans"), "/admin/help/clinician/")
    english = text_of(as_user("zhangyi", "en"), "/admin/help/clinician/")
    assert "For clinicians" in english
    assert "临床医生" not in english


@pytest.mark.full
def test_each_chapter_opens_and_its_links_lead_to_others(study: Any, as_user: As) -> None:
    client = as_user("admin", "zh-hans")
    for name in CHAPTERS:
        page = text_of(client, reverse("help", args=[name]))
        inner = set(re.findall(r'href="\.\./(\w+)/', page))
        assert inner <= {*CHAPTERS}, name
        assert re.findall(r'href="[^"]*\.md', page) == [], name
        for picture in re.findall(r'<img src="([^"]+)"', page):
            assert (Path(settings.BASE_DIR) / picture.lstrip("/").split("?")[0]).is_file()


@pytest.mark.full
def test_what_there_is_not_and_who_is_not_logged_in(study: Any, as_user: As) -> None:
    assert as_user("admin").get("/admin/help/nothing/").status_code == 404
    assert Client().get("/admin/help/crc/").status_code == 302


@pytest.mark.full
def test_the_chat_tells_the_page_in_short(study: Any) -> None:
    told = ask("crc_b", "你能做什么?").text
    assert f"{settings.PUBLIC_URL}/admin/help/clinician/" in told
    for said in ("提问", "指令", "决定", "提醒", "不写入 REDCap"):
        assert said in told


@pytest.mark.full
def test_who_wants_short_answers_is_told_less_and_where_to_read_on(study: Any) -> None:
    told = ask("zhangyi", "你能做什么?").text
    assert len(told) <= 100
    assert "“" in told
    assert told.endswith("/admin/help/clinician/")


@pytest.mark.full
def test_the_examples_are_ones_that_this_study_answers(study: Any) -> None:
    value, protocol, check = re.findall(r"“([^”]+)”", ask("crc_b", "你能做什么?").text)
    assert ask("crc_b", protocol).intents == ["query_protocol"]
    reply = ask("crc_b", value)
    assert reply.sources
    assert not reply.asked_back
    ordered = ask("crc_b", check)
    assert ordered.intents == ["qc_task"]
    assert ordered.task_run_ids


@pytest.mark.full
def test_one_site_is_told_an_example_of_its_own(study: Any) -> None:
    mine = ask("crc_b", "你能做什么?").text
    ids = set(re.findall(r"P\d{3}", mine))
    assert ids
    assert all(int(one[1:]) >= 20 for one in ids)


@pytest.mark.browser
def test_on_a_phone_the_question_mark_opens_help_that_fits(page: Page, study: Any) -> None:
    log_in(page, study, "wanghushi")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/admin/engines/deviation/")
    page.locator(".iit-help-link").click()
    expect(page.locator("#deviations h2")).to_be_in_viewport()
    picture = page.locator("#deviations img")
    picture.scroll_into_view_if_needed()
    expect(picture).to_have_js_property("naturalWidth", 1100)
    wide = "document.documentElement.scrollWidth > document.documentElement.clientWidth"
    assert page.evaluate(wide) is False
