"""Skills in the envelope of seed 002: imported by page and API, refused where wrong, saved as a file."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client

from skills.models import Skill, SkillVersion
from skills.skill_exchange import STANDARD, exported, import_text, standard_rows
from tests.engines.cron.test_printed_skill import PRINTED
from tests.support.study import Study

pytestmark = pytest.mark.django_db
PAGE = "/admin/skills/skill/import/"
UNFIT = [
    *("NaN", "-Infinity", "1e400", "9" * 5000, "9" * 101),
    *(r'"\u0000"', r'"\ud800"', r'[["\udfff"]]', r'{"\u0000": 1}'),
]
API = "/api/v1/skills/import/"


def changed(**more: Any) -> str:
    return json.dumps(json.loads(PRINTED) | more)


@pytest.mark.full
def test_the_page_takes_what_the_seed_prints(as_user: Callable[..., Client], study: Study) -> None:
    before = Skill.objects.get(project=study.project, skill_type="visit_reminder").version
    answer = as_user("admin").post(PAGE, {"project": "LUNG-IIT", "text": PRINTED})
    assert answer.status_code == 302, answer.content.decode()
    skill = Skill.objects.get(project=study.project, skill_type="visit_reminder")
    assert skill.config == json.loads(PRINTED)["config"]
    assert skill.version == before + 1
    assert SkillVersion.objects.filter(skill=skill).count() >= 2


def test_the_api_takes_it_too(as_user: Callable[..., Client], study: Study) -> None:
    body = {"project": "LUNG-IIT", "skills": json.loads(PRINTED)}
    answer = as_user("admin").post(API, body, content_type="application/json")
    assert answer.status_code == 201, answer.content
    (row,) = answer.json()
    assert (row["skill_type"], row["trigger_type"]) == ("visit_reminder", "cron")


@pytest.mark.parametrize(
    ("more", "place"),
    [
        ({"cronSchedule": "99 9 * * *"}, "visit_reminder"),
        ({"triger": "cron"}, "triger"),
        ({"name": ""}, "name"),
        ({"config": []}, "config"),
        ({"triggerType": "sometimes"}, "visit_reminder"),
        ({"skillType": 5}, "skillType"),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_stored(
    study: Study, more: dict[str, Any], place: str
) -> None:
    before = sorted(Skill.objects.values_list("skill_type", "version"))
    sound = changed(skillType="visit_reminder:two")
    with pytest.raises(ValidationError) as error:
        import_text(project=study.project, text=f"[{sound}, {changed(**more)}]", actor="admin")
    assert place in " ".join(error.value.messages)
    assert sorted(Skill.objects.values_list("skill_type", "version")) == before


def test_what_a_text_leaves_out_stays_as_it_is(study: Study) -> None:
    """A workflow that was switched off, with a schedule, is not switched on by a file without either."""
    row = json.loads(PRINTED)
    skill = Skill.objects.get(project=study.project, skill_type=row["skillType"])
    Skill.objects.filter(pk=skill.pk).update(is_active=False, cron_schedule="5 7 * * *")
    given = {name: row[name] for name in ("skillType", "name", "config")}
    (stored,) = import_text(project=study.project, text=json.dumps(given), actor="admin")
    assert (stored.pk, stored.is_active, stored.cron_schedule) == (skill.pk, False, "5 7 * * *")
    assert stored.trigger_type == skill.trigger_type
    fresh = given | {"skillType": "visit_reminder:new"}
    (made,) = import_text(project=study.project, text=json.dumps(fresh), actor="admin")
    assert (made.is_active, made.trigger_type) == (True, "webhook")


def test_two_of_one_type_are_refused(study: Study) -> None:
    one, two = (changed(skillType="visit_reminder:two", name=name) for name in ("a", "b"))
    with pytest.raises(ValidationError, match="visit_reminder:two"):
        import_text(project=study.project, text=f"[{one}, {two}]", actor="admin")
    assert not Skill.objects.filter(skill_type="visit_reminder:two").exists()


@pytest.mark.parametrize("value", UNFIT)
def test_what_cannot_be_stored_is_refused_in_words(
    as_user: Callable[..., Client], study: Study, value: str
) -> None:
    text = changed(skillType="visit_reminder:two").replace(
        '"config": {', f'"config": {{"x": {value}, '
    )
    answer = as_user("admin").post(PAGE, {"project": "LUNG-IIT", "text": text})
    assert answer.status_code == 200
    assert 'role="alert"' in answer.content.decode()


@pytest.mark.full
@pytest.mark.parametrize("text", ["", "{", "[]", "5", "[" * 5000])
def test_a_text_that_holds_no_skill_is_refused(study: Study, text: str) -> None:
    with pytest.raises(ValidationError):
        import_text(project=study.project, text=text, actor="admin")


@pytest.mark.full
def test_the_page_keeps_what_was_typed(as_user: Callable[..., Client], study: Study) -> None:
    answer = as_user("admin").post(PAGE, {"project": "LUNG-IIT", "text": '{"skillType": "mine"}'})
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "&quot;skillType&quot;: &quot;mine&quot;" in page
    assert 'role="alert"' in page


@pytest.mark.parametrize("name", ["wanghushi", "zhangyi"])
def test_only_administrators_import(
    as_user: Callable[..., Client], study: Study, name: str
) -> None:
    client = as_user(name)
    assert client.post(PAGE, {"project": "LUNG-IIT", "text": PRINTED}).status_code == 403
    body = {"project": "LUNG-IIT", "skills": json.loads(PRINTED)}
    assert client.post(API, body, content_type="application/json").status_code == 403


def test_standard_skills_fit_the_study(as_user: Callable[..., Client], study: Study) -> None:
    Skill.objects.filter(project=study.project).delete()
    names = [one.name for one in STANDARD[:5]]
    answer = as_user("admin").post(PAGE, {"project": "LUNG-IIT", "standard": names})
    assert answer.status_code == 302, answer.content.decode()
    types = {one["skillType"] for one in standard_rows(names)}
    assert {*Skill.objects.values_list("skill_type", flat=True)} == types


def test_the_standard_reminder_by_model_is_the_printed_one() -> None:
    assert standard_rows(["visit_reminder_llm"]) == [json.loads(PRINTED)]


def test_a_saved_file_can_be_imported_again(as_user: Callable[..., Client], study: Study) -> None:
    skill = Skill.objects.get(project=study.project, skill_type="qc_process:ae")
    answer = as_user("zhangyi").get(f"/admin/skills/skill/{skill.pk}/export/")
    assert "attachment" in answer["Content-Disposition"]
    assert json.loads(answer.content) == exported(skill)
    (again,) = import_text(project=study.project, text=answer.content.decode(), actor="admin")
    assert (again.pk, again.version) == (skill.pk, skill.version)
