"""Cron skills in beat's schedule: saving, disabling or deleting a skill, and its study, changes it at once."""

from __future__ import annotations

import json
from typing import Any

from django.utils.timezone import now
from django_celery_beat.models import CrontabSchedule, PeriodicTask

from core.house import cron
from projects.models import Project
from skills.models import Skill

FIRE = "engines.tasks.fire_skill"


def name(skill: Skill) -> str:
    """The beat entry of a skill."""
    return f"skill:{skill.pk}"


def sync(skill: Skill) -> bool:
    """Create, change or remove the skill's beat entry; whether an entry that was there is another one now."""
    if skill.trigger_type != Skill.Trigger.CRON or not skill.cron_schedule:
        remove(skill)
        return False
    schedule, _ = CrontabSchedule.objects.get_or_create(
        **_as_celery_reads(skill.cron_schedule), timezone=skill.project.timezone
    )
    enabled = skill.is_active and skill.project.status != Project.Status.CLOSED
    values: dict[str, Any] = {
        "task": FIRE,
        "crontab": schedule,
        "args": json.dumps([str(skill.pk)]),
        "enabled": enabled,
    }
    before = PeriodicTask.objects.filter(name=name(skill)).first()
    is_changed = bool(before) and (before.crontab_id, before.enabled) != (schedule.pk, enabled)
    if is_changed:
        # Beat counts from the last run: a new time of today that has passed would be fired at once.
        values["last_run_at"] = now()
    PeriodicTask.objects.update_or_create(name=name(skill), defaults=values)
    return is_changed


def _as_celery_reads(expression: str) -> dict[str, str]:
    """The fields for celery, which has no Sunday 7 and wants both day fields to match.

    Where either is enough, beat wakes on days that match both; the others are found by
    `engines.tasks.fire_missed_skills` within its minute.
    """
    plan = cron.parse_cron(expression)
    minute, hour, day, month, weekday = expression.split()
    return {
        "minute": minute,
        "hour": hour,
        # Celery refuses what no month has, though the weekdays occur.
        "day_of_month": day if plan.month_has_day else "*",
        "month_of_year": month,
        "day_of_week": ",".join(map(str, plan.day_of_week)) if "7" in weekday else weekday,
    }


def follow(project: Project) -> None:
    """A study was saved: its schedules go by its zone, and a closed one has none.

    What would have been due before the change is not made up for.
    """
    scheduled = Skill.objects.filter(project=project, trigger_type=Skill.Trigger.CRON)
    for skill in scheduled.select_related("project"):
        if sync(skill):
            Skill.objects.filter(pk=skill.pk).update(updated_at=now())


def remove(skill: Skill) -> None:
    """Take the skill out of the schedule."""
    PeriodicTask.objects.filter(name=name(skill)).delete()
