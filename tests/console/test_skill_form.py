"""A workflow is saved only when it is one; what is wrong is said with its place."""

from __future__ import annotations

import html
import json
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from core.house.admin_json import strict_loads
from projects.models import AuditEntry
from skills.models import FieldMapping, FormTemplate, Skill
from tests.console.conftest import CONFIG
from tests.console.test_skill_import import UNFIT

ADD = "/admin/skills/skill/add/"


@pytest.fixture
def form(study: Any) -> dict[str, str]:
    return {
        "project": str(study.project.pk),
        "skill_type": "qc_process:new",
        "name": "New check",
        "trigger_type": "webhook",
        "cron_schedule": "",
        "is_active": "on",
        "config": json.dumps(CONFIG, ensure_ascii=False),
        "versions-TOTAL_FORMS": "0",
        "versions-INITIAL_FORMS": "0",
    }


def saved() -> bool:
    return Skill.objects.filter(skill_type="qc_process:new").exists()


@pytest.mark.full
def test_a_workflow_is_saved(as_user: Callable[..., Client], form: dict[str, str]) -> None:
    assert as_user("admin").post(ADD, form).status_code == 302
    skill = Skill.objects.get(skill_type="qc_process:new")
    assert skill.versions.get().author == "admin"
    page = as_user("wanghushi").get(f"/admin/skills/skill/{skill.pk}/change/").content.decode()
    assert "年龄超出范围" in page


def test_text_that_is_no_json_is_placed(
    as_user: Callable[..., Client], form: dict[str, str]
) -> None:
    page = as_user("admin").post(ADD, form | {"config": '{\n "a": ,}'}).content.decode()
    assert "line 2, column" in page
    assert not saved()


def test_an_edge_into_nothing_is_named(
    as_user: Callable[..., Client], form: dict[str, str]
) -> None:
    broken = json.loads(form["config"])
    broken["nodes"]["check"]["on_fail"] = "nowhere"
    page = as_user("admin").post(ADD, form | {"config": json.dumps(broken)}).content.decode()
    assert "nodes.check.on_fail" in page
    assert not saved()


def test_a_schedule_needs_five_fields(as_user: Callable[..., Client], form: dict[str, str]) -> None:
    bad = form | {"trigger_type": "cron", "cron_schedule": "every day"}
    page = as_user("admin").post(ADD, bad).content.decode()
    assert "cron_schedule" in page
    assert not saved()


def test_deep_json_is_refused(as_user: Callable[..., Client], form: dict[str, str]) -> None:
    answer = as_user("admin").post(ADD, form | {"config": "[" * 100_000 + "]" * 100_000})
    assert answer.status_code == 200
    assert not saved()


@pytest.mark.parametrize("value", UNFIT)
def test_json_that_cannot_be_stored_is_refused_in_words(
    as_user: Callable[..., Client], study: Any, form: dict[str, str], value: str
) -> None:
    client, text = as_user("admin"), form["config"].replace("{", f'{{"x": {value}, ', 1)
    answer = client.post(ADD, form | {"config": text})
    assert answer.status_code == 200
    [told] = answer.context["adminform"].form.errors["config"]
    assert "Extra" not in told, "words of ours, not of a schema"
    body = {"config": text, "project": str(study.project.pk)}
    checked = client.post("/admin/skills/skill/check/", body)
    assert told.partition(":")[0] in html.unescape(checked.content.decode())
    template = {"project": form["project"], "form_name": "ae", "field_schema": f'{{"a": {value}}}'}
    answer = client.post("/admin/skills/formtemplate/add/", template)
    assert answer.status_code == 200
    assert not FormTemplate.objects.exists()


@pytest.mark.parametrize("text", ["[" * 5 + "]" * 5, '"\\u00e9"', "9" * 100, "1e300", "-0.5"])
def test_other_json_is_taken(text: str) -> None:
    assert strict_loads(text) == json.loads(text)


def test_a_skill_that_ran_is_not_deleted(as_user: Callable[..., Client], run_a: Any) -> None:
    url = f"/admin/skills/skill/{run_a.skill_id}/delete/"
    as_user("admin").post(url, {"post": "yes"})
    assert Skill.objects.filter(pk=run_a.skill_id).exists()


def test_mappings_and_templates_leave_a_trail(as_user: Callable[..., Client], study: Any) -> None:
    client, project = as_user("admin"), str(study.project.pk)
    mapping = {"project": project, "alias_name": "height", "actual_name": "height_cm"}
    template = {"project": project, "form_name": "ae", "field_schema": '{"a": 1}', "keywords": "[]"}
    for kind, model, action, given in (
        ("fieldmapping", FieldMapping, "mapping.change", mapping),
        ("formtemplate", FormTemplate, "template.change", template),
    ):
        assert client.post(f"/admin/skills/{kind}/add/", given).status_code == 302, kind
        row = model.objects.latest("created_at")
        client.post(f"/admin/skills/{kind}/{row.pk}/delete/", {"post": "yes"})
        assert not model.objects.filter(pk=row.pk).exists()
        trail = AuditEntry.objects.filter(action=action, object_id=str(row.pk)).order_by("number")
        assert [entry.new is None for entry in trail] == [False, True]
        assert {entry.actor for entry in trail} == {"admin"}


def test_a_mapping_that_another_changed_meanwhile_is_kept(
    as_user: Callable[..., Client], study: Any
) -> None:
    client = as_user("admin")
    row = FieldMapping.objects.create(
        project=study.project, alias_name="height", actual_name="height_cm"
    )
    url = f"/admin/skills/fieldmapping/{row.pk}/change/"
    read = client.get(url).context["adminform"].form["read"].value()
    given = {"alias_name": "height", "actual_name": "weight_kg", "read": read}
    FieldMapping.objects.filter(pk=row.pk).update(actual_name="age")
    assert "has changed meanwhile" in client.post(url, given).content.decode()
    row.refresh_from_db()
    assert row.actual_name == "age"
    again = given | {"read": client.get(url).context["adminform"].form["read"].value()}
    assert client.post(url, again).status_code == 302
    assert 'name="read"' not in as_user("zhangyi").get(url).content.decode()


def test_only_the_administrator_writes(
    as_user: Callable[..., Client], form: dict[str, str]
) -> None:
    for name in ("zhangyi", "wanghushi", "auditor"):
        assert as_user(name).post(ADD, form).status_code == 403
    assert not saved()


NO_STRUCTURE = {
    "field_schema": ["", "null", "[]", "5", '"x"', "{", "[" * 9000],
    "keywords": ["5", "{}", '"x"', "[5]", "[null]", "{"],
}


@pytest.mark.full
def test_a_template_of_another_kind_is_refused(as_user: Callable[..., Client], study: Any) -> None:
    client, url = as_user("admin"), "/admin/skills/formtemplate/add/"
    whole = {"project": str(study.project.pk), "form_name": "ae", "field_schema": '{"a": 1}'}
    for name, wrong in NO_STRUCTURE.items():
        for value in wrong:
            answer = client.post(url, whole | {name: value})
            assert answer.status_code == 200, (name, value[:9])
            assert (answer.status_code, answer.context["adminform"].form.errors.keys()) == (
                200,
                {name},
            )
    assert client.post(url, whole | {"keywords": ""}).status_code == 302
    assert FormTemplate.objects.get().keywords == []
