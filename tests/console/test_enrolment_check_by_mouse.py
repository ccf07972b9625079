"""An administrator builds the enrolment check of seed 002 by mouse, tries it, publishes it, and breaks it.

Nothing is typed as JSON but what no mouse can make: a start and a target that are not there.
"""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from engines.models import TaskRun
from skills.models import Skill, SkillDraft
from tests.console.conftest import SITE_A, log_in

pytestmark = [pytest.mark.browser, pytest.mark.full]
HARD, SOFT, TELL = "hard_rule_1", "soft_instruction_1", "notify_1"
AGE, ECOG = {"var": "age_calculated"}, {"var": "ecog_score"}
# The rule's field as the study calls it, its condition, and what it says.
RULES: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("age", {">=": [AGE, 18]}, "年龄<18岁"),
    ("age", {"<=": [AGE, 75]}, "年龄>75岁"),
    ("ecog", {"in": [ECOG, ["0", "1", "2"]]}, "ECOG>2"),
)
OPERATORS = {">=": "ge", "<=": "le", "in": "one_of"}
HISTORY = "检查既往史,排除间质性肺炎、活动性感染、严重心血管疾病。"


class Editor:
    """The page as its user sees it."""

    def __init__(self, page: Page) -> None:
        self.page, self.root = page, page.locator("#sop-editor")
        self.form = self.root.locator("[data-part=form]")

    def row(self, name: str) -> Locator:
        return self.form.locator(f'[data-name="{name}"]')

    def place(self, key: str) -> tuple[float, float]:
        at = self.page.evaluate(
            "key => document.getElementById('sop-editor').sop.drawn.getElementById(key).renderedPosition()",
            key,
        )
        canvas = self.root.locator("[data-part=canvas]")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        assert box
        return box["x"] + at["x"], box["y"] + at["y"]

    def tap(self, key: str) -> None:
        """Click on a node in the drawing."""
        self.page.mouse.click(*self.place(key))

    def open(self, key: str) -> None:
        self.tap(key)
        expect(self.form.locator("input").first).to_have_value(key)

    def lead(self, edge: str, key: str) -> None:
        """Choose in the drawing where an edge of the open node leads."""
        self.row(edge).locator("xpath=..").get_by_role("button").click()
        self.tap(key)
        expect(self.row(edge)).to_have_value(key)

    def config(self) -> Any:
        return json.loads(self.page.locator("#id_config").input_value())

    def classes(self, kind: str) -> list[str]:
        return self.page.evaluate(
            "kind => document.getElementById('sop-editor').sop.drawn.elements('.' + kind).map(one => one.id())",
            kind,
        )

    def add_rule(self, number: int, field: str, logic: dict[str, Any], message: str) -> None:
        """One more hard rule of the open node."""
        self.form.locator(".sop-items > button").last.click()
        rule = self.form.locator(".sop-items .sop-items").nth(number)
        rule.locator("[data-name=field]").fill(field)
        rule.locator("[data-name=message]").fill(message)
        condition(rule, logic)

    def checked(self) -> None:
        """The server has looked at what stands there."""
        expect(self.page.locator("#skill-check")).not_to_have_class("is-stale")

    def undo_to(self, config: Any) -> None:
        for _step in range(20):
            if self.config() == config:
                return
            self.root.locator("[data-do=undo]").click()
        assert self.config() == config


def condition(rule: Locator, logic: dict[str, Any]) -> None:
    """The rule's condition by mouse: the field found by a part of its name, the operator, the value."""
    [(sign, (field, value))] = logic.items()
    builder = rule.locator(".rule-builder")
    builder.locator("[data-key$=':add']").click()
    builder.locator("[data-key$=':field']").fill(field["var"])
    builder.locator(f"[role=option][data-name={field['var']}]").click()
    builder.locator("[data-key$=':op']").select_option(OPERATORS[sign])
    if sign == "in":
        for code in value:
            builder.locator(f"[data-key$=':code:{code}']").check()
    else:
        builder.locator("[data-key$=':value']").fill(str(value))


def built(page: Page, study: Any, width: int) -> Editor:
    """The check as an administrator makes it of the empty page, not saved yet."""
    log_in(page, study, "admin")
    page.set_viewport_size({"width": width, "height": 1000})
    page.goto("/admin/skills/skill/add/")
    page.locator("[name=project]").select_option(str(study.project.pk))
    page.fill("[name=skill_type]", "qc_process:enrolment")
    page.fill("[name=name]", "入组质控")
    editor = Editor(page)
    for kind in ("hard_rule", "soft_instruction", "notify"):
        editor.root.locator(f"[data-add={kind}]").click()
    editor.row("content").select_option("daily_briefing")
    editor.form.get_by_label("CRC").check()
    editor.open(SOFT)
    editor.row("instruction").fill(HISTORY)
    editor.lead("on_pass", TELL)
    editor.lead("on_fail", "ask")
    editor.open(HARD)
    for number, rule in enumerate(RULES):
        editor.add_rule(number, *rule)
    editor.lead("on_pass", SOFT)
    editor.lead("on_fail", "ask")
    editor.form.get_by_role("button", name="从此开始").click()
    expect(page.locator("#skill-check .iit-fine")).to_be_visible()
    look(editor, "built")
    return editor


def look(editor: Editor, name: str) -> None:
    """A picture where somebody wants to look."""
    if folder := os.environ.get("IIT_PICTURES"):
        width = (editor.page.viewport_size or {})["width"]
        path = Path(folder) / f"enrolment-{name}-{width}.png"
        editor.page.screenshot(path=path, full_page=True)


@pytest.mark.parametrize("width", [1440, 1024])
def test_the_seeds_enrolment_check_from_empty_to_published(
    page: Page, study: Any, width: int
) -> None:
    editor = built(page, study, width)
    tries(editor)
    page.locator("[name=_continue]").click()
    page.wait_for_url("**/change/")
    skill = Skill.objects.get(skill_type="qc_process:enrolment")
    nodes = skill.config["nodes"]
    assert skill.config["start_node"] == HARD
    rules = nodes[HARD]["rules"]
    assert [(one["field"], one["logic"], one["message"]) for one in rules] == [*RULES]
    assert (nodes[SOFT]["instruction"], nodes[SOFT]["on_pass"]) == (HISTORY, TELL)
    assert (nodes[HARD]["on_fail"], nodes[SOFT]["on_fail"]) == ("ask", "ask")
    for name in BREAKS:
        BREAKS[name](editor, skill.config)
        look(editor, name.replace(" ", "-"))
        editor.undo_to(skill.config)
        editor.checked()
        expect(page.locator("#skill-check .iit-fine")).to_be_visible()
    skill.refresh_from_db()
    assert skill.version == 1


def tries(editor: Editor) -> None:
    """What is not saved yet is walked over a subject; the way is lit, and told for each node."""
    editor.page.fill("#sop-subject", "P999")
    editor.page.locator("[data-try]").click()
    expect(editor.root.locator("[data-tried] [role=alert]")).to_be_visible()
    assert editor.classes("is-lit") == []
    editor.page.fill("#sop-subject", SITE_A)
    editor.page.keyboard.press("Enter")
    steps = editor.root.locator("[data-tried] [data-node]")
    expect(steps.first).to_have_attribute("data-node", HARD)
    told = steps.evaluate_all("all => all.map(one => [one.dataset.node, one.dataset.edge])")
    lit = editor.classes("is-lit")
    look(editor, "tried")
    assert {key for key, _edge in told} <= {*lit}
    assert f"{told[0][0]} {told[0][1]}" in lit
    assert not TaskRun.objects.exists()


def no_start(editor: Editor, config: Any) -> None:
    editor.page.locator("#id_config_json").fill(json.dumps(config | {"start_node": "nowhere"}))
    expect(editor.root.locator("[data-part=whole] li")).to_contain_text("nowhere")


def missing_target(editor: Editor, config: Any) -> None:
    wrong = copy.deepcopy(config)
    wrong["nodes"][SOFT]["on_pass"] = "nowhere"
    editor.page.locator("#id_config_json").fill(json.dumps(wrong))
    expect(editor.root.locator(f"[data-key={SOFT}].is-bad")).to_have_count(1)
    assert "nowhere" in editor.classes("is-missing")
    reads(editor, SOFT, "nowhere")


def unknown_field(editor: Editor, _config: Any) -> None:
    editor.open(HARD)
    editor.row("field").first.fill("no_such_field")
    reads(editor, HARD, "no_such_field")


def doubled_rule(editor: Editor, _config: Any) -> None:
    editor.open(HARD)
    editor.row("id").nth(0).fill("EL01")
    editor.row("id").nth(1).fill("EL01")
    reads(editor, HARD, "EL01")


def circle(editor: Editor, _config: Any) -> None:
    editor.open(SOFT)
    editor.row("on_pass").select_option(HARD)
    editor.row("on_fail").select_option(HARD)
    editor.open(HARD)
    editor.row("on_fail").select_option(SOFT)
    reads(editor, HARD, HARD)
    editor.checked()
    assert {HARD, SOFT} <= {*editor.classes("is-bad")}


def reads(editor: Editor, key: str, word: str) -> None:
    """What is wrong is read in the form of its node, which is marked in drawing and list."""
    editor.open(key)
    said = editor.form.locator("[data-errors] li.iit-error").filter(has_text=word)
    expect(said.first).to_be_visible()
    assert key in editor.classes("is-bad")


BREAKS: dict[str, Callable[[Editor, Any], None]] = {
    "no start": no_start,
    "a missing target": missing_target,
    "an unknown field": unknown_field,
    "two rules of one name": doubled_rule,
    "a circle": circle,
}


def test_nodes_are_renamed_moved_removed_and_all_of_it_taken_back(page: Page, study: Any) -> None:
    skill = Skill.objects.get(project=study.project, skill_type="qc_process")
    log_in(page, study, "admin")
    page.goto(f"/admin/skills/skill/{skill.pk}/change/")
    editor, old = Editor(page), skill.config
    start = old["start_node"]
    editor.open(start)
    name = editor.form.locator("input").first
    name.fill("first_look")
    name.press("Tab")
    renamed = editor.config()
    assert renamed["start_node"] == "first_look"
    assert next(iter(renamed["nodes"])) == "first_look"
    assert start not in json.dumps(renamed)
    x, y = editor.place("first_look")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 5, steps=5)
    page.mouse.up()
    assert editor.place("first_look")[0] == pytest.approx(x + 60, abs=3)
    assert editor.config() == renamed
    editor.form.get_by_role("button", name="移除").last.click()
    assert "first_look" not in json.dumps(editor.config())
    editor.root.locator("[data-do=undo]").click()
    assert editor.config() == renamed
    editor.root.locator("[data-do=undo]").click()
    assert editor.config() == old
    for _step in range(2):
        editor.root.locator("[data-do=redo]").click()
    assert "first_look" not in json.dumps(editor.config())
    editor.undo_to(old)
    skill.refresh_from_db()
    assert skill.config == old


def test_a_change_is_read_planned_and_an_older_version_opened(page: Page, study: Any) -> None:
    skill = Skill.objects.get(project=study.project, skill_type="qc_process")
    log_in(page, study, "admin")
    address = f"/admin/skills/skill/{skill.pk}/change/"
    page.goto(address)
    editor, old = Editor(page), skill.config
    editor.open("history_check")
    editor.row("threshold").fill("0.85")
    diff = page.locator("[data-test=diff]")
    expect(diff).to_contain_text("0.85")
    expect(diff.locator("li.is-changed")).to_have_count(1)
    page.fill("#id_effective_on", "2031-01-01")
    page.locator("[name=_continue]").click()
    expect(page.locator("[data-test=draft]")).to_contain_text("2031-01-01")
    assert SkillDraft.objects.get().config["nodes"]["history_check"]["threshold"] == 0.85
    assert Skill.objects.get(pk=skill.pk).config == old
    page.fill("#id_effective_on", "")
    page.locator("[name=_continue]").click()
    expect(page.locator("[data-test=draft]")).to_have_count(0)
    assert Skill.objects.get(pk=skill.pk).version == 2
    page.get_by_role("link", name="历史版本").click()
    page.get_by_role("link", name="在编辑器中打开此版本").last.click()
    page.wait_for_url("**?version=1")
    assert editor.config() == old
    expect(diff.locator("del")).to_contain_text("0.85")
    page.locator("[name=_save]:not([aria-hidden])").click()
    page.wait_for_url("**/skill/")
    again = Skill.objects.get(pk=skill.pk)
    assert (again.version, again.config) == (3, old)
