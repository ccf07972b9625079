"""The console without a mouse, in a real Chromium: past the menu, in order, visibly, and out again."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from engines.models import TaskRun
from skills.models import Skill
from tests.console.conftest import log_in

pytestmark = pytest.mark.browser

FOCUSED = """() => {
  const found = document.activeElement;
  return found.id || found.getAttribute("name") || found.textContent.trim();
}"""
OUTLINED = """() => {
  const style = getComputedStyle(document.activeElement);
  const ringed = style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  return ringed || style.boxShadow !== "none";
}"""

# Escape as an input method sends it while a word is composed.
COMPOSING = """document.activeElement.dispatchEvent(
  new KeyboardEvent("keydown", { key: "Escape", isComposing: true, bubbles: true }))"""


def stops(page: Page, count: int) -> list[str]:
    """What the next presses of Tab reach; each of them is visibly focused."""
    found = []
    for _ in range(count):
        page.keyboard.press("Tab")
        found.append(page.evaluate(FOCUSED))
        assert page.evaluate(OUTLINED), found
    return found


def until(page: Page, last: str, most: int = 40) -> list[str]:
    """Press Tab until `last` holds the focus."""
    found: list[str] = []
    while last not in found:
        assert len(found) < most, found
        found += stops(page, 1)
    return found


def in_order(found: list[str], *names: str) -> bool:
    places = [found.index(name) for name in names]
    return places == sorted(places)


def test_one_press_leads_past_the_menu(page: Page, study: Any) -> None:
    log_in(page, study, "admin")
    page.goto("/admin/engines/taskrun/")
    link = page.locator("a.iit-skip[href='#content']")
    expect(link).not_to_be_in_viewport()
    page.keyboard.press("Tab")
    expect(link).to_be_focused()
    expect(link).to_be_in_viewport()
    page.keyboard.press("Enter")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.closest('#content') !== null")


def test_the_decision_on_a_run_is_reached_in_the_order_of_the_page(
    page: Page, study: Any, suspended: Callable[[str], TaskRun]
) -> None:
    run = suspended("P002")
    log_in(page, study, "wanghushi")
    page.goto(f"/admin/engines/taskrun/{run.pk}/change/")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    found = until(page, "reject")
    assert in_order(found, "decision_reason", "approve", "reject")


def test_escape_folds_the_part_that_holds_the_focus(
    page: Page, study: Any, suspended: Callable[[str], TaskRun]
) -> None:
    run = suspended("P002")
    log_in(page, study, "wanghushi")
    page.goto(f"/admin/engines/taskrun/{run.pk}/change/")
    part = page.locator("details.iit-folded", has=page.locator("#cancel_reason"))
    part.locator("summary").press("Enter")
    page.locator("#cancel_reason").focus()
    page.evaluate(COMPOSING)
    expect(page.locator("#cancel_reason")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#cancel_reason")).to_be_hidden()
    expect(part.locator("summary")).to_be_focused()


def test_the_menu_of_the_person_opens_and_closes(page: Page, study: Any) -> None:
    log_in(page, study, "admin")
    opener = page.get_by_role("button").filter(has_text="unfold_more")
    opener.focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="English")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("button", name="English")).to_be_hidden()
    expect(opener).to_be_focused()


def test_the_order_page_is_filled_in_from_top_to_bottom(page: Page, study: Any) -> None:
    log_in(page, study, "admin")
    page.goto("/admin/engines/taskrun/order/")
    page.locator("#id_skill").focus()
    assert stops(page, 5) == ["id_subjects", "ask_llm", "start", "try", "all"]


def test_the_editor_of_a_workflow_lets_go_of_the_focus(page: Page, study: Any) -> None:
    skill = Skill.objects.get(project=study.project, skill_type="qc_process")
    log_in(page, study, "admin")
    page.goto(f"/admin/skills/skill/{skill.pk}/change/")
    expect(page.locator("#sop-editor canvas").first).to_be_visible()
    page.locator("#id_name").focus()
    found = until(page, "_save")
    assert in_order(found, "id_config_json", "_save")
    skill.refresh_from_db()
    assert json.loads(page.locator("#id_config").input_value()) == skill.config


def test_tab_indents_for_who_types_and_escape_ends_it(page: Page, study: Any) -> None:
    log_in(page, study, "admin")
    page.goto("/admin/skills/skill/add/")
    box, sent = page.locator("#id_config_json"), page.locator("#id_config")
    box.fill("")
    page.keyboard.type("5")
    page.keyboard.press("Tab")
    expect(sent).to_have_value("  5")
    expect(box).to_be_focused()
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")
    expect(box).not_to_be_focused()
    expect(sent).to_have_value("  5")
