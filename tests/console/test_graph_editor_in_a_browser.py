"""An administrator builds a quality control by mouse, saves it, and reads at a node what is wrong with it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from skills.models import Skill
from tests.console.conftest import log_in

pytestmark = pytest.mark.browser


def row(page: Page, name: str) -> Any:
    return page.locator(f'#sop-editor [data-name="{name}"]')


@pytest.mark.parametrize("width", [1440, 1024])
def test_a_workflow_is_built_by_mouse(page: Page, study: Any, width: int) -> None:
    log_in(page, study, "admin")
    page.set_viewport_size({"width": width, "height": 1000})
    page.goto("/admin/skills/skill/add/")
    page.locator("[name=project]").select_option(str(study.project.pk))
    page.fill("[name=skill_type]", "qc_process:by_mouse")
    page.fill("[name=name]", "入组核查")
    editor, form = page.locator("#sop-editor"), page.locator("#sop-editor [data-part=form]")
    for kind in ("hard_rule", "soft_instruction", "notify"):
        editor.locator(f"[data-add={kind}]").click()
    expect(editor.locator("[data-part=list] > li")).to_have_count(4)
    form.get_by_label("CRC").check()
    row(page, "content").select_option("daily_briefing")
    editor.locator("summary").click()
    editor.locator("[data-key=soft_instruction_1] button").first.click()
    row(page, "instruction").fill("核对知情同意")
    row(page, "on_fail").select_option("ask")
    row(page, "on_pass").select_option("notify_1")
    expect(form.locator("[data-errors] li")).to_have_count(0)
    editor.locator("[data-key=hard_rule_1] button").first.click()
    expect(form.locator("[data-errors] li.iit-error")).not_to_have_count(0)
    form.get_by_label("required").check()
    row(page, "on_pass").select_option("soft_instruction_1")
    row(page, "on_fail").select_option("ask")
    form.get_by_role("button", name="从此开始").click()
    expect(page.locator("#skill-check .iit-fine")).to_be_visible()
    page.locator("[name=_continue]").click()
    page.wait_for_url("**/change/")
    skill = Skill.objects.get(project=study.project, skill_type="qc_process:by_mouse")
    assert skill.config["start_node"] == "hard_rule_1"
    assert skill.config["nodes"]["hard_rule_1"]["checks"] == {"required": {}}
    assert skill.config["nodes"]["soft_instruction_1"]["on_pass"] == "notify_1"
    editor.locator("summary").click()
    editor.locator("[data-key=notify_1] button").first.click()
    form.get_by_label("CRC").uncheck()
    expect(form.locator("[data-errors] li.iit-error")).to_have_count(1)
    expect(editor.locator("[data-key=notify_1].is-bad")).to_have_count(1)
    editor.get_by_role("button", name="撤销").click()
    expect(editor.locator("[data-key=notify_1].is-bad")).to_have_count(0)
    assert json.loads(page.locator("#id_config").input_value()) == skill.config
