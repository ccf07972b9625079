"""An administrator builds a quality control by mouse, saves it, and reads at a node what is wrong with it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from skills import publish
from skills.models import Skill
from skills.services import save_skill
from tests.console.conftest import CONFIG, log_in

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
    form.get_by_label("必填").check()
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


def test_enter_in_a_field_saves_and_discards_nothing(page: Page, study: Any) -> None:
    """Enter presses the first button of a form, which was the one that discards the draft."""
    skill = Skill(project=study.project, skill_type="qc_process:enter", name="A", config=CONFIG)
    save_skill(skill=skill, actor="test")
    written = {**CONFIG, "name": "written"}
    publish.keep_draft(skill=skill, config=written, effective_on=None, actor="test", seen=None)
    log_in(page, study, "admin")
    page.goto(f"/admin/skills/skill/{skill.pk}/change/")
    page.fill("#id_name", "B")
    page.press("#id_name", "Enter")
    page.wait_for_url("**/admin/skills/skill/")
    skill.refresh_from_db()
    assert (skill.name, skill.version, skill.config) == ("B", 2, written)


def test_a_box_that_holds_no_value_is_not_sent_as_none(page: Page, study: Any) -> None:
    """Half a date was sent as blank, and so published at once; half a number or JSON left what stood."""
    config = copy.deepcopy(CONFIG)
    config["nodes"]["read"] = {"type": "soft_instruction", "instruction": "核对", "threshold": 0.9}
    skill = Skill(project=study.project, skill_type="qc_process:half", name="A", config=config)
    save_skill(skill=skill, actor="test")
    log_in(page, study, "admin")

    def opened(node: str) -> None:
        page.goto(f"/admin/skills/skill/{skill.pk}/change/")
        page.locator("#sop-editor summary").filter(has_text="列表").click()
        page.locator(f"#sop-editor [data-key={node}] button").first.click()

    def refused(box: Any) -> None:
        page.locator("[name=_continue]").click()
        expect(box).to_be_focused()
        assert (skill.versions.count(), page.url.endswith("/change/")) == (1, True)

    opened("read")
    number = row(page, "threshold")
    number.focus()
    page.keyboard.type("e")
    assert json.loads(page.locator("#id_config").input_value()) == config
    refused(number)
    opened("check")
    page.locator("#id_effective_on").focus()
    page.keyboard.type("12")
    refused(page.locator("#id_effective_on"))
    opened("check")
    expect(page.locator(".rule-top")).to_be_visible()
    page.locator(".rule-builder summary").click()
    row(page, "logic").fill('{"<": [')
    page.locator(".rule-builder summary").click()
    refused(row(page, "logic"))
    row(page, "logic").fill('{"<": [{"var": "age_calculated"}, 2]}')
    with page.expect_navigation():
        page.locator("[name=_continue]").click()
    skill.refresh_from_db()
    rules = skill.config["nodes"]["check"]["rules"]
    assert rules[0]["logic"] == {"<": [{"var": "age_calculated"}, 2]}


def opened(page: Page, study: Any) -> Skill:
    skill = Skill(project=study.project, skill_type="qc_process:by_hand", name="A", config=CONFIG)
    save_skill(skill=skill, actor="test")
    log_in(page, study, "admin")
    page.goto(f"/admin/skills/skill/{skill.pk}/change/")
    page.locator("#sop-editor summary").filter(has_text="列表").click()
    page.locator("#sop-editor [data-key=check] button").first.click()
    return skill


def written(page: Page) -> Any:
    return json.loads(page.locator("#id_config").input_value())


def tap(page: Page, key: str) -> None:
    found = "document.getElementById('sop-editor').sop.drawn.getElementById(key)"
    page.evaluate(f"(key) => {{ {found}.emit('tap'); }}", key)


@pytest.mark.parametrize("way", ["add", "remove", "undo", "choose"])
def test_a_target_is_picked_for_the_node_that_asked(page: Page, study: Any, way: str) -> None:
    """What came between was taken for the answer, of another node or of none."""
    opened(page, study)
    editor = page.locator("#sop-editor")
    editor.locator("[data-add=notify]").click()
    editor.locator("[data-key=check] button").first.click()
    editor.locator('.sop-row:has([data-name="on_fail"]) button').click()
    if way == "add":
        editor.locator("[data-add=notify]").click()
    elif way == "remove":
        editor.locator("[data-key=check] button").last.click()
    elif way == "undo":
        editor.get_by_role("button", name="撤销").click()
    else:
        editor.locator("[data-key=ask] button").first.click()
    before = written(page)
    tap(page, "end_success")
    assert written(page) == before
    expect(editor.locator("[data-part=told]")).to_have_text("")


def test_with_half_a_text_the_drawing_waits(page: Page, study: Any) -> None:
    opened(page, study)
    page.evaluate(
        """() => {
            const box = document.getElementById("id_config");
            box.value = "{";
            box.dispatchEvent(new Event("input", { bubbles: true }));
        }"""
    )
    expect(page.locator("#sop-editor [data-part=told]")).not_to_have_text("")
    tap(page, "ask")
    page.locator("#sop-editor [data-add=notify]").click()
    name = page.locator("#sop-editor [data-part=form] input").first
    name.fill("other")
    name.press("Tab")
    assert page.locator("#id_config").input_value() == "{"
    page.locator("#sop-editor").get_by_role("button", name="撤销").click()
    assert written(page) == CONFIG


def test_the_focus_stays_where_a_choice_was_made(page: Page, study: Any) -> None:
    opened(page, study)
    for name, value in (("on_pass", "ask"), ("on_fail", "end_rejected")):
        row(page, name).focus()
        row(page, name).select_option(value)
        expect(row(page, name)).to_be_focused()
    add = page.locator("#sop-editor [data-part=form] > fieldset > button.iit-chip").first
    expect(add).to_contain_text("+")
    add.click()
    expect(add).to_be_focused()
    assert len(written(page)["nodes"]["check"]["rules"]) == 2
    assert written(page)["nodes"]["check"]["on_fail"] == "end_rejected"
