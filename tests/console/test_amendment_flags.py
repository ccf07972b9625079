"""What a new protocol version touches is said where the reader works, until somebody has checked it."""

from __future__ import annotations

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from projects.models import AuditEntry
from skills.amendments import mark_checked, to_check
from skills.models import Skill
from skills.validation import validate
from study.models import ProtocolDocument, VisitPlanEntry
from study.protocol.index import import_document

AsUser = Callable[..., Client]
HOME, VISITS = "/admin/", "/admin/study/visitplanentry/"


def flags(client: Client, path: str) -> str:
    """The panel of flags of a page, "" where it has none."""
    answer = client.get(path)
    assert answer.status_code == 200
    found = re.search(
        r'data-test="flags">(.*?)</section>', html.unescape(answer.content.decode()), re.DOTALL
    )
    return found[1] if found else ""


def agenda(client: Client) -> str:
    """The row of the first page that says what is to be checked, "" where nothing is."""
    page = html.unescape(client.get(HOME).content.decode())
    found = re.search(r'<li data-test="amendments">(.*?)</li>', page, re.DOTALL)
    return found[1] if found else ""


@pytest.fixture
def pages(study: Any) -> dict[str, str]:
    """The pages that a flag of a rule, or of a window, stands on."""
    skill = Skill.objects.get(project=study.project, skill_type="qc_process")
    touched = VisitPlanEntry.objects.get(project=study.project, visit="V4", arm="")
    other = Skill.objects.get(project=study.project, skill_type="qc_process:ae")
    return {
        "rule": f"/admin/skills/skill/{skill.pk}/change/",
        "window": f"{VISITS}{touched.pk}/change/",
        "windows": VISITS,
        "study": f"/admin/projects/project/{study.project.pk}/change/",
        "other": f"/admin/skills/skill/{other.pk}/change/",
    }


@pytest.fixture
def amended(study: Any) -> ProtocolDocument:
    old = ProtocolDocument.objects.get(project=study.project, name__contains="研究方案")
    text = old.text.replace("18～75 周岁", "18～80 周岁").replace("Day 84±7", "Day 84±3")
    return import_document(study.project, old.name, text, version="V9")


@pytest.mark.full
def test_without_a_new_version_nothing_is_flagged(as_user: AsUser, pages: dict[str, str]) -> None:
    client = as_user("admin", "zh-hans")
    assert [flags(client, path) for path in pages.values()] == [""] * len(pages)
    assert agenda(client) == ""


@pytest.mark.full
def test_a_flag_stands_on_its_page_and_leads_to_where_it_is_settled(
    as_user: AsUser, pages: dict[str, str], amended: ProtocolDocument
) -> None:
    client = as_user("admin", "zh-hans")
    there = f"/admin/study/protocoldocument/{amended.pk}/touches/"
    told = flags(client, pages["rule"])
    assert f'href="{there}#rules"' in told
    assert "V9" in told
    assert "<strong>EL02</strong>" in told
    assert "V4" not in told
    for name in ("window", "windows", "study"):
        told = flags(client, pages[name])
        assert f'href="{there}#windows"' in told, name
        assert "V4 (Day 84 -7/+7)" in told, name
        assert "EL02" not in told, name
    assert flags(client, pages["other"]) == ""
    row = agenda(client)
    assert f'href="{there}"' in row
    assert amended.name in row

    waiting = int(re.sub(r"\D", "", row.rpartition("iit-figure")[2]))
    keys = re.findall(r'name="kind" value="(\w+)"><input[^>]*name="key" value="([^"]+)"',
                      client.get(there).content.decode())  # fmt: skip
    assert len(keys) == waiting > 1
    for kind, key in keys:
        client.post(there, {"kind": kind, "key": html.unescape(key)})
    assert AuditEntry.objects.filter(action="document.checked").count() == waiting
    assert [flags(client, path) for path in pages.values()] == [""] * len(pages)
    assert agenda(client) == ""


def test_rules_that_nobody_named_are_settled_one_by_one(
    as_user: AsUser, pages: dict[str, str], amended: ProtocolDocument
) -> None:
    """Two rules without an id, and one of the same id in another node, are four places with their node."""
    skill = Skill.objects.get(project=amended.project, skill_type="qc_process")
    cited = next(one for one in to_check(amended) if one.rule == "EL02")
    rules = next(node["rules"] for node in skill.config["nodes"].values() if "rules" in node)
    section = next(rule["section"] for rule in rules if rule.get("id") == "EL02")
    rule = {"field": "age", "logic": True, "message": "x", "section": section}
    node = {"type": "hard_rule", "rules": [rule, rule, rule | {"id": "EL02"}], "section": section}
    long = {"n" * 120: node, "n" * 119 + "m": node}
    skill.skill_type = "qc_process:" + "t" * 80
    skill.config = {"nodes": {"a": node, **long}}
    Skill.objects.filter(pk=skill.pk).update(skill_type=skill.skill_type, config=skill.config)
    touched = [one for one in to_check(amended) if one.skill == skill]
    keys = {one.key for one in touched}
    assert len(keys) == len(touched) == 12
    assert max(map(len, keys)) <= 250
    assert [one.rule for one in touched][:4] == ["a", "a", "a", "EL02"]
    assert cited.key not in keys
    mark_checked(document=amended, kind="rule", key=touched[1].key, actor="admin")
    left = [one.key for one in to_check(amended) if one.skill == skill]
    assert left == [one.key for one in touched if one is not touched[1]]


def test_a_reader_sees_the_flag_and_cannot_settle_it(
    as_user: AsUser, pages: dict[str, str], amended: ProtocolDocument
) -> None:
    client = as_user("zhangyi", "zh-hans")
    assert "V4" in flags(client, pages["windows"])
    assert agenda(client) == ""
    there = f"/admin/study/protocoldocument/{amended.pk}/touches/"
    assert 'name="key"' not in client.get(there).content.decode()
    assert flags(as_user("charlie"), HOME) == ""


@pytest.mark.full
def test_a_flag_outlives_the_next_version_until_it_is_checked(
    as_user: AsUser, pages: dict[str, str], amended: ProtocolDocument
) -> None:
    """A later version that touches nothing of it settles nothing; a check holds for later versions, too."""
    client = as_user("admin", "zh-hans")
    keys = re.compile(r'name="kind" value="(\w+)"><input[^>]*name="key" value="([^"]+)"')
    at = "/admin/study/protocoldocument/{}/touches/"
    before = keys.findall(client.get(at.format(amended.pk)).content.decode())
    text = amended.text.replace("研究背景", "研究的背景") + "\n\n订正错字。"
    later = import_document(amended.project, amended.name, text, version="V10")
    assert later.pk != amended.pk
    page = html.unescape(client.get(at.format(later.pk)).content.decode())
    assert keys.findall(page) == before
    # What the version between changed is still shown.
    assert "18～80" in page.partition('data-test="changed"')[2]
    for name, said in (("rule", "EL02"), ("window", "V4 (Day 84"), ("windows", "V4 (Day 84")):
        told = flags(client, pages[name])
        assert said in told, name
        assert "V10" in told, name
    assert at.format(later.pk) in agenda(client)
    assert not AuditEntry.objects.filter(action="document.checked").exists()

    settled = next(one.key for one in to_check(later) if one.rule == "EL02")
    client.post(at.format(later.pk), {"kind": "rule", "key": settled})
    last = import_document(amended.project, amended.name, text + "再订正。", version="V11")
    left = keys.findall(html.unescape(client.get(at.format(last.pk)).content.decode()))
    assert left == [one for one in before if one != ("rule", settled)]
    assert "EL02" not in flags(client, pages["rule"])
    assert "V4 (Day 84" in flags(client, pages["window"])

    # What was checked is to be checked again where a later version changes it once more.
    again = text.replace("18～80 周岁", "18～85 周岁")
    import_document(amended.project, amended.name, again, version="V12")
    assert "EL02" in flags(client, pages["rule"])


def test_a_rule_that_cites_a_section_numbered_in_words_is_flagged(study: Any) -> None:
    """三、 had no number: no rule could cite it, and what changed in it was told to nobody."""
    text = "一、研究背景\n背景。\n\n三、入选标准\n年龄 18 至 75 周岁。\n"
    import_document(study.project, "方案", text, version="V1")
    skill = Skill.objects.get(project=study.project, skill_type="qc_process:ae")
    rule = {"id": "A1", "field": "age", "logic": True, "message": "x"}
    cited = {"B1": "1", "C3": "3", "D33": "3.3"}
    rules = [rule | {"id": name, "section": section} for name, section in cited.items()]
    config = {"start_node": "a", "nodes": {"a": {"type": "hard_rule", "rules": rules}}}
    Skill.objects.filter(pk=skill.pk).update(config=config)
    new = import_document(study.project, "方案", text.replace("75", "80"), version="V2")
    [touched] = [one for one in to_check(new) if one.skill == skill]
    assert (touched.rule, touched.headings) == ("C3", ("三、入选标准",))


def test_a_section_that_no_document_has_is_told_while_its_rule_is_written(study: Any) -> None:
    ProtocolDocument.objects.all().delete()
    rule = {"field": "age_calculated", "logic": True, "message": "x"}
    rules = [rule | {"section": section} for section in ("3", "99", "3.1")]
    soft = {"type": "soft_instruction", "instruction": "x", "section": "99"}
    checked = {"type": "hard_rule", "rules": rules, "on_pass": "b"}
    config = {"start_node": "a", "nodes": {"a": checked, "b": soft}}

    def told() -> list[tuple[str, str]]:
        found = validate(config, study.project)
        assert all(one.is_warning for one in found)
        return [(one.path, one.node) for one in found if one.path.endswith("section")]

    assert told() == []  # no document is in force
    import_document(study.project, "方案", "三、入选标准\n\n3.1 年龄\n18 至 75 周岁。\n")
    assert told() == [("nodes.a.rules.1.section", "a"), ("nodes.b.section", "b")]
