"""Ctrl-K looks through what is the reader's own, and forgets at once."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse
from playwright.sync_api import Page, expect

from engines.models import TaskRun
from projects.models import Member
from tests.console.conftest import SITE_A, SITE_B, log_in, review_of


def found(client: Client, term: str) -> str:
    answer = client.get("/admin/search/", {"s": term, "extended": "1"})
    assert answer.status_code == 200
    return answer.content.decode()


@pytest.mark.full
def test_subjects_reviews_findings_and_pages_are_found(
    as_user: Callable[..., Client], run_a: TaskRun
) -> None:
    page = found(as_user("wanghushi"), SITE_A.lower())
    assert reverse("admin:engines_review_desk_page", args=[review_of(run_a).pk]) in page
    assert "/admin/study/subject/" in page
    assert "/admin/engines/pendingaction/" in page
    assert 'href="/admin/visits/"' in found(as_user("wanghushi"), "visit board")
    assert 'href="/admin/visits/"' in found(as_user("wanghushi", "zh-hans"), "访视")


@pytest.mark.full
def test_nothing_of_others_is_found(
    as_user: Callable[..., Client], suspended: Callable[[str], TaskRun]
) -> None:
    suspended(SITE_A), suspended(SITE_B)
    own, other = as_user("crc_b"), found(as_user("crc_b"), SITE_A)
    assert SITE_A not in other
    assert SITE_B in found(own, SITE_B)
    assert "/admin/projects/auditentry/" not in found(own, "audit")
    assert SITE_A not in found(as_user("charlie"), "P")


@pytest.mark.full
def test_a_right_that_ended_ends_in_the_search(
    as_user: Callable[..., Client], study: Any, run_a: TaskRun
) -> None:
    client = as_user("wanghushi")
    assert SITE_A in found(client, SITE_A)
    Member.objects.filter(wecom_userid="wanghushi").update(is_active=False)
    assert SITE_A not in found(client, SITE_A)


def test_nobody_searches_without_a_login(study: Any) -> None:
    assert Client().get("/admin/search/?s=P001").status_code == 302


@pytest.mark.browser
def test_keys_lead_from_anywhere_to_a_subject(page: Page, study: Any, run_a: TaskRun) -> None:
    log_in(page, study, "wanghushi")
    page.keyboard.press("?")
    expect(page.locator("#iit-house-keys")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.locator("#search-input-command")).to_be_focused()
    page.keyboard.type(SITE_A)
    expect(page.locator("#command-results-list a").first).to_contain_text(SITE_A)
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile("/study/subject/"))
