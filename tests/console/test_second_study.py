"""From nothing to the first answer and the first reminder, in a browser: a second study, unlike the first.

It has no events, no groups and no Dify, and its subjects go by other ids.
"""

from __future__ import annotations

from datetime import datetime, time
from typing import Any
from zoneinfo import ZoneInfo

import pytest
import time_machine
from django.contrib.auth.models import User
from playwright.sync_api import Page, expect

from core.house import clock
from engines import sop
from projects.models import Project
from skills.models import Skill
from tests.console.conftest import log_in
from tests.console.test_setup import TOKEN, second  # noqa: F401
from tests.engines.chat.kit import ask
from tests.engines.sop.kit import go, tell
from tests.support.stand_ins import StandIns
from tests.support.tasks import drain
from wechat.models import OutboxMessage
from wechat.outbound.outbox import Payload

pytestmark = pytest.mark.browser
PASSWORD = "a-good-long-word"


def enter(page: Page, name: str) -> None:
    page.goto("/admin/")
    page.fill("[name=username]", name)
    page.fill("[name=password]", PASSWORD)
    page.click("#login-form [type=submit]")
    expect(page.locator("#nav-sidebar-apps")).to_be_visible()


def make(page: Page) -> None:
    """A superuser makes the study and says who takes part."""
    User.objects.create_superuser("root", password=PASSWORD)
    enter(page, "root")
    page.goto("/admin/projects/project/add/")
    page.fill("[name=code]", "SECOND")
    page.fill("[name=name]", "第二项研究")
    page.fill("[name=start_date]", "2026-01-01")
    page.keyboard.press("Escape")
    page.click("[name=_save]")
    expect(page.locator('[data-test="step-redcap"]')).to_be_visible()
    project = Project.objects.get(code="SECOND")
    for userid, role in (("admin", "ADMIN"), ("wanghushi", "CRC"), ("zhangyi", "PI")):
        page.goto(f"/admin/projects/member/add/?project={project.pk}")
        page.fill("[name=wecom_userid]", userid)
        page.select_option("[name=role]", role)
        page.check("[name=all_sites]", force=True)
        page.click("[name=_save]")
        page.wait_for_url("**/projects/member/")
    assert project.members.count() == 3
    page.context.clear_cookies()


def step(page: Page, key: str) -> Any:
    return page.locator(f'[data-test="step-{key}"]')


def set_up(page: Page, second: StandIns) -> Project:  # noqa: F811
    """Its administrator goes through the steps that are missing."""
    project = Project.objects.get(code="SECOND")
    page.goto(f"/admin/projects/project/{project.pk}/change/")
    page.locator('[data-test="missing"] header a').click()
    page.fill("[name=redcap_url]", f"{second.url}/redcap/api/")
    page.fill("[name=redcap_token]", TOKEN)
    page.click("button[value=connect]")
    expect(page.locator('[data-test="tested"]')).to_contain_text("Second study")
    page.click("button[value=read]")
    expect(page.locator("[data-reading]")).to_be_visible()
    drain()
    expect(page.locator("[data-reading]")).to_have_count(0)
    expect(step(page, "reading")).to_contain_text("已读取 2 例受试者")

    page.select_option("[name=anchor]", "start_on")
    page.check("[name='take-week4_on@']")
    for column, value in (("visit", "W4"), ("day", "28"), ("minus", "3"), ("plus", "3")):
        page.fill(f"[name='{column}-week4_on@']", value)
    page.click("button[value=plan]")
    page.select_option("[name=withdrawal]", "-")
    page.click("button[value=withdrawal]")
    expect(step(page, "plan")).to_contain_text("1 个计划访视")

    step(page, "skills").locator("a.iit-button").click()
    for name in ("qc_process", "visit_reminder"):
        page.check(f"[name=standard][value={name}]")
    page.locator('[data-test="import"] button[type=submit]').click()
    page.wait_for_url("**/skills/skill/")
    assert Skill.objects.filter(project=project).count() == 2
    return project


def test_from_nothing_to_the_first_answer_and_reminder(
    page: Page,
    study: Any,
    second: StandIns,  # noqa: F811
) -> None:
    make(page)
    log_in(page, study, "admin")
    project = set_up(page, second)
    page.goto(f"/admin/projects/project/{project.pk}/change/")
    missing = page.locator('[data-test="missing"]')
    expect(missing).not_to_contain_text("REDCap")
    expect(missing).to_contain_text("方案相关的提问")

    told = ask("zhangyi", "S-02 的体重是多少?", project_code="SECOND")
    assert "61" in told.text
    assert "S-02" in told.text

    nine = datetime.combine(clock.today(project.timezone), time(9), ZoneInfo(project.timezone))
    Project.objects.filter(pk=project.pk).update(quiet_holidays=False)
    with time_machine.travel(nine, tick=False):
        run = sop.fire(Skill.objects.get(project=project, skill_type="visit_reminder"))
        assert run
        run = go(run)
        tell()
    assert run.final_state == "end_success", run.message
    sent = {
        row.to_user: str(Payload.model_validate_json(row.payload).message)
        for row in OutboxMessage.objects.filter(project=project, key__startswith="notify:")
    }
    assert set(sent) == {"wanghushi"}
    assert "S-02 W4" in sent["wanghushi"]
    assert "S-01" not in sent["wanghushi"]
