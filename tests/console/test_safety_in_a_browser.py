"""Serious events and deviations in a real Chromium: set, seen, graded; on a desktop and on a phone."""

from __future__ import annotations

from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engines import safety
from engines.models import Deviation, SafetyClock
from study.models import Subject
from tests.console.conftest import log_in
from tests.console.test_visits_in_a_browser import DESKTOP, PHONE, keep, overflows
from tests.engines.safety_kit import enter, read, swept

pytestmark = pytest.mark.browser


def test_set_seen_and_graded(page: Page, study: Any) -> None:
    read(study)
    log_in(page, study, "admin")
    page.set_viewport_size(DESKTOP)
    page.goto("/admin/engines/safetyclock/")
    page.get_by_role("link", name="严重事件上报:设置").click()
    page.get_by_label("启用计时").check()
    page.locator("[name=known]").fill("ae_start")
    page.locator("[name=field_sponsor]").fill("sae_report_date")
    page.locator("[name=field_ethics]").fill("sae_report_date")
    page.get_by_role("button", name="保存").click()
    expect(page.locator("[data-test=safety-settings]")).to_contain_text("启用")
    keep(page, "safety-settings")
    enter(study)
    enter(study, ae_start="2026-02-01")
    swept()
    assert safety.saved(study.project)[1]
    assert SafetyClock.objects.filter(record_id="P001").count() == 2
    page.goto("/admin/")
    keep(page, "safety-home")
    page.goto("/admin/engines/safetyclock/")
    keep(page, "safety-clocks")
    page.goto("/admin/visits/")
    expect(page.locator("[data-test=clocks]")).to_contain_text("逾期未报")
    keep(page, "safety-board")
    pk = Subject.objects.get(record_id="P001").pk
    page.goto(f"/admin/study/subject/{pk}/page/")
    expect(page.locator("[data-test=clocks]")).to_contain_text("申办方")
    keep(page, "safety-subject")
    page.goto("/admin/engines/deviation/")
    keep(page, "safety-register")
    one = Deviation.objects.filter(record_id="P001")[0]
    page.goto(f"/admin/engines/deviation/{one.pk}/change/")
    keep(page, "safety-deviation")
    page.get_by_label("重大").check()
    page.locator("#reason").fill("漏报")
    page.get_by_role("button", name="确认为方案偏离").click()
    # The grade's own label stands on the page before the decision is stored.
    expect(page.get_by_text("决定已记入登记表。")).to_be_visible()
    expect(page.locator("[data-test=deviation]")).to_contain_text("重大")
    page.set_viewport_size(PHONE)
    for address, name in (
        ("/admin/engines/safetyclock/settings/", "settings"),
        (f"/admin/study/subject/{pk}/page/", "subject"),
        ("/admin/visits/", "board"),
        (f"/admin/engines/deviation/{one.pk}/change/", "deviation"),
    ):
        page.goto(address)
        keep(page, f"safety-phone-{name}")
        assert not overflows(page), address
