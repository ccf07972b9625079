"""The console in a real Chromium: log in, look, decide, edit, switch language; nothing leaves the house."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engines import sop
from engines.models import Review, TaskRun
from engines.sop.batches import advance
from memory.hot.save import save_memory
from memory.models import ProjectMemory
from projects.models import AuditEntry, Project
from skills.models import FieldMapping, Skill
from tests.console.conftest import log_in
from tests.engines.sop.kit import human, new_skill

pytestmark = pytest.mark.browser


def test_the_first_page_after_the_login(page: Page, study: Any) -> None:
    page.goto("/admin/login/")
    page.fill("[name=username]", "wanghushi")
    page.fill("[name=password]", study.run["logins"]["wanghushi"]["password"])
    page.click("#login-form [type=submit]")
    expect(page.get_by_text("没有待复核的事项。")).to_be_visible()
    expect(page.locator("#nav-sidebar-apps")).to_contain_text("工作台")


@pytest.mark.smoke
def test_a_crc_decides_at_the_desk(
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
    page.get_by_role("button", name="放行(推翻判断)").click()
    expect(page.get_by_text("P002: 放行(推翻判断)")).to_be_visible()
    page.goto(f"/admin/engines/taskrun/{run.pk}/change/")
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
    page.get_by_role("button", name="维持违背").click()
    expect(page.get_by_text("请填写驳回原因。")).to_be_visible()
    page.locator("#decision_reason").fill("源文件缺失")
    page.get_by_role("button", name="维持违背").click()
    expect(page.get_by_text("P002: 维持违背")).to_be_visible()
    run.refresh_from_db()
    assert run.final_state == "end_rejected"


def test_what_is_opened_of_the_list_is_rejected(
    page: Page, study: Any, suspended: Callable[[str], TaskRun]
) -> None:
    run, other = suspended("P002"), suspended("P003")
    Project.objects.update(requires_signature=True)
    log_in(page, study, "wanghushi")
    page.goto("/admin/engines/taskrun/")
    for box in page.locator("input.action-select").all():
        box.check()
    page.locator("select[name=action]").select_option("reject_review")
    page.locator("button[name=index], [type=submit][name=index]").first.click()
    page.locator("#ask_reason").fill("数据有误")
    page.locator("#decision_password").fill(study.run["logins"]["wanghushi"]["password"])
    page.get_by_role("button", name="驳回已打开的").click()
    expect(page.get_by_text("未作任何决定")).to_be_visible()
    page.locator("summary", has_text="P002").click()
    expect(page.locator("[data-opened] .iit-question")).to_have_text("年龄是否已核对?")
    expect(page.locator("#ask_reason")).to_have_value("数据有误")
    page.locator("#decision_password").fill(study.run["logins"]["wanghushi"]["password"])
    page.get_by_role("button", name="驳回已打开的").click()
    expect(page.get_by_text("已驳回 1 项。")).to_be_visible()
    expect(page.get_by_text("1 项未打开")).to_be_visible()
    run.refresh_from_db()
    other.refresh_from_db()
    assert (run.final_state, other.status) == ("end_rejected", TaskRun.Status.SUSPENDED)


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


def test_a_workflow_is_checked_while_it_is_written(page: Page, study: Any) -> None:
    skill = Skill.objects.get(project=study.project, skill_type="qc_process")
    log_in(page, study, "admin")
    page.goto(f"/admin/skills/skill/{skill.pk}/change/")
    box, shown = page.locator("#id_config_json"), page.locator("#skill-check")
    expect(page.locator("#sop-editor canvas").first).to_be_visible()
    expect(shown.locator("svg")).to_be_hidden()
    expect(shown.locator("[data-line]")).to_have_count(0)
    config = json.loads(page.locator("#id_config").input_value())
    config["nodes"][config["start_node"]]["on_fail"] = "nowhere"
    text = json.dumps(config, indent=2, ensure_ascii=False)
    box.fill(text)
    problem = shown.locator("[data-line]").first
    expect(problem).to_be_visible()
    expect(page.locator("#sop-editor li.is-bad").first).to_have_count(1)
    problem.focus()
    page.keyboard.press("Enter")
    expect(box).to_be_focused()
    marked = page.evaluate("getSelection().toString()")
    assert marked.strip().startswith('"on_fail": "nowhere"')
    box.fill('{"a": ')
    expect(page.locator("#sop-editor [data-part=told]")).not_to_be_empty()
    skill.refresh_from_db()
    assert skill.config != config


def test_a_batch_shows_its_progress_by_itself(page: Page, study: Any) -> None:
    skill = new_skill(study, {"ask": human()})
    batch = sop.start_batch(
        project=study.project, skill=skill, record_ids=["P001", "P002"], actor="zhangyi"
    )
    log_in(page, study, "zhangyi")
    page.goto(f"/admin/engines/batch/{batch.pk}/change/")
    done = page.locator("#batch-progress progress")
    expect(done).to_have_attribute("value", "0")
    for run in batch.runs.all():
        sop.drive(run.pk)
    advance(batch.pk)
    expect(done).to_have_attribute("value", "2", timeout=20_000)
    expect(page.locator("#batch-progress[data-goes-on]")).to_have_count(0)


def test_one_box_ticks_all_proposals(page: Page, study: Any) -> None:
    log_in(page, study, "admin")
    page.goto("/admin/skills/fieldmapping/propose/")
    boxes = page.locator("#proposals tbody input[type=checkbox]")
    count = boxes.count()
    page.locator("#proposals thead input").check()
    expect(page.locator("#proposals tbody input:checked")).to_have_count(count)
    before = FieldMapping.objects.count()
    page.locator("#proposals thead input").uncheck()
    boxes.first.check()
    page.locator("form[data-once] button[type=submit]").click()
    expect(boxes).to_have_count(count - 1)
    assert FieldMapping.objects.count() == before + 1


def test_a_tab_shows_its_own_rows_first(page: Page, study: Any) -> None:
    memory = ProjectMemory.objects.get(project=study.project)
    log_in(page, study, "admin")
    page.goto(f"/admin/memory/projectmemory/{memory.pk}/change/")
    lines = page.locator("[data-test=lines]")
    expect(lines).to_be_visible()
    page.get_by_role("link", name="历史版本").click()
    expect(lines).to_be_hidden()
    expect(page.locator("#versions-group")).to_be_visible()


def test_the_later_writer_sees_the_conflict_at_once(page: Page, study: Any) -> None:
    memory = ProjectMemory.objects.get(project=study.project)
    log_in(page, study, "admin")
    page.goto(f"/admin/memory/projectmemory/{memory.pk}/change/")
    save_memory(
        project=study.project,
        content=memory.content + "\n- 新的一行\n",
        actor="zhangyi",
        base_version=1,
    )
    page.locator("[name=content]").fill(memory.content + "\n- 另一行\n")
    page.locator("[name=_continue]").first.click()
    expect(page.get_by_text("请更正以下错误").first).to_be_in_viewport()
    expect(page.locator("[name=content]")).to_be_in_viewport()


def test_what_was_written_outlives_the_log_in(page: Page, study: Any) -> None:
    memory = ProjectMemory.objects.get(project=study.project)
    log_in(page, study, "admin")
    page.goto(f"/admin/memory/projectmemory/{memory.pk}/change/")
    page.context.clear_cookies(name="sessionid")
    box, preview = page.locator("[name=content]"), page.locator("#id_content_preview")
    with page.expect_response("**/admin/login/**"):
        box.fill(memory.content + "\n- 写到一半\n")
    page.locator("[name=_continue]").first.click()
    again = page.locator(".iit-logged-out a")
    expect(box).to_have_value(memory.content + "\n- 写到一半\n")
    expect(preview.locator("[name=password]")).to_have_count(0)
    with page.context.expect_page() as opened:
        again.click()
    log_in(opened.value, study, "admin")
    page.locator("[name=_continue]").first.click()
    expect(page.locator("[name=base_version]")).to_have_value("2")
    memory.refresh_from_db()
    assert "写到一半" in memory.content


def test_a_long_cell_of_a_list_is_whole_on_a_phone(
    page: Page, study: Any, suspended: Callable[[str], TaskRun]
) -> None:
    review = sop.open_review(suspended("P002"))
    assert review is not None
    Review.objects.filter(pk=review.pk).update(question="检查既往史，排除间质性肺炎。" * 12)
    log_in(page, study, "wanghushi")
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto("/admin/engines/review/")
    cell = page.locator("#result_list td.field-question")
    assert cell.evaluate("cell => cell.scrollHeight <= cell.clientHeight")


def test_nothing_is_wider_than_the_screen(
    page: Page, study: Any, suspended: Callable[[str], TaskRun]
) -> None:
    run = suspended("P002")
    review = sop.open_review(run)
    assert review is not None
    sop.decide(
        review_id=review.pk,
        actor=study["wanghushi"],
        decision="approve",
        reason="已核对",
        seen=review.seen,
    )
    log_in(page, study, "admin")
    for width in (1360, 390):
        page.set_viewport_size({"width": width, "height": 800})
        for path in (
            f"engines/review/{review.pk}/change/", "engines/taskrun/order/", "what-would-be-sent/",
            f"study/dictionary/{study.project.pk}/change/",
        ):  # fmt: skip
            page.goto(f"/admin/{path}")
            over = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
            assert page.evaluate(over) == 0, (width, path)


def test_language_and_theme_are_switched(page: Page, study: Any) -> None:
    log_in(page, study, "admin")
    expect(page.locator("h1")).to_contain_text("工作台首页")
    account = page.locator("#nav-sidebar").get_by_text("admin", exact=True).last
    account.click()
    page.get_by_role("button", name="English").click()
    expect(page.locator("h1")).to_contain_text("Dashboard")
    account.click()
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
        "engines/batch/", "skills/fieldmapping/", "skills/fieldmapping/propose/",
        "skills/skill/", "skills/skill/add/", f"projects/project/{study.project.pk}/change/",
        "projects/auditentry/", "wechat/outboxmessage/", "django_celery_beat/periodictask/",
        "auth/user/add/", "password_change/",
    ):  # fmt: skip
        answer = page.goto(f"/admin/{path}")
        assert answer is not None
        assert answer.status == 200, path
        expect(page.locator("h1").first).to_be_visible()


def test_the_filtered_list_is_downloaded(
    page: Page, study: Any, suspended: Callable[[str], TaskRun]
) -> None:
    suspended("P002"), suspended("P022")
    log_in(page, study, "zhangyi")
    page.goto("/admin/engines/pendingaction/?q=P022")
    with page.expect_download() as begun:
        page.locator("a[href='/admin/engines/pendingaction/export/?q=P022']").click()
    assert begun.value.suggested_filename.startswith("LUNG-IIT")
    assert begun.value.suggested_filename.endswith(".csv")
    text = begun.value.path().read_text("utf-8-sig")
    assert text.startswith("受试者,")
    assert "P022" in text
    assert "P002" not in text


def test_the_documentation_of_the_api_is_drawn(page: Page, study: Any) -> None:
    log_in(page, study, "zhangyi")
    page.goto("/api/v1/docs/")
    expect(page.get_by_text("/api/v1/task-runs/{id}/approve/")).to_be_visible()
    page.locator("#operations-projects-projects_list").click()
    page.get_by_role("button", name="Try it out").click()
    page.get_by_role("button", name="Execute").click()
    expect(page.locator(".live-responses-table")).to_contain_text("LUNG-IIT")
