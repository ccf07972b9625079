"""Visits whose window closed undone: that a day has passed is no change of data, and is looked for here.

Once a day a study's subjects with an overdue visit are checked, each once for the last window that closed: a
second look, or one that was interrupted, starts nothing twice. Only the checks of visits run; what else a
workflow does waits for its own trigger.
"""

from __future__ import annotations

import logging
from datetime import date
from typing import Any

from django.utils.timezone import now
from pydantic import ValidationError

from core.house import cron
from core.house.models import CronFiring
from core.integrations.redcap import RedcapError
from engines.models import TaskRun
from engines.sop import snapshot
from engines.sop.chain import DAY_ACTOR
from engines.sop.checks.kinds import OF_VISITS
from engines.sop.errors import Fault
from engines.sop.events import one_after_the_other, with_graphs
from engines.sop.runs import start
from projects.models import Project
from skills.models import Skill
from study.client import NotConfiguredError
from study.records import EmptyRosterError
from study.visits import due

log = logging.getLogger(__name__)
JOB, AT = "visits", "30 0 * * *"
STUDIES = (Project.Status.ACTIVE, Project.Status.PAUSED)
AT_ONCE = 100
"""So many subjects are read from REDCap in one request."""


def check(project: Project, after: str = "") -> str:
    """Check some subjects whose visits were missed, where today's look is not done; the last one.

    Subjects are taken in the order of their ids, those `after` the last ones: "" says that there are no more.
    An outage leaves the day open: it is tried again.
    """
    job, day = f"{JOB}:{project.pk}", cron.last_due(AT, zone=project.timezone, at=now())
    if day is None or CronFiring.objects.filter(job=job, due_at=day).exists():
        return ""
    try:
        last = _check_some(project, after)
    except (RedcapError, NotConfiguredError, ValidationError, Fault) as error:
        log.warning("missed visits of %s were not looked for: %s", project.code, error)
        return ""
    if not last:
        cron.claim(job, day)
    return last


def _check_some(project: Project, after: str) -> str:
    skills = _skills(project)
    if not skills:
        return ""
    closed: dict[str, date] = {}
    for visit in due.schedule(project, None).overdue():
        if visit.close is not None:
            closed[visit.subject] = max(visit.close, closed.get(visit.subject, visit.close))
    causes = {subject: f"day:{subject}:{day}" for subject, day in closed.items()}
    mine = TaskRun.objects.filter(project=project, triggered_by=DAY_ACTOR)
    done = {*mine.values_list("skill_id", "cause")}
    left = [
        subject
        for subject, cause in sorted(causes.items())
        if subject > after and any((skill.pk, cause) not in done for skill, _config in skills)
    ]
    some = left[:AT_ONCE]
    read = snapshot.read_subjects(project, some) if some else []
    if some and not read:
        raise EmptyRosterError(200, "no record", "record")
    for data in read:
        for skill, config in skills:
            start(
                project=project,
                skill=skill,
                record_id=data.record_id,
                triggered_by=DAY_ACTOR,
                cause=causes[data.record_id],
                data=data,
                config=config,
            )
    return some[-1] if len(left) > len(some) else ""


def _skills(project: Project) -> list[tuple[Skill, dict[str, Any]]]:
    """The active workflows that check visits of a subject, each with these checks alone."""
    kinds = (Skill.Trigger.EVENT, Skill.Trigger.WEBHOOK)
    active = Skill.objects.filter(project=project, is_active=True, trigger_type__in=kinds)
    found = []
    for skill, graph in with_graphs(active.select_related("project")):
        if skill.trigger_type == Skill.Trigger.EVENT and graph.event != "record_changed":
            continue
        nodes = {}
        for name, node in graph.nodes.items():
            checks = {kind: told for kind, told in node.checks.items() if kind in OF_VISITS}
            if node.type == "hard_rule" and checks:
                about = {"type": node.type, "description": node.description}
                nodes[name] = {**about, "checks": checks}
        if nodes:
            found.append((skill, one_after_the_other(graph, nodes)))
    return found
