"""Event skills: started by a change of a subject's data or by a finding (decisions.md, "triggers")."""

from __future__ import annotations

import logging
from collections.abc import Collection, Mapping
from typing import Any

from engines.models import PendingAction, RunEvent, TaskRun
from engines.sop import snapshot
from engines.sop.errors import Fault, NoSuchSubject
from engines.sop.recheck import recheck
from engines.sop.runs import start
from engines.sop.snapshot import Rows
from projects.models import Project
from skills.graph import Graph
from skills.models import Skill
from study import dictionary, sync
from study.blinding import veil
from study.blinding.reads import names_blinded
from study.follow import NotNow
from study.metadata import StudyMetadata
from study.records import RecordData

log = logging.getLogger(__name__)

ACTOR = "system_event"
AE_FORM = "ae"
PLACE = ("redcap_event_name", "redcap_repeat_instrument", "redcap_repeat_instance")


def record_changed(project: Project, record_id: str) -> list[TaskRun]:
    """Start the study's skills for a change of this subject, on the data as they are now, and keep these.

    A trigger that comes twice, or late, starts nothing twice: what counts is the content. One that comes in an
    outage is made up for by the next poll.
    """
    try:
        data = snapshot.read(project, record_id)
    except Fault as fault:
        log.warning("event skills of %s have to wait for the next reading: %s", project.code, fault)
        return []
    sync.keep_one(project, data)
    return _started(project, data)


def data_changed(project: Project, record_id: str, columns: Collection[str]) -> None:
    """What follows from changed readings (study.follow): event skills start, rules that read them run again.

    Raises NotNow where the subject cannot be read whole.
    """
    try:
        data = snapshot.read(project, record_id)
    except NoSuchSubject:
        return
    except Fault as fault:
        raise NotNow(str(fault)) from fault
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
    for skill, graph in _listening(run.project, "finding_opened"):
        if any(_is_meant(graph, finding) for finding in opened):
            start(
                project=run.project,
                skill=skill,
                record_id=run.record_id,
                triggered_by=ACTOR,
                cause=f"finding:{run.pk}:{about['seq']}",
            )


def _is_meant(graph: Graph, finding: PendingAction) -> bool:
    named = graph.event_field in {"", finding.field}
    return named and graph.event_form in {"", finding.instrument}


def _listening(project: Project, event: str) -> list[tuple[Skill, Graph]]:
    active = Skill.objects.filter(project=project, is_active=True, trigger_type=Skill.Trigger.EVENT)
    graphs = [(skill, Graph.model_validate(skill.config)) for skill in active]
    return [(skill, graph) for skill, graph in graphs if graph.event == event]


def _on_change(
    skill: Skill, graph: Graph, data: RecordData, metadata: StudyMetadata
) -> TaskRun | None:
    """The run for what changed since this skill's last run on the subject; None: nothing did."""
    watched = data if names_blinded(skill.project, skill.config) else _blinded(skill, data)
    content = _watched(graph, watched, metadata)
    mark = snapshot.fingerprint(content)
    mine = TaskRun.objects.filter(skill=skill, record_id=data.record_id, triggered_by=ACTOR)
    last = mine.order_by("-created_at").first()
    if last and (_mark(last) == mark or (last.read_at and last.read_at >= data.read_at)):
        return None
    if graph.event == "ae_added" and not content:
        return None
    # The number makes a change back to earlier values a change of its own; two that notice the same
    # change at once count the same number.
    return start(
        project=skill.project,
        skill=skill,
        record_id=data.record_id,
        triggered_by=ACTOR,
        cause=f"changed:{data.record_id}:{mine.count()}:{mark}",
        data=data,
    )


def _blinded(skill: Skill, data: RecordData) -> RecordData:
    """That a workflow runs at all tells no change of a field that it may not read."""
    return veil.of_all(skill.project).record(data)


def _mark(run: TaskRun) -> str:
    return (run.cause or "").rpartition(":")[2]


def _watched(graph: Graph, data: RecordData, metadata: StudyMetadata) -> Rows:
    """What of the subject's data this skill listens to."""
    rows = [dict(row) for row in data.rows]
    if graph.event == "ae_added":
        form = graph.event_form or AE_FORM
        return [_place(row) for row in rows if row.get("redcap_repeat_instrument") == form]
    if not (graph.event_form or graph.event_field):
        return rows
    columns = [column for column in rows[0] if _is_watched(graph, column, metadata)] if rows else []
    kept = [(row, {column: row[column] for column in columns if row.get(column)}) for row in rows]
    return [_place(row) | values for row, values in kept if values]


def _place(row: Mapping[str, Any]) -> dict[str, Any]:
    return {name: row.get(name) for name in PLACE}


def _is_watched(graph: Graph, column: str, metadata: StudyMetadata) -> bool:
    name = metadata.columns.get(column, (column, ""))[0]
    form = metadata.fields.get(name, {}).get("form_name", "")
    return graph.event_field in {"", name} and graph.event_form in {"", form} and bool(form)
