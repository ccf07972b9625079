"""An administrator builds a rule with two groups by mouse and by keyboard, saves it and opens it again."""

from __future__ import annotations

import json
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from skills.models import Skill, SkillDraft
from skills.services import save_skill
from tests.console.conftest import CONFIG, log_in

pytestmark = [pytest.mark.browser, pytest.mark.full]
AGE = {">=": [{"var": "age_calculated"}, 18]}
BASELINE = "baseline_arm_1"
# Their forms are at another visit than the rule's field: the builder asks for them at the first of their own.
LATER = {"across_events": [BASELINE, {"after": [{"var": "enroll_date"}, {"today": []}]}]}
LOW = {"across_events": [BASELINE, {"<": [{"var": "alt"}, 5]}]}
BUILT = {
    "and": [
        AGE,
        {
            "or": [
                {"in": [{"var": "sex"}, ["1", "2"]]},
                {"!": [{"is_blank": [{"var": "ecog_score"}]}]},
            ]
        },
        {"!": [{"or": [LATER, LOW]}]},
    ]
}


def find(page: Page, part: str) -> None:
    """The field whose label or name has `part`, by the keyboard, where the focus stands."""
    page.keyboard.type(part)
    expect(page.locator("[role=option][aria-selected=true]")).to_be_visible()
    page.keyboard.press("Enter")


def chosen(page: Page, name: str) -> Locator:
    return page.get_by_label(name, exact=True)


def draft(page: Page) -> Any:
    return json.loads(page.locator("#id_config").input_value())["nodes"]["check"]["rules"][0][
        "logic"
    ]


def opened(page: Page, skill: Skill) -> Locator:
    """The rule's builder on the skill's page."""
    page.goto(f"/admin/skills/skill/{skill.pk}/change/")
    page.locator("#sop-editor summary").first.click()
    page.locator("#sop-editor [data-key=check] button").first.click()
    return page.locator(".rule-builder")


@pytest.fixture
def skill(study: Any) -> Skill:
    config = json.loads(json.dumps(CONFIG))
    config["nodes"]["check"]["rules"][0] |= {"field": "age_calculated", "logic": AGE}
    made = Skill(
        project=study.project, skill_type="qc_process:built", name="入组核查", config=config
    )
    return save_skill(skill=made, actor="test")


def test_a_rule_with_two_groups_is_built_saved_and_opened_again(
    page: Page, study: Any, skill: Skill
) -> None:
    log_in(page, study, "admin")
    page.set_viewport_size({"width": 1440, "height": 1000})
    builder = opened(page, skill)
    expect(chosen(page, "值: 条件 1")).to_have_value("18")
    # By mouse: a group of two.
    builder.get_by_role("button", name="添加条件组", exact=False).first.click()
    expect(chosen(page, "各条件的关系: 条件组 2")).to_have_value("or")
    builder.get_by_role("button", name="添加条件: 条件组 2").click()
    chosen(page, "字段: 条件 2.1").fill("性别")
    builder.locator("[role=option][data-name=sex]").click()
    chosen(page, "比较方式: 条件 2.1").select_option("one_of")
    for code in builder.locator(".rule-codes input").all():
        code.check()
    builder.get_by_role("button", name="添加条件: 条件组 2").click()
    chosen(page, "字段: 条件 2.2").fill("ecog_sc")
    builder.locator("[role=option][data-name=ecog_score]").click()
    chosen(page, "比较方式: 条件 2.2").select_option("filled")
    # By keyboard: another one, made in the first place of the rule and moved down.
    builder.get_by_role("button", name="添加条件组", exact=False).last.focus()
    page.keyboard.press("Enter")
    chosen(page, "各条件的关系: 条件组 3").select_option("!or")
    for _tab in range(4):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    find(page, "enroll_date")
    for _option in range(4):
        page.keyboard.press("ArrowDown")
    expect(chosen(page, "比较方式: 条件 3.1")).to_have_value("after")
    chosen(page, "比较对象: 条件 3.1").select_option("today")
    builder.get_by_role("button", name="添加条件: 条件组 3").focus()
    page.keyboard.press("Enter")
    find(page, "alt")
    chosen(page, "比较方式: 条件 3.2").select_option("lt")
    chosen(page, "值: 条件 3.2").fill("5")
    page.keyboard.press("Alt+ArrowUp")
    expect(chosen(page, "值: 条件 3.1")).to_be_focused()
    page.keyboard.press("Alt+ArrowDown")
    assert draft(page) == BUILT
    told = builder.locator(".rule-told")
    expect(told.locator(".rule-words")).to_contain_text("性别")
    for kind in ("PASS", "FAIL", "UNKNOWN"):
        expect(told.locator(f"[data-kind={kind}]")).to_be_visible()
    expect(page.locator("#skill-check .iit-fine")).to_be_visible()
    page.locator("[name=_draft]").click()
    expect(page.locator("[data-test=draft]")).to_be_visible()
    kept = SkillDraft.objects.get(skill=skill).config
    assert kept["nodes"]["check"]["rules"][0]["logic"] == BUILT
    opened(page, skill)
    expect(chosen(page, "各条件的关系: 条件组 3")).to_have_value("!or")
    expect(chosen(page, "值: 条件 3.2")).to_have_value("5")
    assert draft(page) == BUILT


def test_a_rule_of_another_shape_stays_text(page: Page, study: Any, skill: Skill) -> None:
    other = {"<=": [{"days_between": [{"var": "screening_date"}, {"today": []}]}, 3]}
    skill.config["nodes"]["check"]["rules"][0]["logic"] = other
    save_skill(skill=skill, actor="test")
    log_in(page, study, "admin")
    builder = opened(page, skill)
    expect(builder.get_by_role("status").first).to_contain_text("无法显示")
    expect(builder.locator("[data-name=logic]")).to_be_visible()
    # What the server says of a rule is asked for when it comes into sight.
    builder.locator(".rule-told").scroll_into_view_if_needed()
    expect(builder.locator(".rule-told [data-kind=PASS]")).to_be_visible()
    assert draft(page) == other
    # What is half built is refused in words, and kept.
    builder.locator("[data-name=logic]").fill(json.dumps(AGE))
    builder.locator("[data-name=logic]").blur()
    chosen(page, "值: 条件 1").fill("")
    expect(builder.locator(".rule-hint")).to_have_text("请填写值。")
    expect(builder.locator(".rule-told li.iit-error")).to_be_visible()
    assert draft(page) == {">=": [{"var": "age_calculated"}, {"var": ""}]}


def test_what_is_compared_with_nothing_keeps_its_visit(
    page: Page, study: Any, skill: Skill
) -> None:
    """Of two fields each has a visit of its own; the first one's was lost when “is blank” was chosen."""
    skill.config["nodes"]["check"]["rules"][0]["logic"] = LOW
    save_skill(skill=skill, actor="test")
    log_in(page, study, "admin")
    opened(page, skill)
    chosen(page, "比较对象: 条件 1").select_option("field")
    blank = {"is_blank": [{"var": "alt"}]}
    for operator, logic in (("blank", blank), ("filled", {"!": [blank]})):
        chosen(page, "比较方式: 条件 1").select_option(operator)
        assert draft(page) == {"across_events": [BASELINE, logic]}
        expect(chosen(page, "访视: 条件 1")).to_have_value(BASELINE)
    page.locator("[name=_draft]").click()
    expect(page.locator("[data-test=draft]")).to_be_visible()
    opened(page, skill)
    expect(chosen(page, "访视: 条件 1")).to_have_value(BASELINE)
    expect(chosen(page, "比较方式: 条件 1")).to_have_value("filled")
