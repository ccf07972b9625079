"""Skills, mappings, templates and hot memory: who may write, and what stops them (contracts.md, HTTP)."""

from __future__ import annotations

import json
from typing import Any

import pytest
from rest_framework.test import APIClient

from core.house.markdown import LONGEST
from memory.models import ProjectMemory, ProjectMemoryVersion
from projects.models import AuditEntry, Member
from skills.models import FieldMapping, FormTemplate, Skill, SkillVersion
from tests.api.conftest import House, Login
from tests.skills.graphs import SEED_QC, graph, hard, human

MAY_NOT = ["pi", "crc_a", "crc_b", "auditor"]


def problem(answer: Any, status: int) -> dict[str, Any]:
    assert answer.status_code == status, answer.content
    assert answer["Content-Type"] == "application/problem+json"
    content: dict[str, Any] = answer.json()
    assert content["status"] == status
    return content


def new_skill(**fields: Any) -> dict[str, Any]:
    return {
        "project": "ALPHA",
        "skill_type": "qc_process:ae",
        "name": "AE",
        "config": graph(a=hard()),
    } | fields


def test_the_administrator_makes_a_skill(house: House, login: Login) -> None:
    answer = login("chief").post("/api/v1/skills/", new_skill(version=9), format="json")
    assert answer.status_code == 201, answer.content
    content = answer.json()
    assert (content["version"], content["project"], content["trigger_type"]) == (
        1,
        "ALPHA",
        "webhook",
    )
    skill = Skill.objects.get(pk=content["id"])
    assert (skill.version, skill.versions.count()) == (1, 1)
    entry = AuditEntry.objects.exclude(project=None).get()
    assert (entry.actor, entry.action, entry.object_id) == ("chief", "skill.create", content["id"])


def test_the_project_may_be_named_by_its_id(house: House, login: Login) -> None:
    body = new_skill(project=str(house.alpha.pk))
    assert login("chief").post("/api/v1/skills/", body, format="json").json()["project"] == "ALPHA"


def test_a_change_is_a_new_version(house: House, login: Login) -> None:
    skill = house.rows["ALPHA"]["skills"][0]
    path = f"/api/v1/skills/{skill.pk}/"
    config = graph(a=hard(on_fail="b"), b=human())
    answer = login("chief").patch(path, {"config": config}, format="json")
    assert (answer.status_code, answer.json()["version"]) == (200, 2)
    assert SkillVersion.objects.get(skill=skill, version=2).author == "chief"


@pytest.mark.parametrize("resource", ["skills", "field-mappings", "form-templates"])
def test_what_was_made_stays_in_its_study(resource: str, house: House, login: Login) -> None:
    row = house.rows["ALPHA"][resource][0]
    answer = login("root").patch(
        f"/api/v1/{resource}/{row.pk}/", {"project": "BETA"}, format="json"
    )
    assert (answer.status_code, answer.json()["project"]) == (200, "ALPHA")
    row.refresh_from_db()
    assert row.project == house.alpha


@pytest.mark.full
@pytest.mark.parametrize("userid", MAY_NOT)
def test_others_of_the_study_are_forbidden(userid: str, house: House, login: Login) -> None:
    client = login(userid)
    skill, mapping, form = (
        house.rows["ALPHA"][name][0] for name in ("skills", "field-mappings", "form-templates")
    )
    problem(client.post("/api/v1/skills/", new_skill(), format="json"), 403)
    problem(client.patch(f"/api/v1/skills/{skill.pk}/", {"name": "x"}, format="json"), 403)
    body = {"project": "ALPHA", "alias_name": "x", "actual_name": "y"}
    problem(client.post("/api/v1/field-mappings/", body, format="json"), 403)
    problem(
        client.patch(f"/api/v1/field-mappings/{mapping.pk}/", {"alias_name": "x"}, format="json"),
        403,
    )
    body = {"project": "ALPHA", "form_name": "x", "field_schema": {}}
    problem(client.post("/api/v1/form-templates/", body, format="json"), 403)
    problem(
        client.patch(f"/api/v1/form-templates/{form.pk}/", {"form_name": "x"}, format="json"), 403
    )
    assert Skill.objects.get(pk=skill.pk).name == "QC"
    assert not AuditEntry.objects.exclude(project=None).exists()


def test_people_of_other_studies_find_nothing_to_write_to(house: House, login: Login) -> None:
    client = login("other")
    skill = house.rows["ALPHA"]["skills"][0]
    problem(client.patch(f"/api/v1/skills/{skill.pk}/", {"name": "x"}, format="json"), 404)
    content = problem(client.post("/api/v1/skills/", new_skill(), format="json"), 400)
    ghost = problem(client.post("/api/v1/skills/", new_skill(project="GHOST"), format="json"), 400)
    assert str(content["errors"]).replace("ALPHA", "?") == str(ghost["errors"]).replace(
        "GHOST", "?"
    )


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"config": SEED_QC}, {"config"}),
        ({"config": []}, {"config"}),
        ({"config": None}, {"config"}),
        ({"config": {"start_node": "\u0000"}}, {"config"}),
        ({"name": ""}, {"name"}),
        ({"trigger_type": "cron"}, {"cron_schedule"}),
        ({"trigger_type": "cron", "cron_schedule": "daily"}, {"cron_schedule"}),
        ({"trigger_type": "moon"}, {"trigger_type"}),
        ({"trigger_type": "event"}, {"config"}),
        ({"skill_type": None}, {"skill_type"}),
    ],
)
def test_a_bad_skill_is_a_problem_that_names_its_fields(
    fields: dict[str, Any], names: set[str], house: House, login: Login
) -> None:
    content = problem(
        login("chief").post("/api/v1/skills/", new_skill(**fields), format="json"), 400
    )
    assert content["errors"].keys() == names
    assert Skill.objects.count() == 2


def test_a_second_skill_of_a_type_is_a_problem(house: House, login: Login) -> None:
    body = new_skill(skill_type="qc_process")
    problem(login("chief").post("/api/v1/skills/", body, format="json"), 400)


def test_a_second_mapping_of_an_alias_is_a_problem(house: House, login: Login) -> None:
    body = {"project": "ALPHA", "alias_name": "age", "actual_name": "y"}
    problem(login("chief").post("/api/v1/field-mappings/", body, format="json"), 400)


def raw(client: APIClient, path: str, text: str) -> Any:
    return client.post(path, text, content_type="application/json")


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", '"x"', "{'a': 1}", '{"name": NaN}', "\xff"]
)
def test_what_is_no_object_is_a_problem(text: str, house: House, login: Login) -> None:
    problem(raw(login("chief"), "/api/v1/skills/", text), 400)


@pytest.mark.parametrize("depth", [70, 500, 5000, 100_000])
def test_deep_nesting_is_a_problem_not_a_crash(depth: int, house: House, login: Login) -> None:
    logic = '{"!":' * depth + "1" + "}" * depth
    rule = f'{{"field": "age", "logic": {logic}, "message": "m"}}'
    config = f'{{"start_node": "a", "nodes": {{"a": {{"type": "hard_rule", "rules": [{rule}]}}}}}}'
    body = json.dumps(new_skill(config=0)).replace('"config": 0', f'"config": {config}')
    problem(raw(login("chief"), "/api/v1/skills/", body), 400)
    problem(raw(login("chief"), "/api/v1/skills/", "[" * depth + "]" * depth), 400)


def test_mappings_and_templates_are_written_and_audited(house: House, login: Login) -> None:
    client = login("chief")
    body = {"project": "ALPHA", "alias_name": "ecog", "actual_name": "ecog_score"}
    made = client.post("/api/v1/field-mappings/", body, format="json").json()
    answer = client.patch(
        f"/api/v1/field-mappings/{made['id']}/", {"actual_name": "ecog_ps"}, format="json"
    )
    assert (answer.status_code, FieldMapping.objects.get(pk=made["id"]).actual_name) == (
        200,
        "ecog_ps",
    )
    body = {"project": "ALPHA", "form_name": "ae", "field_schema": {"a": 1}, "keywords": ["AE"]}
    made = client.post("/api/v1/form-templates/", body, format="json").json()
    answer = client.patch(f"/api/v1/form-templates/{made['id']}/", {"keywords": []}, format="json")
    assert (answer.status_code, FormTemplate.objects.get(pk=made["id"]).keywords) == (200, [])
    written = AuditEntry.objects.exclude(project=None).order_by("number")
    assert [*written.values_list("action", flat=True)] == [
        "mapping.change",
        "mapping.change",
        "template.change",
        "template.change",
    ]


# --- hot memory


def memory(house: House) -> ProjectMemory:
    found: ProjectMemory = ProjectMemory.objects.get(project=house.alpha)
    return found


def put(client: APIClient, house: House, **body: Any) -> Any:
    return client.put(f"/api/v1/project-memory/{memory(house).pk}/", body, format="json")


@pytest.mark.parametrize("userid", ["pi", "chief"])
def test_pi_and_administrator_edit_hot_memory(userid: str, house: House, login: Login) -> None:
    answer = put(login(userid), house, content="# 常见问题\n- 新", version=1)
    assert answer.status_code == 200, answer.content
    assert (answer.json()["version"], answer.json()["last_updated_by"]) == (2, userid)
    assert memory(house).content == "# 常见问题\n- 新"
    assert ProjectMemoryVersion.objects.get(memory=memory(house)).version == 2
    assert AuditEntry.objects.filter(action="memory.save").count() == 1


@pytest.mark.full
def test_who_read_an_older_version_is_told_what_stands_there_now(
    house: House, login: Login
) -> None:
    assert put(login("pi"), house, content="first", version=1).status_code == 200
    content = problem(put(login("chief"), house, content="second", version=1), 409)
    assert (content["code"], content["current"]) == ("memory_changed", "first")
    assert (memory(house).content, memory(house).version) == ("first", 2)
    assert put(login("chief"), house, content="second", version=2).status_code == 200


@pytest.mark.parametrize("version", [0, 2, 99, -1])
def test_a_version_that_nobody_could_have_read_is_a_conflict(
    version: int, house: House, login: Login
) -> None:
    problem(put(login("pi"), house, content="x", version=version), 409)


def test_without_the_version_nothing_is_saved(house: House, login: Login) -> None:
    assert "version" in problem(put(login("pi"), house, content="x"), 400)["errors"]
    answer = login("pi").patch(
        f"/api/v1/project-memory/{memory(house).pk}/", {"content": "x"}, format="json"
    )
    assert "version" in problem(answer, 400)["errors"]
    assert memory(house).version == 1


@pytest.mark.parametrize("userid", ["crc_a", "crc_b", "auditor"])
def test_others_read_it_only(userid: str, house: House, login: Login) -> None:
    problem(put(login(userid), house, content="x", version=1), 403)


def test_who_does_not_see_every_line_cannot_save(house: House, login: Login) -> None:
    """Else saving would delete the lines that were left out."""
    Member.objects.filter(wecom_userid="pi").update(site="site_a")
    problem(put(login("pi"), house, content="x", version=1), 403)


def test_a_memory_too_long_to_render_is_refused(house: House, login: Login) -> None:
    body = {"content": "[" * (LONGEST + 1), "version": 1}
    client, url = login("chief"), f"/api/v1/project-memory/{memory(house).pk}/"
    content = problem(client.put(url, body, format="json"), 400)
    assert f"一段文字最多 {LONGEST} 个字符。" in content["errors"]["content"]
    assert memory(house).version == 1


def test_strangers_find_no_memory(house: House, login: Login) -> None:
    problem(put(login("other"), house, content="x", version=1), 404)
    problem(login("pi").post("/api/v1/project-memory/", {"content": "x"}, format="json"), 405)


def test_rules_that_no_prompt_could_carry_are_a_problem(house: House, login: Login) -> None:
    text = "# 系统禁令\n" + "\n".join(f"- 第 {n} 条禁令:不得给出诊疗建议" for n in range(400))
    assert "content" in problem(put(login("pi"), house, content=text, version=1), 400)["errors"]
    assert memory(house).version == 1
