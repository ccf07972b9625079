"""Cron skills in beat's schedule: saving, disabling and deleting a skill changes it at once."""

from __future__ import annotations

import json

from django_celery_beat.models import CrontabSchedule, PeriodicTask

from skills.models import Skill

FIRE = "engines.tasks.fire_skill"


def name(skill: Skill) -> str:
    """The beat entry of a skill."""
    return f"skill:{skill.pk}"


def sync(skill: Skill) -> None:
    """Create, change or remove the skill's beat entry."""
    if skill.trigger_type != Skill.Trigger.CRON or not skill.cron_schedule:
        remove(skill)
        return
    minute, hour, day, month, weekday = skill.cron_schedule.split()
    schedule, _ = CrontabSchedule.objects.get_or_create(
        minute=minute,
        hour=hour,
        day_of_month=day,
        month_of_year=month,
        day_of_week=weekday,
        timezone=skill.project.timezone,
    )
    PeriodicTask.objects.update_or_create(
        name=name(skill),
        defaults={
            "task": FIRE,
            "crontab": schedule,
            "args": json.dumps([str(skill.pk)]),
            "enabled": skill.is_active,
        },
    )


def remove(skill: Skill) -> None:
    """Take the skill out of the schedule."""
    PeriodicTask.objects.filter(name=name(skill)).delete()
