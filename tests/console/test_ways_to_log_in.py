"""The hospital's account and the second factor in a real Chromium, through the stand-in provider."""

from __future__ import annotations

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.contrib.auth.models import User
from playwright.sync_api import expect
from pytest_django import Settings

from tests.login import kit

pytestmark = [pytest.mark.browser, pytest.mark.full]


def test_the_hospitals_account_then_an_app_that_the_role_demands(
    chromium: Any, live_server: Any, study: Any, settings: Settings
) -> None:
    """In by the provider, led to set the app up, the console opens; the next time its code is asked for."""
    expect.set_options(timeout=60_000)
    kit.configure(settings, study.stand_ins, live_server.url)
    settings.MFA_ROLES = ["CRC"]
    User.objects.filter(username="wanghushi").update(email="wang@hospital.test")
    secret = ""
    for is_first in (True, False):
        context = chromium.new_context(base_url=live_server.url, locale="zh-CN")
        page = context.new_page()
        page.goto("/admin/engines/review/")
        page.get_by_role("button", name="统一身份认证").click()
        page.get_by_role("link", name="王护士").click()
        if is_first:
            expect(page.locator("[data-test=demanded]")).to_contain_text("双重验证")
            page.goto("/admin/engines/review/")
            expect(page).to_have_url(re.compile("/account/second/$"))
            page.get_by_role("link", name="设置").click()
            secret = page.locator("#authenticator_secret").input_value()
            page.locator("input[name=code]").fill(kit.code(secret))
            page.get_by_role("button").last.click()
            expect(page).to_have_url(re.compile("recovery-codes|second/$|confirm"))
            assert Authenticator.objects.filter(type="totp").exists()
        else:
            expect(page).to_have_url(re.compile("/account/second/authenticate/$"))
            page.locator("input[name=code]").fill("000000")
            page.keyboard.press("Enter")
            expect(page.locator(".errorlist")).to_be_visible()
            page.locator("input[name=code]").fill(kit.code(secret, later=1))
            page.keyboard.press("Enter")
            expect(page).to_have_url(re.compile("/admin/engines/review/$"))
        page.goto("/admin/")
        expect(page.locator("#nav-sidebar-apps")).to_be_visible()
        context.close()


def test_an_unknown_subject_is_told(
    chromium: Any, live_server: Any, study: Any, settings: Settings
) -> None:
    kit.configure(settings, study.stand_ins, live_server.url)
    context = chromium.new_context(base_url=live_server.url, locale="zh-CN")
    page = context.new_page()
    page.goto("/admin/login/")
    page.get_by_role("button", name="统一身份认证").click()
    page.get_by_role("link", name="生人").click()
    expect(page.locator("[data-test=refusal]")).to_contain_text("请联系管理员")
    context.close()
