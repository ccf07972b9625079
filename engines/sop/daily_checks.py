"""What follows from the passing of a day: no data change, so that it is looked for here.

Once a day the checks of visits run on each subject whose last window closed undone, once a window; and the
rules that name the day run on each subject of whom they say something else than at the last look. What else a
workflow does waits for its own trigger.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Sequence
from datetime import date, datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID

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
Said = list[tuple[Any, ...]]
"""What each rule says at each place."""


class Dated(NamedTuple):
    """A workflow's rules that name the day, compiled, and the configuration of a run of them alone."""

    skill: Skill
    config: Config
    rules: RuleSet
    reads_blinded: bool


class Slice(NamedTuple):
    """How far a look is: the last subject of it, and the due time that it is for."""

    last: str
    due: str


def look_at_day(project: Project, after: str = "", due_at: str = "") -> Slice | None:
    """Check some subjects, where today's look is not done; None where there are no more.

    Subjects are taken in the order of their ids, those `after` the last ones of the look that is `due_at`: one
    that the next day has overtaken begins anew. An outage leaves the day open: it is tried again.
    """
    job, day = f"{JOB}:{project.pk}", cron.last_due(AT, zone=project.timezone, at=now())
    if day is None or CronFiring.objects.filter(job=job, due_at=day).exists():
        return None
    looks = CronFiring.objects.filter(job=job).order_by("-due_at")
    try:
        last = _check_some(project, after if due_at == day.isoformat() else "", looks.first(), day)
    except (RedcapError, NotConfiguredError, ValidationError, Fault) as error:
        log.warning("the day of %s was not looked at: %s", project.code, error)
        return None
    if last:
        return Slice(last, day.isoformat())
    cron.claim(job, day)
    return None


def _check_some(project: Project, after: str, before: CronFiring | None, day: datetime) -> str:
    workflows = about_subjects(project)
    if not workflows:
        return ""
    mine = TaskRun.objects.filter(project=project, triggered_by=DAY_ACTOR)
    done = {*mine.values_list("skill_id", "cause")}
    visits, missed = _missed(project, workflows, after, done)
    study = Study.load(project)
    today = study.today()
    dated = [one for skill, graph in workflows if (one := _dated(skill, graph, study))]
    present = Subject.objects.filter(project=project, is_present=True)
    ids = present.values_list("record_id", flat=True) if dated else ()
    cause_of = f"today:%s:{today}"
    # Compared here and not by the database, which may sort by the rules of a language.
    open_ids = {
        one
        for one in ids
        if one > after and any((d.skill.pk, cause_of % one) not in done for d in dated)
    }
    left = sorted(missed.keys() | open_ids)
    some = left[:AT_ONCE]
    read = snapshot.read_subjects(project, some) if some else []
    if some and not read:
        raise EmptyRosterError(200, "no record", "record")
    for data in read:
        if cause := missed.get(data.record_id):
            for skill, config in visits:
                _start(project, data, skill, config, cause)
    for one in dated:
        # What a workflow said before it was changed, or switched on, says nothing.
        since = None
        if before and one.skill.updated_at < before.fired_at:
            since = today - (day.date() - before.due_at.astimezone(day.tzinfo).date())
        for data in _turned(one, read, since, today):
            _start(project, data, one.skill, one.config, cause_of % data.record_id)
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
    project: Project,
    workflows: Sequence[tuple[Skill, Graph]],
    after: str,
    done: Collection[tuple[UUID, str | None]],
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


def _turned(
    dated: Dated, read: Sequence[RecordData], since: date | None, today: date
) -> Sequence[RecordData]:
    """Those of whom a rule says something else today than on some day `since` the last look; None: all."""
    if since is None or (today - since).days > MOST_DAYS:
        return read
    # That a run starts tells nothing of a field that the workflow may not read.
    masked = mask.mask_for_all(dated.skill.project)
    seen = [data if dated.reads_blinded else masked.record(data) for data in read]

    def said(day: date) -> list[Said]:
        return [
            [(one.rule, one.row.place, one.outcome) for one in dated.rules.evaluate(*about, day)]
            for about in ((data.record_id, [dict(row) for row in data.rows]) for data in seen)
        ]

    now_said = said(today)
    others = [said(since + timedelta(days=at)) for at in range((today - since).days)]
    return [
        data for at, data in enumerate(read) if any(other[at] != now_said[at] for other in others)
    ]
