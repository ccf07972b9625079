"""The rule builder's addresses: fields to choose from, and a rule told back with examples (part N, 1)."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from projects.models import Member, Project
from skills.models import FieldMapping, Skill
from skills.services import save_skill
from study import dictionary
from study.blinding import services as blinding
from study.models import BlindedField, Dictionary
from tests.console.conftest import CONFIG
from tests.support.study import Study

pytestmark = pytest.mark.django_db
RULE, OFFER = "/admin/skills/skill/rule/", "/admin/skills/skill/offer/"
AGE = {"field": "age_calculated", "logic": {">=": [{"var": "age_calculated"}, 18]}, "message": "x"}


def asked(client: Client, url: str, **body: Any) -> Any:
    return client.post(url, json.dumps(body), content_type="application/json")


def told(client: Client, study: Study, rule: Any) -> Any:
    return asked(client, RULE, project=str(study.project.pk), rule=rule)


def offer(client: Client, study: Study) -> Any:
    return asked(client, OFFER, project=str(study.project.pk)).json()


def blind(study: Study) -> None:
    row = BlindedField(field="alt", kind="lab")
    blinding.switch_on(project=study.project, fields=[row], actor="test")
    study.project.refresh_from_db()


def test_a_rule_is_told_in_words_with_an_example_of_each_kind(
    as_user: Callable[..., Client], study: Study
) -> None:
    before = Skill.objects.count()
    found = told(as_user("admin", "zh-hans"), study, AGE).json()
    assert found["words"] == "年龄 ≥ 18"
    assert [one["kind"] for one in found["table"]["kinds"]] == ["PASS", "FAIL", "UNKNOWN"]
    [row] = found["table"]["rows"]
    assert (row["label"], row["cells"]) == ("年龄", ["18", "17", "未填写"])
    assert found["problems"] == found["notes"] == []
    assert Skill.objects.count() == before


@pytest.mark.full
def test_choices_are_told_by_their_labels_and_mapped_names_by_their_fields(
    as_user: Callable[..., Client], study: Study
) -> None:
    FieldMapping.objects.update_or_create(
        project=study.project, alias_name="gender", defaults={"actual_name": "sex"}
    )
    rule = AGE | {"logic": {"in": [{"var": "gender"}, ["2"]]}}
    found = told(as_user("admin", "zh-hans"), study, rule).json()
    [row] = found["table"]["rows"]
    assert row["name"] == "sex"
    assert row["cells"] == ["女", "男", "未填写"]


@pytest.mark.parametrize(
    ("rule", "part"),
    [
        ({"logic": {">=": [{"var": "no_such"}, 1]}}, "no_such"),
        ({"logic": {">=": [{"var": "age_calculated"}, "many"]}}, "many"),
        ({"logic": {">=": [{"var": "age_calculated"}, {"var": ""}]}}, "still to be chosen"),
        ({"logic": {"and": []}}, "and"),
        ({"field": "no_such"}, "no_such"),
        ({"logic": {"across_events": ["never", {"==": [{"var": "sex"}, "1"]}]}}, "never"),
    ],
)
def test_what_is_wrong_is_said_in_words(
    rule: Any, part: str, as_user: Callable[..., Client], study: Study
) -> None:
    answer = told(as_user("admin"), study, AGE | rule)
    assert answer.status_code == 200
    assert part in " ".join(one["message"] for one in answer.json()["problems"])


@pytest.mark.parametrize(
    "body",
    ["", "[" * 100_000, "[]", "{}", '{"rule": []}', '{"rule": {"field": 5}, "project": "PROJECT"}'],
)
def test_what_is_no_rule_is_refused_in_words(
    body: str, as_user: Callable[..., Client], study: Study
) -> None:
    body = body.replace("PROJECT", str(study.project.pk))
    answer = as_user("admin").post(RULE, body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["problem"]


@pytest.mark.full
def test_a_logic_of_any_shape_is_answered(as_user: Callable[..., Client], study: Study) -> None:
    deep: Any = True
    for _level in range(200):
        deep = {"!": [deep]}
    client = as_user("admin")
    for logic in (None, [], 5, "x", {}, {"var": []}, {"and": [1, "2"]}, {"in": [[], []]}, deep):
        assert told(client, study, AGE | {"logic": logic}).status_code == 200, logic


@pytest.mark.parametrize("who", ["zhangyi", "wanghushi", "auditor", "charlie"])
def test_only_who_may_write_workflows_is_answered(
    who: str, as_user: Callable[..., Client], study: Study
) -> None:
    client = as_user(who)
    assert told(client, study, AGE).status_code == 403
    assert asked(client, OFFER, project=str(study.project.pk)).status_code == 403
    assert as_user("admin").get(RULE).status_code == as_user("admin").get(OFFER).status_code == 405


def test_another_study_is_not_looked_into(as_user: Callable[..., Client], study: Study) -> None:
    other = Project.objects.create(code="OTHER-1", name="Another study", start_date="2026-01-01")
    Member.objects.create(project=other, person=study["zhangyi"].person, role="ADMIN")
    client = as_user("zhangyi")
    assert told(client, study, AGE).status_code == 403
    assert asked(client, OFFER, project=str(study.project.pk)).status_code == 403
    assert asked(client, OFFER, project="no uuid").status_code == 403
    assert asked(client, OFFER, project=str(other.pk)).json()["unread"] is True
    assert asked(client, RULE, project=str(other.pk), rule=AGE).status_code == 400
    assert asked(client, OFFER, project="").json().keys() == {"texts"}


def test_a_form_without_its_token_is_refused(study: Study, as_user: Callable[..., Client]) -> None:
    client = as_user("admin")
    client.handler.enforce_csrf_checks = True
    assert told(client, study, AGE).status_code == 403


def test_fields_are_offered_with_type_choices_and_visits(
    as_user: Callable[..., Client], study: Study
) -> None:
    found = offer(as_user("admin", "zh-hans"), study)
    fields = {one["name"]: one for one in found["fields"]}
    assert fields["sex"]["kind"] == "choice"
    assert fields["sex"]["choices"] == [["1", "男"], ["2", "女"]]
    assert fields["exclusion"]["kind"] == "ticks"
    assert fields["exclusion"]["boxes"]["exclusion___1"] == "1"
    assert {fields[one]["kind"] for one in ("alt", "icf_date", "medical_history_text")} == {
        *("number", "date", "text")
    }
    assert found["forms"]["visit_v1"]["events"] == ["v1_arm_1"]
    assert {*found["operators"]} == {name for names in found["kinds"].values() for name in names}


@pytest.mark.full
def test_what_identifies_or_unblinds_is_not_offered(
    as_user: Callable[..., Client], study: Study
) -> None:
    admin = as_user("admin")
    names = {one["name"] for one in offer(admin, study)["fields"]}
    closed = dictionary.load(study.project).identifier_fields
    assert {"subject_name", "birth_date"} <= closed
    assert not names & closed
    assert "alt" in names
    blind(study)
    assert "alt" not in {one["name"] for one in offer(admin, study)["fields"]}


def test_a_rule_on_a_field_that_unblinds_is_not_told_to_the_blinded(
    as_user: Callable[..., Client], study: Study
) -> None:
    blind(study)
    rule = AGE | {"logic": {"<": [{"var": "alt"}, 40]}}
    answer = told(as_user("admin"), study, rule)
    assert answer.status_code == 400
    assert "unblinds" in answer.json()["problem"]
    assert told(as_user("admin"), study, AGE).status_code == 200


@pytest.mark.full
def test_no_list_of_names_tells_the_blinded_of_a_field_that_unblinds(
    as_user: Callable[..., Client], study: Study
) -> None:
    """The box of mappings, proposals, drafts of forms, and the nearest names of a wrong one."""
    admin, project = as_user("admin"), str(study.project.pk)
    base = "/admin/skills"

    def seen() -> list[bool]:
        wrong = {"project": project, "alias_name": "a", "actual_name": "altt"}
        lines = {"project": study.project.code, "text": "a\taltt"}
        pages = [
            [name for name, _label in admin.get(f"{base}/fieldmapping/").context["known_fields"]],
            [one.field for one in admin.get(f"{base}/fieldmapping/propose/").context["rows"]],
            [
                name
                for draft in admin.get(f"{base}/formtemplate/match/").context["drafts"]
                for name in draft.field_schema
            ],
            admin.post(f"{base}/fieldmapping/add/", wrong).content.decode().split("Nearest")[1],
            admin.post(f"{base}/fieldmapping/lines/", lines).content.decode().split("Nearest")[1],
        ]
        parts = [re.findall(r"\w+", one) if isinstance(one, str) else one for one in pages]
        return ["alt" in part for part in parts]

    assert seen() == [True] * 5
    blind(study)
    assert seen() == [False] * 5
    taken = {"project": study.project.code, "alias": ["gpt"]}
    admin.post(f"{base}/fieldmapping/propose/", taken)
    assert not FieldMapping.objects.filter(actual_name="alt").exists()


@pytest.mark.full
def test_what_a_version_changes_is_told_to_the_blinded_as_it_is_written(
    as_user: Callable[..., Client], study: Study
) -> None:
    config: dict[str, Any] = copy.deepcopy(CONFIG)
    [rule] = config["nodes"]["check"]["rules"]
    rule |= {"field": "alt", "logic": {"<": [{"var": "alt"}, 40]}}
    skill = Skill(project=study.project, skill_type="qc_process:blinded", name="B", config=config)
    save_skill(skill=skill, actor="test")
    later = copy.deepcopy(config)
    later["nodes"]["check"]["rules"][0]["logic"] = {"<": [{"var": "alt"}, 41]}
    skill.config = later
    save_skill(skill=skill, actor="test")
    label, admin = dictionary.load(study.project).label("alt"), as_user("admin")
    body = {"config": json.dumps(config), "project": str(study.project.pk), "skill": skill.pk}

    def told() -> list[bool]:
        checked = admin.post("/admin/skills/skill/check/", body).content.decode()
        page = admin.get(f"/admin/skills/skill/{skill.pk}/change/").content.decode()
        assert "41" in checked.partition('data-test="diff"')[2]
        return [label in checked, label in page]

    assert told() == [True, True]
    blind(study)
    assert told() == [False, False]


@pytest.mark.full
def test_a_study_whose_dictionary_was_never_read_is_told_so(
    as_user: Callable[..., Client], study: Study
) -> None:
    Dictionary.objects.filter(project=study.project).update(digest="")
    answer = told(as_user("admin"), study, AGE)
    assert answer.status_code == 400
    assert "dictionary" in answer.json()["problem"]
    assert offer(as_user("admin"), study)["unread"] is True
