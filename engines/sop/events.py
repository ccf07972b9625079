"""What starts workflows without a person: changed data, findings, schedules (decisions.md, "triggers").

A due time of a schedule fires once, whatever beat and the broker do (decisions.md, "cron skills").
Rules that read a changed field run again as nodes of their own workflow, whatever starts it, so that their
findings are the same ones: they open, are seen again, or wait to be confirmed as resolved by data change. Such
a run asks nobody and no model, and tells nobody of its end.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils.timezone import now

from core.house import cron
from core.house.alone import each
from core.house.db import atomic
from core.house.models import CronFiring
from core.rules.dependencies import fields_of
from core.rules.limits import RuleError
from engines.briefing import CONTENTS
from engines.models import PendingAction, RunEvent, TaskRun
from engines.sop import snapshot
from engines.sop.added_events import is_watched, new_events
from engines.sop.chain import CHANGE_ACTOR
from engines.sop.checks import serious
from engines.sop.checks.serious import Reporting
from engines.sop.deleted import mark_back, mark_gone
from engines.sop.errors import Fault, NoSuchSubject
from engines.sop.nodes.notify import SCHEDULED
from engines.sop.runs import start, start_once_changed
from engines.sop.snapshot import Rows
from engines.sop.study import Study
from projects.models import Project
from skills import chat
from skills.graph import Graph
from skills.models import Skill
from study import dictionary, sync
from study.blinding import mask
from study.blinding.mask import names_blinded
from study.change_handlers import NotNow
from study.design import identifying
from study.metadata import StudyMetadata
from study.records import RecordData

ACTOR = "system_event"
_LAST = "end"
_JOB = "skill:"
log = logging.getLogger(__name__)
LATE = timedelta(minutes=15)
"""What is later than this was missed and is caught up with, or not, as the skill says."""
MOST = 31


def subjects_changed(project: Project, record_ids: Sequence[str]) -> list[TaskRun]:
    """Start the study's skills for changes of these subjects, on the data as they are now, and keep these.

    A trigger that comes twice, or late, starts nothing twice: what counts is the content. Raises NotNow where
    they cannot be read.
    """
    try:
        read = snapshot.read_subjects(project, record_ids)
    except Fault as fault:
        raise NotNow(str(fault)) from fault
    sync.keep_some(project, read)
    return [run for data in read for run in _started(project, data)]


def data_changed(project: Project, record_id: str, columns: Collection[str]) -> None:
    """What follows from changed readings: event skills start, rules that read them run again.

    The findings of a subject that REDCap has no more rest until it is read again. Raises NotNow where the
    subject cannot be read whole.
    """
    try:
        data = snapshot.read_subject(project, record_id)
    except NoSuchSubject:
        mark_gone(project, record_id)
        return
    except Fault as fault:
        raise NotNow(str(fault)) from fault
    mark_back(project, record_id)
    follow(project, data, columns)


def follow(project: Project, data: RecordData, columns: Collection[str]) -> None:
    """Start the event skills, and the rules that read one of the changed `columns`, on this reading."""
    _started(project, data)
    recheck(project, data, columns)


def _started(project: Project, data: RecordData) -> list[TaskRun]:
    skills = [*_listening(project, "record_changed"), *_listening(project, "ae_added")]
    metadata = dictionary.load(project)
    runs = [_on_change(skill, graph, data, metadata) for skill, graph in skills]
    return [run for run in runs if run]


def findings_opened(event: RunEvent) -> None:
    """Start the skills that follow up findings, once for all that a step of a run opened.

    Their own findings start nothing: they would answer themselves for ever.
    """
    run, about = event.run, event.payload
    if run is None or about is None or run.config.get("event") == "finding_opened":
        return
    opened = [*PendingAction.objects.filter(pk__in=about["findings"])]
    form_of = dictionary.load(run.project).form_of
    for skill, graph in _listening(run.project, "finding_opened"):
        if any(
            graph.event_field in {"", one.field}
            and graph.event_form in {"", one.instrument, form_of(one.field or "")}
            for one in opened
        ):
            start(
                project=run.project,
                skill=skill,
                record_id=run.record_id,
                triggered_by=ACTOR,
                cause=f"finding:{run.pk}:{about['seq']}",
            )


def _listening(project: Project, event: str) -> list[tuple[Skill, Graph]]:
    active = Skill.objects.filter(project=project, is_active=True, trigger_type=Skill.Trigger.EVENT)
    return [(skill, graph) for skill, graph in with_graphs(active) if graph.event == event]


def about_subjects(project: Project) -> list[tuple[Skill, Graph]]:
    """The active workflows that look at a subject's data, whatever starts them."""
    active = Skill.objects.filter(project=project, is_active=True).select_related("project")
    found = active.exclude(trigger_type=Skill.Trigger.CRON)
    return with_graphs(skill for skill in found if not chat.is_chat(skill))


def with_graphs(skills: Iterable[Skill]) -> list[tuple[Skill, Graph]]:
    """Each workflow with its graph; one that cannot be read stops no other, and somebody is told."""
    found: list[tuple[Skill, Graph]] = []

    def read(skill: Skill) -> None:
        found.append((skill, Graph.model_validate(skill.config)))

    each("workflows", skills, read)
    return found


def _on_change(
    skill: Skill, graph: Graph, data: RecordData, metadata: StudyMetadata
) -> TaskRun | None:
    """The run for what changed since this skill's last run on the subject; None: nothing did."""
    # That a workflow runs at all tells no change of a field that it may not read.
    reads_blinded = names_blinded(skill.project, skill.config)
    watched = data if reads_blinded else mask.mask_for_all(skill.project).record(data)
    if graph.event == "ae_added":
        runs = TaskRun.objects.filter(skill=skill, record_id=data.record_id, triggered_by=ACTOR)
        last = runs.order_by("-created_at").first()
        content = new_events(skill.project, graph, watched, metadata, last)
        if not content:
            return None
    else:
        content = _watched(graph, watched, metadata)
    mark = snapshot.fingerprint(content)
    return start_once_changed(skill, data, mark, actor=ACTOR, kind="changed")


def _watched(graph: Graph, data: RecordData, metadata: StudyMetadata) -> Rows:
    """What of the subject's data this skill listens to."""
    rows = [dict(row) for row in data.rows]
    if not (graph.event_form or graph.event_field):
        return rows
    columns = [column for column in rows[0] if is_watched(graph, column, metadata)] if rows else []
    kept = [(row, {column: row[column] for column in columns if row.get(column)}) for row in rows]
    return [_place(row) | values for row, values in kept if values]


def _place(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row.get(name) for name in snapshot.PLACE}


def recheck(project: Project, data: RecordData, columns: Collection[str]) -> list[TaskRun]:
    """Start the rules of workflows that read one of the changed export `columns`, or what identifies somebody.

    Which identifying value changed is kept nowhere.

    Once a state of the subject's data and a set of rules: what notices the same change later starts nothing.
    Schedules are about no subject, and a workflow that has just started on these data needs no second run.
    """
    study = Study.load(project)
    changed = {study.metadata.columns.get(name, (name, ""))[0] for name in columns}
    changed |= identifying(study.metadata)
    rows = [dict(row) for row in data.rows]
    runs = []
    for skill, graph in about_subjects(project):
        config = _config(graph, study, changed)
        if config and not _has_just_started(skill, data):
            mark = snapshot.fingerprint([rows, config])
            how = {"actor": CHANGE_ACTOR, "kind": "rules"}
            runs.append(start_once_changed(skill, data, mark, config=config, **how))
    return [run for run in runs if run]


def _has_just_started(skill: Skill, data: RecordData) -> bool:
    """Whether the last run on the subject is the one that an event started, on the same data."""
    runs = TaskRun.objects.filter(skill=skill, record_id=data.record_id)
    last = runs.filter(triggered_by__in=(ACTOR, CHANGE_ACTOR)).order_by("-created_at").first()
    if last is None or last.triggered_by != ACTOR or last.skill_version != skill.version:
        return False
    rows = [dict(row) for row in snapshot.as_read_by(last, data).rows]
    return snapshot.data_digest(last) == snapshot.fingerprint(rows)


def _config(graph: Graph, study: Study, changed: Collection[str]) -> dict[str, Any] | None:
    """The workflow with the rules that read what changed, one node after the other; None for none."""
    nodes: dict[str, dict[str, Any]] = {}
    for name, node in graph.nodes.items():
        rules = [rule for rule in node.rules if _reads(rule, study, changed)]
        checks = {
            n: told for n, told in node.checks.items() if _may_differ(n, told, study, changed)
        }
        if node.type == "hard_rule" and (rules or checks):
            looks_at = {"rules": rules, "checks": checks}
            told = {what: one for what, one in looks_at.items() if one}
            nodes[name] = {"type": node.type, "description": node.description, **told}
    return one_after_the_other(graph, nodes) if nodes else None


def _may_differ(
    check: str, told: Mapping[str, Any], study: Study, changed: Collection[str]
) -> bool:
    """Whether a standard check may say something else now; of most nobody knows before they run."""
    if check != serious.CHECK:
        return True
    reporting = Reporting.of(told, study.names, study.project.timezone)
    return not reporting.fields.isdisjoint(changed)


def one_after_the_other(graph: Graph, nodes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    """These nodes of a workflow, whatever each comes to: nobody is asked, and no model."""
    order = [*nodes, _LAST]
    for name, following in zip(nodes, order[1:], strict=True):
        nodes[name] |= dict.fromkeys(("on_pass", "on_fail", "on_error"), following)
    about = {"event": graph.event} if graph.event else {}
    return {"name": graph.name, **about, "start_node": order[0], "nodes": nodes}


def _reads(rule: dict[str, Any], study: Study, changed: Collection[str]) -> bool:
    """Whether a rule reads one of the fields; one that the dictionary no longer bears is run, and says so."""
    try:
        compiled = study.compiled([rule])
    except RuleError:
        return True
    return any(not fields_of(compiled.context, one).isdisjoint(changed) for one in compiled.rules)


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
    moment, due = now(), dict[tuple[str, datetime], str]()

    def look_at(skill: Skill) -> None:
        last = _last_due(skill, moment) if _is_scheduled(skill) else None
        if last is not None and last > skill.updated_at:
            due[job(skill), last] = str(skill.pk)

    named = ("is_active", "trigger_type", "cron_schedule", "updated_at")
    rows_of = scheduled.select_related("project").only(
        *named, "project__timezone", "project__status"
    )
    each("schedules", rows_of, look_at)
    # One statement, however many studies; of jobs by their start, because databases bear few parameters.
    times = {at for _job, at in due}
    rows = CronFiring.objects.filter(job__startswith=_JOB, due_at__in=times)
    fired = {*rows.values_list("job", "due_at")}
    return [pk for key, pk in due.items() if key not in fired]


def _is_scheduled(skill: Skill) -> bool:
    is_cron = skill.trigger_type == Skill.Trigger.CRON and bool(skill.cron_schedule)
    return skill.is_active and is_cron and skill.project.status != Project.Status.CLOSED


def _last_due(skill: Skill, at: datetime) -> datetime | None:
    return cron.last_due(skill.cron_schedule or "", zone=skill.project.timezone, at=at)


def job(skill: Skill) -> str:
    """The name under which the firings of a skill are noted."""
    return f"{_JOB}{skill.pk}"


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
