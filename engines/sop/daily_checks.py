"""What follows from the passing of a day: no data change, so that it is looked for here.

Once a day the checks of visits run on each subject whose last window closed undone, once a window; and the
rules that name the day run on each subject of whom they say something else than at the last look. What else a
workflow does waits for its own trigger.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Any, NamedTuple

from django.utils.timezone import now
from pydantic import ValidationError

from core.house import cron
from core.house.models import CronFiring
from core.integrations.redcap import RedcapError
from core.rules.dependencies import is_dated
from core.rules.limits import RuleError
from core.rules.ruleset import RuleSet
from engines.models import TaskRun
from engines.sop import snapshot
from engines.sop.chain import DAY_ACTOR
from engines.sop.checks.kinds import OF_VISITS
from engines.sop.errors import Fault
from engines.sop.events import about_subjects, one_after_the_other
from engines.sop.runs import start
from engines.sop.study import Study
from projects.models import Project
from skills.graph import Graph
from skills.models import Skill
from study.blinding import mask
from study.blinding.mask import names_blinded
from study.client import NotConfiguredError
from study.models import Subject
from study.records import EmptyRosterError, RecordData
from study.visits import due

log = logging.getLogger(__name__)
JOB, AT = "day", "30 0 * * *"
STUDIES = (Project.Status.ACTIVE, Project.Status.PAUSED)
AT_ONCE = 100
"""So many subjects are read from REDCap in one request."""
MOST_DAYS = 31
"""After more days without a look each subject is checked."""
Config = dict[str, Any]


class Dated(NamedTuple):
    """A workflow's rules that name the day, compiled, and the configuration of a run of them alone."""

    skill: Skill
    config: Config
    rules: RuleSet
    reads_blinded: bool


def check(project: Project, after: str = "") -> str:
    """Check some subjects, where today's look is not done; the last one of them.

    Subjects are taken in the order of their ids, those `after` the last ones: "" says that there are no more.
    An outage leaves the day open: it is tried again.
    """
    job, day = f"{JOB}:{project.pk}", cron.last_due(AT, zone=project.timezone, at=now())
    if day is None or CronFiring.objects.filter(job=job, due_at=day).exists():
        return ""
    looks = CronFiring.objects.filter(job=job).order_by("-due_at")
    before = looks.values_list("due_at", flat=True).first()
    since = before.astimezone(day.tzinfo).date() if before else None
    try:
        last = _check_some(project, after, since)
    except (RedcapError, NotConfiguredError, ValidationError, Fault) as error:
        log.warning("the day of %s was not looked at: %s", project.code, error)
        return ""
    if not last:
        cron.claim(job, day)
    return last


def _check_some(project: Project, after: str, since: date | None) -> str:
    workflows = about_subjects(project)
    if not workflows:
        return ""
    visits, missed = _missed(project, workflows, after)
    study = Study.load(project)
    dated = [one for skill, graph in workflows if (one := _dated(skill, graph, study))]
    present = Subject.objects.filter(project=project, is_present=True)
    ids = present.values_list("record_id", flat=True) if dated else ()
    # Compared here and not by the database, which may sort by the rules of a language.
    left = sorted(missed.keys() | {one for one in ids if one > after})
    some = left[:AT_ONCE]
    read = snapshot.read_subjects(project, some) if some else []
    if some and not read:
        raise EmptyRosterError(200, "no record", "record")
    today = study.today()
    for data in read:
        how = partial(_start, project, data)
        if cause := missed.get(data.record_id):
            for skill, config in visits:
                how(skill, config, cause)
        for one in dated:
            if _says_otherwise(one, data, since, today):
                how(one.skill, one.config, f"today:{data.record_id}:{today}")
    return some[-1] if len(left) > len(some) else ""


def _start(project: Project, data: RecordData, skill: Skill, config: Config, cause: str) -> None:
    start(
        project=project,
        skill=skill,
        record_id=data.record_id,
        triggered_by=DAY_ACTOR,
        cause=cause,
        data=data,
        config=config,
    )


def _missed(
    project: Project, workflows: Sequence[tuple[Skill, Graph]], after: str
) -> tuple[list[tuple[Skill, Config]], dict[str, str]]:
    """The workflows with their checks of visits alone, and the cause of each subject that lacks a run."""
    skills = []
    for skill, graph in workflows:
        told = {
            name: {
                "checks": {kind: about for kind, about in node.checks.items() if kind in OF_VISITS}
            }
            for name, node in graph.nodes.items()
        }
        if config := _only(graph, told):
            skills.append((skill, config))
    if not skills:
        return [], {}
    closed: dict[str, date] = {}
    for visit in due.schedule(project, None).overdue():
        if visit.close is not None:
            closed[visit.subject] = max(visit.close, closed.get(visit.subject, visit.close))
    causes = {subject: f"day:{subject}:{day}" for subject, day in closed.items() if subject > after}
    mine = TaskRun.objects.filter(project=project, triggered_by=DAY_ACTOR)
    done = {*mine.values_list("skill_id", "cause")}
    left = {
        subject: cause
        for subject, cause in causes.items()
        if any((skill.pk, cause) not in done for skill, _config in skills)
    }
    return skills, left


def _dated(skill: Skill, graph: Graph, study: Study) -> Dated | None:
    """None where no rule of the workflow names the day."""
    told = {
        name: {"rules": [rule for rule in node.rules if _is_dated(rule, study)]}
        for name, node in graph.nodes.items()
    }
    config = _only(graph, told)
    if config is None:
        return None
    rules = [rule for one in told.values() for rule in one["rules"]]
    return Dated(skill, config, study.compiled(rules), names_blinded(skill.project, skill.config))


def _is_dated(rule: Config, study: Study) -> bool:
    """One that cannot be compiled tells so in the runs of its workflow."""
    try:
        compiled = study.compiled([rule])
    except RuleError:
        return False
    return any(is_dated(compiled.context, one) for one in compiled.rules)


def _only(graph: Graph, told: dict[str, dict[str, Any]]) -> Config | None:
    """The workflow's hard rules with nothing but what is `told` of each node; None for nothing."""
    nodes = {
        name: {"type": node.type, "description": node.description, **told[name]}
        for name, node in graph.nodes.items()
        if node.type == "hard_rule" and any(told[name].values())
    }
    return one_after_the_other(graph, nodes) if nodes else None


def _says_otherwise(dated: Dated, data: RecordData, since: date | None, today: date) -> bool:
    """Whether a rule says something else today than on some day since the last look."""
    if since is None or (today - since).days > MOST_DAYS:
        return True
    if not dated.reads_blinded:
        # That a run starts tells nothing of a field that the workflow may not read.
        data = mask.mask_for_all(dated.skill.project).record(data)
    rows = [dict(row) for row in data.rows]

    def said(day: date) -> Collection[Any]:
        found = dated.rules.evaluate(data.record_id, rows, day)
        return [(one.rule, one.row.place, one.outcome) for one in found]

    now_said = said(today)
    days = (since + timedelta(days=at) for at in range((today - since).days))
    return any(said(day) != now_said for day in days)
