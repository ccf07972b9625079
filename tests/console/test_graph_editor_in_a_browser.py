"""An administrator builds a quality control by mouse, saves it, and reads at a node what is wrong with it."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from skills import publish
from skills.models import Skill
from skills.services import pick_qc_skill, save_skill
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


def new_workflow(page: Page, study: Any, kind: str) -> Any:
    log_in(page, study, "admin")
    page.goto("/admin/skills/skill/add/")
    page.locator("[name=project]").select_option(str(study.project.pk))
    page.fill("[name=skill_type]", kind)
    page.fill("[name=name]", kind)
    return page.locator("#sop-editor [data-part=form]")


def saved(page: Page, kind: str) -> Skill:
    expect(page.locator("#skill-check .iit-fine")).to_be_visible()
    page.locator("[name=_continue]").click()
    page.wait_for_url("**/change/")
    return Skill.objects.get(skill_type=kind)


def test_what_holds_for_the_whole_workflow_is_set_by_mouse(page: Page, study: Any) -> None:
    """Event and words of an order had no control: such a workflow could not be saved, or never picked."""
    form = new_workflow(page, study, "watch:by_mouse")
    panel = page.locator("#skill-check")
    expect(panel.locator(".iit-fine")).to_be_visible()
    page.locator("[name=trigger_type]").select_option("event")
    expect(panel).to_contain_text("事件")
    expect(panel.locator("li.iit-error")).to_have_count(1)
    row(page, "event").select_option("record_changed")
    row(page, "event_field").fill("age_calculated")
    row(page, "urgent").check()
    row(page, "max_steps").fill("20")
    expect(page.locator("#sop-fields option[value=age_calculated]")).to_have_count(1)
    config = saved(page, "watch:by_mouse").config
    told = {"event": "record_changed", "event_field": "age_calculated", "urgent": True}
    assert {name: config.get(name) for name in told} == told
    assert config["max_steps"] == 20
    # A node in between, and back: what is unset is left out.
    page.locator("#sop-editor summary").filter(has_text="列表").click()
    page.locator("#sop-editor [data-key=ask] button").first.click()
    expect(row(page, "event")).to_have_count(0)
    page.locator("#sop-editor [data-do=whole]").click()
    row(page, "urgent").uncheck()
    expect(form.locator("h3")).to_have_text("流程本身")
    assert "urgent" not in written(page)


def test_a_quality_control_is_told_by_mouse_how_orders_name_it(page: Page, study: Any) -> None:
    new_workflow(page, study, "qc_process:eyes")
    row(page, "match").fill("眼底\n  眼科检查 \n")
    skill = saved(page, "qc_process:eyes")
    assert skill.config["match"] == ["眼底", "眼科检查"]
    assert pick_qc_skill(study.project, "给 P001 做眼底质控") == skill


def test_checks_and_tools_are_told_what_they_need_by_mouse(page: Page, study: Any) -> None:
    """A ticked check was {} for ever, and tools were a box of JSON."""
    form = new_workflow(page, study, "qc_process:drugs")
    editor = page.locator("#sop-editor")

    def box(name: str) -> Any:
        return form.get_by_role("checkbox", name=name, exact=True)

    editor.locator("[data-add=soft_instruction]").click()
    row(page, "instruction").fill("核对合并用药")
    box("read_clinical_data").check()
    box("search_protocol").check()
    editor.locator("[data-add=hard_rule]").click()
    form.get_by_role("button", name="从此开始").click()
    box("方案禁用药物").check()
    row(page, "prohibited.names").fill("华法林\n利福平")
    row(page, "prohibited.field").fill("age_calculated")
    box("检验值远超上限但无不良事件").check()
    row(page, "lab_ae.times").fill("2.5")
    words = form.get_by_role("group", name="该检验项目对应的不良事件用语", exact=True)
    words.get_by_role("button", name="新增").click()
    words.locator('[data-name="field"]').fill("alt")
    words.locator('[data-name="lab_ae.words"]').fill("肝损伤\nALT")
    box("严重不良事件未按时上报").check()
    row(page, "sae_report.serious").fill("ae_serious")
    row(page, "sae_report.code").fill("1")
    box("伦理委员会").check()
    row(page, "sae_report.reports.field").fill("ae_reported")
    row(page, "sae_report.reports.hours").fill("24")
    checks = {
        "prohibited": {"names": ["华法林", "利福平"], "field": "age_calculated"},
        "lab_ae": {"times": 2.5, "words": {"alt": ["肝损伤", "ALT"]}},
        "sae_report": {
            "serious": "ae_serious",
            "code": "1",
            "reports": {"ethics": {"field": "ae_reported", "hours": 24}},
        },
    }
    assert written(page)["nodes"]["hard_rule_1"]["checks"] == checks
    # What was unticked by mistake is there again.
    box("方案禁用药物").uncheck()
    assert "prohibited" not in written(page)["nodes"]["hard_rule_1"]["checks"]
    box("方案禁用药物").check()
    row(page, "on_pass").select_option("soft_instruction_1")
    row(page, "on_fail").select_option("ask")
    nodes = saved(page, "qc_process:drugs").config["nodes"]
    assert nodes["hard_rule_1"]["checks"] == checks
    assert nodes["soft_instruction_1"]["tools"] == ["read_clinical_data", "search_protocol"]


def test_a_draft_of_wrong_types_is_shown_and_a_name_taken_twice_is_not(
    page: Page, study: Any
) -> None:
    """A text for a list broke the whole page; a second entry of a name destroyed the words of the first."""
    skill = Skill(project=study.project, skill_type="qc_process:odd", name="A", config=CONFIG)
    save_skill(skill=skill, actor="test")
    odd: dict[str, Any] = copy.deepcopy(CONFIG) | {"match": "质控"}
    checks = {"lab_ae": {"words": {"x": "y"}}, "prohibited": None}
    odd["nodes"]["check"] |= {"checks": checks, "rules": [None]}
    publish.keep_draft(skill=skill, config=odd, effective_on=None, actor="test", seen=None)
    log_in(page, study, "admin")
    page.goto(f"/admin/skills/skill/{skill.pk}/change/")
    expect(row(page, "match")).to_have_value('"质控"')
    page.locator("#sop-editor summary").filter(has_text="列表").click()
    page.locator("#sop-editor [data-key=check] button").first.click()
    words = row(page, "lab_ae.words")
    expect(words).to_have_value('{"x":"y"}')
    assert written(page) == odd
    words.fill('{"alt": ["肝损伤"]}')
    words.press("Tab")
    expect(words).to_have_value("肝损伤")
    group = page.get_by_role("group", name="该检验项目对应的不良事件用语", exact=True)
    group.get_by_role("button", name="新增").click()
    name = group.locator('[data-name="field"]').last
    name.fill("alt")
    assert not name.evaluate("box => box.validity.valid")

    def told() -> Any:
        return written(page)["nodes"]["check"]["checks"]["lab_ae"]["words"]

    assert told() == {"alt": ["肝损伤"], "": []}
    name.fill("ast")
    assert told() == {"alt": ["肝损伤"], "ast": []}
    assert name.evaluate("box => box.validity.valid")
