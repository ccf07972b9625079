"""Saving a skill: validated, versioned, audited, in step with beat (issue B; decisions.md, "cron skills")."""

from __future__ import annotations

import copy
import json
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django_celery_beat.models import PeriodicTask

from projects import audit
from projects.models import AuditEntry, Project
from skills import services
from skills.beat import FIRE, name
from skills.models import FieldMapping, Skill, SkillVersion
from skills.validation import validate
from study import dictionary
from tests.house.kit import make_project, together
from tests.skills.graphs import SEED_QC, SEED_REMINDER, graph, hard, human
from tests.support.study import Study

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project()


def saved(
    project: Project, skill_type: str = "qc_process", actor: str = "admin", **fields: Any
) -> Skill:
    values = {"name": "质控", "config": graph(a=hard())} | fields
    return services.save_skill(
        skill=Skill(project=project, skill_type=skill_type, **values), actor=actor
    )


def cron(project: Project, schedule: str | None = "0 9 * * *", **fields: Any) -> Skill:
    values = {"config": SEED_REMINDER, "trigger_type": "cron", "cron_schedule": schedule} | fields
    return saved(project, "visit_reminder", **values)


def beat(skill: Skill) -> PeriodicTask | None:
    found: PeriodicTask | None = PeriodicTask.objects.filter(name=name(skill)).first()
    return found


def versions(skill: Skill) -> list[tuple[int, str]]:
    return [
        (row.version, row.author)
        for row in SkillVersion.objects.filter(skill=skill).order_by("version")
    ]


def refused(skill: Skill) -> set[str]:
    entries = AuditEntry.objects.count()
    with pytest.raises(ValidationError) as caught:
        services.save_skill(skill=skill, actor="admin")
    assert AuditEntry.objects.count() == entries
    return set(caught.value.message_dict)


def test_the_first_version(project: Project) -> None:
    skill = saved(project)
    assert skill.version == 1
    assert versions(skill) == [(1, "admin")]
    entry = AuditEntry.objects.get()
    assert (entry.action, entry.project, entry.object_id) == (
        "skill.create",
        project,
        str(skill.pk),
    )
    assert (entry.old, entry.new["config"]) == (None, skill.config)


def test_a_changed_graph_is_a_new_version_that_keeps_the_old_one(project: Project) -> None:
    skill = saved(project)
    before = copy.deepcopy(skill.config)
    skill.config = graph(a=hard(on_fail="b"), b=human())
    services.save_skill(skill=skill, actor="zhangyi")
    assert Skill.objects.get().version == skill.version == 2
    assert versions(skill) == [(1, "admin"), (2, "zhangyi")]
    assert SkillVersion.objects.get(version=1).config == before
    assert SkillVersion.objects.get(version=2).config == skill.config
    entry = AuditEntry.objects.latest("pk")
    assert (entry.action, entry.old["version"], entry.new["version"]) == ("skill.change", 1, 2)
    assert entry.old["config"] == before


def test_a_changed_name_is_no_new_version_but_an_entry(project: Project) -> None:
    skill = saved(project)
    skill.name = "入组质控"
    services.save_skill(skill=skill, actor="zhangyi")
    assert Skill.objects.get().version == 1
    assert versions(skill) == [(1, "admin")]
    assert AuditEntry.objects.latest("pk").new["name"] == "入组质控"


def test_nobody_sets_the_version_by_hand(project: Project) -> None:
    skill = saved(project)
    skill.version = 40
    services.save_skill(skill=skill, actor="zhangyi")
    assert Skill.objects.get().version == 1


def test_what_is_wrong_is_said_and_nothing_is_stored(project: Project) -> None:
    skill = Skill(project=project, skill_type="qc_process", name="x", config=SEED_QC)
    assert refused(skill) == {"config"}
    assert not Skill.objects.exists()
    assert not SkillVersion.objects.exists()


def test_a_refused_change_leaves_the_old_one(project: Project) -> None:
    skill = saved(project)
    skill.config = SEED_QC
    assert refused(skill) == {"config"}
    stored = Skill.objects.get()
    assert (stored.version, stored.config) == (1, graph(a=hard()))


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"name": ""}, {"name"}),
        ({"skill_type": ""}, {"skill_type"}),
        ({"skill_type": "x" * 101}, {"skill_type"}),
        ({"trigger_type": "moon"}, {"trigger_type"}),
        ({"trigger_type": "cron", "cron_schedule": None}, {"cron_schedule"}),
        ({"trigger_type": "cron", "cron_schedule": "every day"}, {"cron_schedule"}),
        ({"trigger_type": "cron", "cron_schedule": "0 0 31 2 *"}, {"cron_schedule"}),
        ({"trigger_type": "event"}, {"config"}),
        ({"trigger_type": "event", "config": []}, {"config"}),
        ({"trigger_type": "cron", "cron_schedule": "x", "config": {}}, {"config", "cron_schedule"}),
    ],
)
def test_fields_are_checked_too(project: Project, fields: dict[str, Any], names: set[str]) -> None:
    values = {"skill_type": "qc_process", "name": "x", "config": graph(a=hard())} | fields
    assert refused(Skill(project=project, **values)) == names


def test_a_second_skill_of_the_same_type_is_an_error_not_a_crash(project: Project) -> None:
    saved(project)
    assert refused(
        Skill(project=project, skill_type="qc_process", name="x", config=graph(a=hard()))
    )
    assert saved(project, "qc_process:ae").pk
    assert saved(make_project("BETA")).pk


def test_an_event_skill_names_its_event(project: Project) -> None:
    config = graph(a=hard()) | {"event": "record_changed"}
    assert saved(project, trigger_type="event", config=config).pk


def test_warnings_do_not_keep_a_skill_from_being_saved(project: Project) -> None:
    assert saved(project, config=graph(a=hard(), b=human())).pk


def test_a_cron_skill_enters_the_schedule_in_the_zone_of_its_study() -> None:
    skill = cron(make_project(timezone="America/New_York"), "30 8 * * 1-5")
    task = beat(skill)
    assert task is not None
    assert (task.task, task.enabled, json.loads(task.args)) == (FIRE, True, [str(skill.pk)])
    schedule = task.crontab
    assert (schedule.minute, schedule.hour, schedule.day_of_week) == ("30", "8", "1-5")
    assert (schedule.day_of_month, schedule.month_of_year) == ("*", "*")
    assert str(schedule.timezone) == "America/New_York"


def test_editing_disabling_and_deleting_change_the_schedule_at_once(project: Project) -> None:
    skill = cron(project)
    skill.cron_schedule = "0 17 * * *"
    services.save_skill(skill=skill, actor="admin")
    assert PeriodicTask.objects.get(name=name(skill)).crontab.hour == "17"
    skill.is_active = False
    services.save_skill(skill=skill, actor="admin")
    assert not PeriodicTask.objects.get(name=name(skill)).enabled
    skill.is_active = True
    services.save_skill(skill=skill, actor="admin")
    assert PeriodicTask.objects.get(name=name(skill)).enabled
    services.delete_skill(skill=skill, actor="admin")
    assert not PeriodicTask.objects.exists()
    assert AuditEntry.objects.latest("pk").action == "skill.delete"


def test_a_cron_skill_that_becomes_an_order_leaves_the_schedule(project: Project) -> None:
    skill = cron(project)
    skill.trigger_type = "webhook"
    services.save_skill(skill=skill, actor="admin")
    assert beat(skill) is None


def test_beat_is_told_that_the_schedule_changed(project: Project) -> None:
    from django_celery_beat.models import PeriodicTasks

    skill = cron(project)
    first = PeriodicTasks.last_change()
    skill.cron_schedule = "0 17 * * *"
    services.save_skill(skill=skill, actor="admin")
    assert PeriodicTasks.last_change() > first


def test_a_refused_schedule_leaves_the_old_one(project: Project) -> None:
    skill = cron(project)
    skill.cron_schedule = "never"
    assert refused(skill) == {"cron_schedule"}
    task = beat(skill)
    assert task is not None
    assert task.crontab.hour == "9"


def test_a_field_mapping_is_audited_and_unique(project: Project) -> None:
    mapping = FieldMapping(project=project, alias_name="age", actual_name="age_calculated")
    services.save_mapping(mapping=mapping, actor="admin")
    mapping.actual_name = "age_years"
    services.save_mapping(mapping=mapping, actor="zhangyi")
    created, changed = AuditEntry.objects.order_by("number")
    assert (created.old, created.new) == (None, {"alias": "age", "field": "age_calculated"})
    assert (changed.actor, changed.old["field"], changed.new["field"]) == (
        "zhangyi",
        "age_calculated",
        "age_years",
    )
    with pytest.raises(ValidationError):
        services.save_mapping(
            mapping=FieldMapping(project=project, alias_name="age", actual_name="x"), actor="admin"
        )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("P001 质控", "qc_process"),
        ("检查 P001 的不良事件", "qc_process:ae"),
        ("检查 P001 的 AE", "qc_process:ae"),
        ("检查 P001 的严重不良事件", "qc_process:sae"),
    ],
)
def test_which_check_an_order_means(project: Project, text: str, expected: str) -> None:
    """The longest keyword wins (decisions.md, "several QC forms")."""
    saved(project)
    saved(project, "qc_process:ae", config=graph(a=hard()) | {"match": ["不良事件", "ae"]})
    saved(project, "qc_process:sae", config=graph(a=hard()) | {"match": ["严重不良事件"]})
    off = saved(
        project,
        "qc_process:off",
        config=graph(a=hard()) | {"match": ["P001 的严重不良事件"]},
        is_active=False,
    )
    found = services.pick_qc_skill(project, text)
    assert found is not None
    assert (found.skill_type, found.pk != off.pk) == (expected, True)


def test_no_check_is_found_where_none_is(project: Project) -> None:
    saved(make_project("BETA"))
    assert services.pick_qc_skill(project, "质控") is None


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
def test_two_editors_at_once_make_two_versions() -> None:
    project = make_project()
    skill = saved(project)

    def edit(target: str) -> object:
        def run() -> bool:
            mine = Skill.objects.get(pk=skill.pk)
            mine.config = graph(a=hard(on_fail=target))
            services.save_skill(skill=mine, actor=target)
            return True

        return run

    assert together(edit("end_x"), edit("end_y")) == [True, True]  # type: ignore[arg-type]
    assert [version for version, _ in versions(skill)] == [1, 2, 3]
    assert Skill.objects.get().config == SkillVersion.objects.get(version=3).config
    assert [*audit.verify()] == []


def test_another_reading_of_a_rule_is_a_hint_and_keeps_nothing_back(study: Study) -> None:
    dictionary.refresh(study.project)
    node = hard()
    node["rules"][0] |= {"field": "ecog_score", "logic": {"!!": [{"var": "ecog_score"}]}}

    [hint] = validate(graph(a=node), study.project)

    assert (hint.path, hint.is_warning) == ("nodes.a.rules.0.logic", True)
    assert "ecog_score = " in hint.message
    assert "json-logic-qubit" in hint.message
    assert saved(study.project, "qc_process:hint", config=graph(a=node)).version == 1
