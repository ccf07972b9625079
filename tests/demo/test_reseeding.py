"""`make run` on a house that a former demo seeded: its workflows follow, what a person changed stays."""

from __future__ import annotations

from typing import Any

import pytest

from demo import seed
from skills.models import Skill
from skills.services import delete_skill, save_skill
from tests.support.study import Study

pytestmark = pytest.mark.django_db


def former(kind: str) -> dict[str, Any]:
    """Makes a workflow what a former demo brought; returns what today's brings."""
    skill = Skill.objects.get(skill_type=kind)
    today: dict[str, Any] = skill.config
    node = next(iter(today["nodes"]))
    nodes = today["nodes"] | {node: today["nodes"][node] | {"description": "of old"}}
    Skill.objects.filter(pk=skill.pk).update(config=today | {"nodes": nodes})
    return today


def again(study: Study) -> None:
    seed.fill(study.project, seed.day(study.run))


def test_an_untouched_workflow_becomes_todays(study: Study) -> None:
    today = former("daily_briefing")
    again(study)
    skill = Skill.objects.get(skill_type="daily_briefing")
    assert (skill.config, skill.version) == (today, 2)
    assert skill.versions.get(version=2).author == seed.ACTOR
    again(study)
    skill.refresh_from_db()
    assert skill.version == 2


def test_what_a_person_changed_stays(study: Study) -> None:
    former("daily_briefing")
    skill = Skill.objects.get(skill_type="daily_briefing")
    skill.cron_schedule = "0 7 * * *"
    save_skill(skill=skill, actor="admin")
    again(study)
    kept = Skill.objects.get(skill_type="daily_briefing")
    assert (kept.cron_schedule, kept.config) == ("0 7 * * *", skill.config)


def test_what_a_person_removed_stays_away(study: Study) -> None:
    delete_skill(skill=Skill.objects.get(skill_type="weekly_report"), actor="admin")
    again(study)
    assert not Skill.objects.filter(skill_type="weekly_report").exists()
