"""A wrong schedule, time zone or blinded field is refused where it is typed, with the nearest right ones."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.test import Client
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from core.house import cron
from core.house.validators import validate_timezone
from memory.models import WeeklyReport
from projects import services
from projects.models import Project
from skills.models import Skill
from study.models import BlindedField
from tests.console.test_new_study import change, skill
from tests.support.study import Study

Login = Callable[..., Client]
SCHEDULES = [
    ("0 25 * * *", "hour", "0 23 * * *"),
    ("61 9 * * *", "minute", "59 9 * * *"),
    ("0 9 32 * *", "day of the month", "0 9 31 * *"),
    ("0 9 * 13 *", "month", "0 9 * 12 *"),
    ("0 9 * * 9", "weekday", "0 9 * * 7"),
    ("0 30 9 * * ?", "five fields", "30 9 * * *"),
    ("09:30", "five fields", "30 09 * * *"),
    ("0 9", "five fields", "0 9 * * *"),
    ("every day", "five fields", "0 9 * * *"),
    ("", "five fields", "0 9 * * *"),
]


@pytest.mark.parametrize(("wrong", "why", "near"), SCHEDULES)
def test_a_wrong_schedule_names_its_field_and_the_nearest(wrong: str, why: str, near: str) -> None:
    with translation.override("en"), pytest.raises(ValidationError) as refused:
        cron.parse_cron(wrong)
    told, _sep, nearest = refused.value.messages[0].partition("Nearest: ")
    assert why in told
    assert [int(a) if a.isdecimal() else a for a in nearest.split("、")[0].split()] == [
        int(a) if a.isdecimal() else a for a in near.split()
    ]
    for one in nearest.split("、"):
        cron.parse_cron(one)


@pytest.mark.parametrize("right", ["0 9 * * *", "*/15 8-18 * * mon-fri", "0,30 9 1,15 * *"])
def test_a_right_one_passes(right: str) -> None:
    cron.parse_cron(right)


@given(st.text(alphabet="0123456789*/-,:? a日", max_size=24))
def test_whatever_is_typed_is_right_or_told_what_is(typed: str) -> None:
    with translation.override("en"):
        try:
            cron.parse_cron(typed)
        except ValidationError as refused:
            for one in refused.messages[0].rpartition("Nearest: ")[2].split("、"):
                cron.parse_cron(one)


@pytest.mark.full
def test_a_skill_says_it_in_the_readers_language(as_user: Login, study: Study) -> None:
    values = skill(study, trigger_type="cron", cron_schedule="0 25 * * *")
    typed = values | {"config": json.dumps(values["config"])}
    page = as_user("admin", "zh-hans").post("/admin/skills/skill/add/", typed)
    [told] = page.context["adminform"].form.errors["cron_schedule"]
    assert "小时" in told
    assert "0 23 * * *" in told
    assert "Invalid" not in told
    sent = as_user("admin").post(
        "/api/v1/skills/", values | {"project": study.project.code}, "application/json"
    )
    assert "0 23 * * *" in str(sent.json()["errors"]["cron_schedule"])
    assert not Skill.objects.filter(skill_type="x").exists()


@pytest.mark.full
@pytest.mark.parametrize(
    ("wrong", "near"),
    [
        ("asia/shanghai", "Asia/Shanghai"),
        ("Shanghi", "Asia/Shanghai"),
        ("New York", "America/New_York"),
        ("Asia/Beijing", "Asia/Shanghai"),
        ("UTC+8", "Asia/Shanghai"),
    ],
)
def test_a_wrong_zone_names_the_nearest(
    as_user: Login, study: Study, wrong: str, near: str
) -> None:
    answer = change(as_user("admin", "zh-hans"), study.project, timezone=wrong)
    [told] = answer.context["adminform"].form.errors["timezone"]
    assert near in told.partition("最接近的")[2]
    assert "Etc/" not in told
    study.project.refresh_from_db()
    assert study.project.timezone == "Asia/Shanghai"
    validate_timezone(near)
    assert change(as_user("admin"), study.project, timezone=near).status_code == 302


def test_a_wrong_blinded_field_keeps_what_was_typed(as_user: Login, study: Study) -> None:
    url = f"/admin/projects/project/{study.project.pk}/blinding/"
    typed: dict[str, Any] = {
        "do": "fields",
        "field": ["ecog_scor"],
        "kind": [BlindedField.Kind.values[0]],
        "words": ["甲药"],
    }
    answer = as_user("admin", "zh-hans").post(url, typed)
    page = answer.content.decode()
    assert answer.status_code == 200
    assert "ecog_score" in page
    assert 'value="ecog_scor"' in page
    assert ">甲药</textarea>" in page
    assert not BlindedField.objects.exists()


@pytest.mark.parametrize("days", [14, pytest.param(-7, marks=pytest.mark.full)])
def test_the_start_date_stays_once_a_week_has_its_report(
    study: Study, as_user: Login, days: int
) -> None:
    """Another one gave every report the dates of another week, and weeks without a report."""
    project = study.project
    stands, moved = project.start_date, project.start_date + timedelta(days=days)
    said = {"en": "count their weeks from it", "zh-hans": "已有的周报按它划分各周"}
    for language, told in said.items():
        answer = change(as_user("admin", language), project, start_date=moved.isoformat())
        assert told in answer.content.decode()
    project.start_date = moved
    with pytest.raises(ValidationError) as refused:
        services.save_project(project=project, actor="admin")
    assert list(refused.value.message_dict) == ["start_date"]
    assert Project.objects.get(pk=project.pk).start_date == stands
    project.start_date = stands
    services.save_project(project=project, actor="admin")
    WeeklyReport.objects.filter(project=project).delete()
    assert change(as_user("admin"), project, start_date=moved.isoformat()).status_code == 302
    assert Project.objects.get(pk=project.pk).start_date == moved
