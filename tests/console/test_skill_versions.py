"""Two writers of one workflow: the later one overwrites nobody, in console and API."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from skills.models import Skill
from skills.services import SkillChanged, save_skill
from tests.support.study import Study

pytestmark = pytest.mark.django_db


def form(client: Client, skill: Skill) -> dict[str, Any]:
    """The page's fields as they were when it was opened."""
    page = client.get(f"/admin/skills/skill/{skill.pk}/change/").content.decode()
    found = re.search(r'name="read_at" value="([^"]*)"', page)
    assert found
    return dict(re.findall(r'name="([\w-]+_FORMS)" value="(\d+)"', page)) | {
        "skill_type": skill.skill_type,
        "name": skill.name,
        "is_active": "on",
        "trigger_type": skill.trigger_type,
        "cron_schedule": skill.cron_schedule or "",
        "config": json.dumps(skill.config),
        "read_at": found[1],
    }


@pytest.fixture
def skill(study: Study) -> Skill:
    return Skill.objects.filter(project=study.project, trigger_type="webhook")[0]


@pytest.mark.full
@pytest.mark.parametrize("other", [{"name": "A"}, {"cron_schedule": "", "is_active": False}])
def test_the_later_form_is_refused(
    as_user: Callable[..., Client], skill: Skill, other: dict[str, Any]
) -> None:
    """Variants: what the other changed makes a version or does not."""
    client = as_user("admin")
    fields = form(client, skill)
    theirs = Skill.objects.get(pk=skill.pk)
    for name, value in other.items():
        setattr(theirs, name, value)
    save_skill(skill=theirs, actor="other")
    answer = client.post(f"/admin/skills/skill/{skill.pk}/change/", fields | {"name": "B"})
    assert answer.status_code == 200
    assert Skill.objects.get(pk=skill.pk).name == theirs.name
    again = form(client, Skill.objects.get(pk=skill.pk)) | {"name": "B"}
    assert client.post(f"/admin/skills/skill/{skill.pk}/change/", again).status_code == 302
    assert Skill.objects.get(pk=skill.pk).name == "B"


@pytest.mark.full
def test_a_form_without_the_stamp_is_refused(as_user: Callable[..., Client], skill: Skill) -> None:
    fields = form(as_user("admin"), skill) | {"name": "B"}
    del fields["read_at"]
    as_user("admin").post(f"/admin/skills/skill/{skill.pk}/change/", fields)
    assert Skill.objects.get(pk=skill.pk).name == skill.name


def test_an_older_version_is_a_conflict_in_the_api(
    as_user: Callable[..., Client], skill: Skill
) -> None:
    url, client = f"/api/v1/skills/{skill.pk}/", as_user("admin")

    def send(**body: Any) -> Any:
        return client.patch(url, json.dumps(body), content_type="application/json")

    read = skill.version
    theirs = Skill.objects.get(pk=skill.pk)
    theirs.config = {**theirs.config, "name": "another"}
    save_skill(skill=theirs, actor="other")
    late = send(name="B", version=read)
    assert (late.status_code, late.json()["code"]) == (409, "skill_changed")
    assert send(name="B", version=read + 1).status_code == 200


def test_two_writes_at_once(skill: Skill) -> None:
    first, second = (Skill.objects.get(pk=skill.pk) for _writer in range(2))
    read = {"updated_at": skill.updated_at}
    save_skill(skill=first, actor="a", read=read)
    with pytest.raises(SkillChanged):
        save_skill(skill=second, actor="b", read=read)
