"""Firing cron skills: each due time once, whatever beat and the broker do (decisions.md, "cron skills")."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.utils.timezone import now

from core.house import cron
from core.house.alone import each
from core.house.db import atomic
from core.house.models import CronFiring
from engines.briefing import CONTENTS
from engines.models import TaskRun
from engines.sop.nodes.notify import SCHEDULED
from engines.sop.runs import start
from projects.models import Project
from skills.graph import Graph
from skills.models import Skill

log = logging.getLogger(__name__)

LATE = timedelta(minutes=15)
"""What is later than this was missed and is caught up with, or not, as the skill says."""
MOST = 31


def fire(skill: Skill) -> TaskRun | None:
    """Start a cron skill for its last due time, once, and for earlier ones where `catch_up` is "all".

    None where there is nothing (more) to start.
    """
    if not _is_scheduled(skill):
        return None
    at = now()
    due = _last_due(skill, at)
    if due is None:
        return None
    graph = Graph.model_validate(skill.config)
    if graph.catch_up == "all":
        for missed in _missed(skill, due):
            _once(skill, missed)
    if _is_outdated(graph, due, at):
        with atomic():
            # Settled without a run.
            if cron.claim(job(skill), due):
                log.info("%s of %s was missed and is not caught up with", job(skill), due)
        return None
    return _once(skill, due)


def unfired() -> list[str]:
    """Ids of cron skills whose last due time nobody fired: beat was down, or its message was lost.

    A schedule counts from its last change on: a new skill is not behind.
    """
    scheduled = Skill.objects.filter(is_active=True, trigger_type=Skill.Trigger.CRON)
    behind: list[str] = []

    def look_at(skill: Skill) -> None:
        due = _last_due(skill, now()) if _is_scheduled(skill) else None
        if due is None or due <= skill.updated_at:
            return
        if not CronFiring.objects.filter(job=job(skill), due_at=due).exists():
            behind.append(str(skill.pk))

    each("schedules", scheduled.select_related("project"), look_at)
    return behind


def _is_scheduled(skill: Skill) -> bool:
    is_cron = skill.trigger_type == Skill.Trigger.CRON and bool(skill.cron_schedule)
    return skill.is_active and is_cron and skill.project.status != Project.Status.CLOSED


def _last_due(skill: Skill, at: datetime) -> datetime | None:
    return cron.last_due(skill.cron_schedule or "", zone=skill.project.timezone, at=at)


def job(skill: Skill) -> str:
    """The name under which the firings of a skill are noted."""
    return f"skill:{skill.pk}"


def _missed(skill: Skill, due: datetime) -> list[datetime]:
    """Due times before `due` since the last firing, or since the skill was last changed."""
    fired = CronFiring.objects.filter(job=job(skill), due_at__lt=due)
    last = fired.order_by("-due_at").values_list("due_at", flat=True).first()
    zone, schedule = skill.project.timezone, skill.cron_schedule or ""
    after = max(filter(None, [last, skill.updated_at]))
    return cron.dues(schedule, zone=zone, after=after, before=due, most=MOST)


def _is_outdated(graph: Graph, due: datetime, at: datetime) -> bool:
    """Whether a late firing is none: by the skill's rule, or because yesterday's briefing is nobody's."""
    if at - due <= LATE or graph.catch_up == "all":
        return False
    if graph.catch_up == "none":
        return True
    contents = [CONTENTS[node.content] for node in graph.nodes.values() if node.type == "notify"]
    is_daily = bool(contents) and all(content.is_daily for content in contents)
    return is_daily and at.astimezone(due.tzinfo).date() != due.date()


def _once(skill: Skill, due: datetime) -> TaskRun | None:
    with atomic():
        if not cron.claim(job(skill), due):
            return None
        return start(
            project=skill.project,
            skill=skill,
            record_id=None,
            triggered_by="system_scheduler",
            cause=f"{SCHEDULED}{due.isoformat()}",
        )
