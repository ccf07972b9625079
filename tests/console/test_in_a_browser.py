"""The console in a real Chromium: log in, look, decide, edit, switch language; nothing leaves the house."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engines.models import TaskRun
from memory.models import ProjectMemory
from projects.models import AuditEntry

pytestmark = pytest.mark.browser


@pytest.fixture
def study(transactional_db: None, stand_ins: Any) -> Any:
    """The demo study, committed: the server reads it from its own threads."""
    from tests.support.study import seed_study

    return seed_study(stand_ins)


@pytest.fixture
def page(chromium: Any, live_server: Any, study: Any) -> Iterator[Page]:
    """A page that may ask its own server only and must not complain."""
    context = chromium.new_context(base_url=live_server.url, locale="zh-CN")
    found: Page = context.new_page()
    problems: list[str] = []
    found.on(
        "request",
        lambda sent: problems.append(sent.url) if _is_foreign(sent.url, live_server.url) else None,
    )
    found.on("pageerror", lambda error: problems.append(str(error)))
    found.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    yield found
    context.close()
    assert problems == []


def _is_foreign(url: str, own: str) -> bool:
    return not url.startswith((own, "data:", "blob:"))


def log_in(page: Page, study: Any, name: str) -> None:
    page.goto("/admin/")
    page.fill("[name=username]", name)
    page.fill("[name=password]", study.run["logins"][name]["password"])
    page.click("#login-form [type=submit]")
    expect(page.locator("#nav-sidebar-apps")).to_be_visible()


def test_the_first_page_after_the_login(page: Page, study: Any) -> None:
    page.goto("/admin/login/")
    page.fill("[name=username]", "wanghushi")
    page.fill("[name=password]", study.run["logins"]["wanghushi"]["password"])
    page.click("#login-form [type=submit]")
    expect(page.get_by_text("没有待复核的事项。")).to_be_visible()
    expect(page.locator("#nav-sidebar-apps")).to_contain_text("工作台")


def test_a_crc_decides_on_the_page_of_the_run(
    page: Page, study: Any, suspended: Callable[[str], TaskRun]
) -> None:
    run = suspended("P002")
    log_in(page, study, "wanghushi")
    page.locator("[data-test=reviews]").get_by_role("link", name="P002").click()
    expect(page.locator("[data-test=review]")).to_contain_text("年龄是否已核对?")
    expect(page.locator("tr.is-hit")).to_have_count(1)
    reason = page.locator("#decision_reason")
    page.get_by_role("button", name="已核对源文件").click()
    expect(reason).to_have_value("已核对源文件")
    expect(reason).to_be_focused()
    page.keyboard.press("Control+Enter")
    expect(page.locator("[data-test=review]")).to_be_visible()
    page.get_by_role("button", name="同意").click()
    expect(page.get_by_text("已同意。")).to_be_visible()
    expect(page.locator("[data-test=past-reviews]")).to_contain_text("已核对源文件")
    run.refresh_from_db()
    assert run.final_state == "end_success"
    assert AuditEntry.objects.get(action="review.approve").reason == "已核对源文件"


def test_a_rejection_needs_its_reason(
    page: Page, study: Any, suspended: Callable[[str], TaskRun]
) -> None:
    run = suspended("P002")
    log_in(page, study, "wanghushi")
    page.goto(f"/admin/engines/taskrun/{run.pk}/change/")
    page.get_by_role("button", name="驳回").click()
    expect(page.get_by_text("请填写驳回原因。")).to_be_visible()
    page.locator("#decision_reason").fill("源文件缺失")
    page.get_by_role("button", name="驳回").click()
    expect(page.get_by_text("已驳回。")).to_be_visible()
    run.refresh_from_db()
    assert run.final_state == "end_rejected"


def test_runs_are_rejected_from_the_list(
    page: Page, study: Any, suspended: Callable[[str], TaskRun]
) -> None:
    run = suspended("P002")
    log_in(page, study, "wanghushi")
    page.goto("/admin/engines/taskrun/")
    page.locator("#result_list .action-select, .action-select").first.check()
    page.locator("select[name=action]").select_option("reject_review")
    page.locator("button[name=index], [type=submit][name=index]").first.click()
    page.locator("#ask_reason").fill("数据有误")
    page.get_by_role("button", name="继续").click()
    expect(page.get_by_text("已驳回 1 项。")).to_be_visible()
    run.refresh_from_db()
    assert run.final_state == "end_rejected"


def test_hot_memory_is_edited_with_a_preview(page: Page, study: Any) -> None:
    memory = ProjectMemory.objects.get(project=study.project)
    log_in(page, study, "zhangyi")
    page.goto(f"/admin/memory/projectmemory/{memory.pk}/change/")
    preview = page.locator(".iit-preview")
    expect(preview.get_by_role("heading", name="系统禁令 (Rules)")).to_be_visible()
    box = page.locator("textarea[name=content]")
    box.fill("# 当前状态\n- **本周**目标<img src=x onerror=alert(1)>\n")
    expect(preview.locator("strong")).to_have_count(1)
    expect(preview.locator("strong")).to_have_text("本周")
    expect(preview.locator("img")).to_have_count(0)
    page.locator("[name=_save]").click()
    expect(page).to_have_url("/admin/memory/projectmemory/")
    memory.refresh_from_db()
    assert memory.content.startswith("# 当前状态")
    assert memory.last_updated_by == "zhangyi"


def test_language_and_theme_are_switched(page: Page, study: Any) -> None:
    log_in(page, study, "admin")
    expect(page.locator("h1")).to_contain_text("工作台首页")
    page.get_by_text("admin", exact=True).last.click()
    page.get_by_role("button", name="English").click()
    expect(page.locator("h1")).to_contain_text("Dashboard")
    page.get_by_text("admin", exact=True).last.click()
    page.get_by_text("Dark", exact=True).click()
    expect(page.locator("html")).to_have_class("dark")


def test_no_page_asks_anybody_else(
    page: Page, study: Any, suspended: Callable[[str], TaskRun]
) -> None:
    """The fixture fails on a foreign address, a blocked script or an error in the console."""
    run = suspended("P002")
    log_in(page, study, "admin")
    for path in (
        "engines/taskrun/", f"engines/taskrun/{run.pk}/change/", "engines/pendingaction/",
        "skills/skill/", "skills/skill/add/", f"projects/project/{study.project.pk}/change/",
        "projects/auditentry/", "wechat/outboxmessage/", "django_celery_beat/periodictask/",
        "auth/user/add/", "password_change/",
    ):  # fmt: skip
        answer = page.goto(f"/admin/{path}")
        assert answer is not None
        assert answer.status == 200, path
        expect(page.locator("h1").first).to_be_visible()
