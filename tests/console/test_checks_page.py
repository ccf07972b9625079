"""The page of the standard checks: switched on and off, told what they need, tried before."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from demo.planted import CHECKS
from engines.models import PendingAction, TaskRun
from engines.sop.checks.switch import TYPE
from projects.models import AuditEntry
from skills.models import Skill, SkillVersion
from skills.services import save_skill
from skills.validation import validate
from study.models import Dictionary

PAGE = "/admin/engines/pendingaction/checks/"
LAB = {"times": "3", "days": "14", "words": "alt: ALT、转氨酶\nast: AST"}


def ticked(*kinds: str) -> dict[str, str]:
    return {f"on_{kind}": "on" for kind in kinds}


def save(client: Client, given: dict[str, str]) -> Any:
    """What is sent when the page is opened, filled in and saved."""
    read = client.get(PAGE).context["form"]["read"].value() or ""
    return client.post(PAGE, given | {"read": read, "save": "1"})


def checks_of(study: Any) -> dict[str, Any]:
    skill = Skill.objects.get(project=study.project, skill_type=TYPE)
    assert not validate(skill.config, study.project)
    found: dict[str, Any] = skill.config["nodes"]["standard"]["checks"]
    return found


@pytest.mark.full
def test_checks_are_switched_on_and_off_and_audited(
    as_user: Callable[..., Client], study: Any
) -> None:
    client = as_user("admin", "zh-hans")
    page = client.get(PAGE).content.decode()
    assert all(f"on_{kind}" in page for kind in CHECKS)
    for kind in set(CHECKS) - {"prohibited"}:
        assert f'name="on_{kind}" checked' in page, "proposed"
    assert 'name="on_prohibited" checked' not in page
    assert 'data-test="preview"' in page
    assert not Skill.objects.filter(project=study.project, skill_type=TYPE).exists()
    save(client, ticked("required", "lab_ae") | LAB)
    lab = {"times": 3.0, "days": 14, "words": {"alt": ["ALT", "转氨酶"], "ast": ["AST"]}}
    assert checks_of(study) == {"required": {}, "lab_ae": lab}
    named = {"names": "酮康唑\n利福平, 酮康唑", "field": "cm_name"}
    save(client, ticked("prohibited", "calc") | named)
    prohibited = {"names": ["酮康唑", "利福平"], "field": "cm_name"}
    assert checks_of(study) == {"calc": {}, "prohibited": prohibited}
    save(client, {})
    skill = Skill.objects.get(project=study.project, skill_type=TYPE)
    assert (skill.is_active, skill.trigger_type) == (False, "event")
    assert SkillVersion.objects.filter(skill=skill).count() == 2
    made = AuditEntry.objects.filter(action__in=("skill.create", "skill.change"), actor="admin")
    assert made.count() == 3
    assert "酮康唑" in client.get(PAGE).content.decode()


@pytest.mark.full
def test_what_is_wrong_is_told_beside_its_box_and_saves_nothing(
    as_user: Callable[..., Client], study: Any
) -> None:
    client = as_user("admin")
    for given in (
        ticked("prohibited") | {"names": " ", "save": "1"},
        ticked("prohibited") | {"names": "x", "field": "cm_nam", "save": "1"},
        ticked("lab_ae") | {"times": "0", "save": "1"},
        ticked("lab_ae") | LAB | {"words": "altt: ALT", "save": "1"},
        ticked("lab_ae") | LAB | {"words": "alt:", "save": "1"},
        ticked("lab_ae") | LAB | {"words": "alt: ALT\nalt: GPT", "save": "1"},
        ticked("lab_ae") | LAB | {"times": "", "save": "1"},
        ticked("lab_ae") | LAB | {"days": " ", "save": "1"},
        ticked("prohibited") | {"names": "x" * 101, "save": "1"},
        ticked("prohibited") | {"names": ",".join(map(str, range(201))), "save": "1"},
        ticked("ae_medication") | {"ae_medication": "cm_nam", "save": "1"},
        {"preview": "1"},
    ):
        page = client.post(PAGE, given)
        assert page.status_code == 200
        assert 'role="alert"' in page.content.decode(), given
    assert "cm_name" in client.post(PAGE, {"field": "cm_nam", "save": "1"}).content.decode()
    assert not Skill.objects.filter(skill_type=TYPE).exists()


@pytest.mark.full
def test_what_the_page_does_not_show_stays(as_user: Callable[..., Client], study: Any) -> None:
    """The workflow was edited: settings without a box, rules and nodes of its own, another medication field."""
    client = as_user("admin")
    save(client, ticked("required", "lab_ae", "ae_medication", "prohibited") | LAB | {"names": "x"})
    skill = Skill.objects.get(project=study.project, skill_type=TYPE)
    node = skill.config["nodes"]["standard"]
    node["checks"]["lab_ae"] |= {"start": "ae_start", "term": "ae_term"}
    node["checks"]["ae_medication"]["medication"] = "cm_name"
    reports = {"pi": {"field": "ae_start", "hours": 24}}
    node["checks"]["sae_report"] = {"serious": "ae_serious", "code": "1", "reports": reports}
    rule = {"field": "age", "logic": {">": [{"var": "age"}, 1]}, "message": "x"}
    node |= {"rules": [rule], "on_fail": "ask"}
    skill.config["nodes"]["ask"] = {"type": "human_review", "description": "看一下"}
    before = copy.deepcopy(skill.config)
    assert not [one for one in validate(skill.config, study.project) if not one.is_warning]
    save_skill(skill=skill, actor="test")
    form = client.get(PAGE).context["form"]
    shown = {name: str(form[name].value() or "") for name in form.fields if "on_" not in name}
    kinds = ticked("required", "lab_ae", "ae_medication", "prohibited")
    client.post(PAGE, shown | kinds | {"field": "ae_term", "days": "15", "save": "1"})
    skill.refresh_from_db()
    changed = before["nodes"]["standard"]["checks"]
    changed["lab_ae"]["days"], changed["prohibited"]["field"] = 15, "ae_term"
    assert skill.config == before
    save(client, {})
    skill.refresh_from_db()
    assert skill.is_active
    left = skill.config["nodes"]["standard"]
    assert (left["rules"], [*left["checks"]]) == ([rule], ["sae_report"])
    skill.config["nodes"]["mine"] = skill.config["nodes"].pop("standard")
    Skill.objects.filter(pk=skill.pk).update(config=skill.config | {"start_node": "mine"})
    assert "has no node" in save(client, ticked("required")).content.decode()


@pytest.mark.full
def test_what_another_administrator_switched_meanwhile_stays(
    as_user: Callable[..., Client], study: Any
) -> None:
    client = as_user("admin")
    save(client, ticked("required"))
    read = client.get(PAGE).context["form"]["read"].value()
    save(client, ticked("required", "range"))
    for older in (read, ""):
        told = client.post(PAGE, ticked("calc") | {"read": older, "save": "1"}).content.decode()
        assert "Somebody has changed this workflow meanwhile" in told
    assert checks_of(study) == {"required": {}, "range": {}}


@pytest.mark.full
def test_a_preview_shows_what_would_be_found_and_stores_nothing(
    as_user: Callable[..., Client], study: Any
) -> None:
    before = (TaskRun.objects.count(), PendingAction.objects.count())
    given = ticked("lab_ae", "calc", "choice") | LAB | {"preview": "1"}
    page = as_user("admin", "zh-hans").post(PAGE, given)
    found = {(one["record_id"], str(one["rule"])) for one in page.context["shown"]}
    assert {("P016", "检验值远超上限但无不良事件"), ("P017", "计算字段与公式不符")} <= found
    assert {record for record, _rule in found} == {"P016", "P017", "P028"}
    assert (TaskRun.objects.count(), PendingAction.objects.count()) == before
    assert not Skill.objects.filter(skill_type=TYPE).exists()


def test_only_who_administers_the_whole_study_switches(
    as_user: Callable[..., Client], study: Any
) -> None:
    for name in ("wanghushi", "zhangyi", "auditor", "charlie"):
        assert as_user(name).get(PAGE).status_code == 403, name
        assert as_user(name).post(PAGE, ticked("required") | {"save": "1"}).status_code == 403
    assert as_user("admin").get(f"{PAGE}?project=x").status_code == 403
    assert b"pendingaction/checks" not in as_user("wanghushi").get(PAGE[:-7]).content


@pytest.mark.full
def test_a_bound_that_nobody_can_read_is_told_beside_the_check_of_ranges(
    as_user: Callable[..., Client], study: Any
) -> None:
    stored = Dictionary.objects.get(project=study.project)
    rows = {row["field_name"]: row for row in stored.content["metadata"]}
    assert "unread-bounds" not in as_user("admin").get(PAGE).content.decode()
    rows["weight_kg"] |= {"text_validation_min": "40,5", "text_validation_max": "200"}
    stored.digest = "an unreadable bound"
    stored.save()
    page = as_user("admin", "zh-hans").get(PAGE).content.decode()
    told = page.split('data-test="unread-bounds"')[1].split("</details>")[0]
    assert "<code>weight_kg</code>" in told
    assert ("40,5" in told, "200" in told) == (True, False)
