"""Event skills: started by a change of a subject's data or by a finding (decisions.md, "triggers").

Rules that read a changed field run again as nodes of their own workflow, so that their findings are the same
ones: they open, are seen again, or wait to be confirmed as resolved by data change. Such a run asks nobody and
no model, and tells nobody of its end.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from core.rules.dependencies import fields_of
from core.rules.limits import RuleError
from engines.models import PendingAction, RunEvent, TaskRun
from engines.sop import snapshot
from engines.sop.deleted import mark_back, mark_gone
from engines.sop.errors import Fault, NoSuchSubject
from engines.sop.runs import start, start_once_changed
from engines.sop.snapshot import Rows
from engines.sop.study import Study
from projects.models import Project
from skills.graph import Graph
from skills.models import Skill
from study import dictionary, sync
from study.blinding import mask
from study.blinding.mask import names_blinded
from study.change_handlers import NotNow
from study.metadata import StudyMetadata
from study.records import RecordData

ACTOR, CHANGE_ACTOR = "system_event", "system_change"
AE_FORM = "ae"


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
    for skill, graph in _listening(run.project, "finding_opened"):
        if any(
            graph.event_field in {"", one.field} and graph.event_form in {"", one.instrument}
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
    graphs = [(skill, Graph.model_validate(skill.config)) for skill in active]
    return [(skill, graph) for skill, graph in graphs if graph.event == event]


def _on_change(
    skill: Skill, graph: Graph, data: RecordData, metadata: StudyMetadata
) -> TaskRun | None:
    """The run for what changed since this skill's last run on the subject; None: nothing did."""
    # That a workflow runs at all tells no change of a field that it may not read.
    reads_blinded = names_blinded(skill.project, skill.config)
    watched = data if reads_blinded else mask.mask_for_all(skill.project).record(data)
    content = _watched(graph, watched, metadata)
    if graph.event == "ae_added" and not content:
        return None
    mark = snapshot.fingerprint(content)
    return start_once_changed(skill, data, mark, actor=ACTOR, kind="changed")


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
    return {name: row.get(name) for name in snapshot.PLACE}


def _is_watched(graph: Graph, column: str, metadata: StudyMetadata) -> bool:
    name = metadata.columns.get(column, (column, ""))[0]
    form = metadata.fields.get(name, {}).get("form_name", "")
    return graph.event_field in {"", name} and graph.event_form in {"", form} and bool(form)


_LAST = "end"


def recheck(project: Project, data: RecordData, columns: Collection[str]) -> list[TaskRun]:
    """Start the rules of the study's workflows that read one of the changed export `columns`.

    Once a state of the subject's data: what notices the same change later starts nothing. Schedules are about
    no subject, and workflows that listen to changes start by themselves.
    """
    study = Study.load(project)
    changed = {study.metadata.columns.get(name, (name, ""))[0] for name in columns}
    skills = Skill.objects.filter(
        project=project, is_active=True, trigger_type=Skill.Trigger.WEBHOOK
    ).select_related("project")
    mark = snapshot.fingerprint([dict(row) for row in data.rows])
    found = ((skill, _config(skill, study, changed)) for skill in skills)
    runs = [
        start_once_changed(skill, data, mark, actor=CHANGE_ACTOR, kind="rules", config=config)
        for skill, config in found
        if config
    ]
    return [run for run in runs if run]


def _config(skill: Skill, study: Study, changed: Collection[str]) -> dict[str, Any] | None:
    """The workflow with the rules that read what changed, one node after the other; None for none."""
    graph = Graph.model_validate(skill.config)
    nodes: dict[str, dict[str, Any]] = {}
    for name, node in graph.nodes.items():
        rules = [rule for rule in node.rules if _reads(rule, study, changed)]
        if node.type == "hard_rule" and (rules or node.checks):
            looks_at = {"rules": rules, "checks": node.checks}
            told = {what: one for what, one in looks_at.items() if one}
            nodes[name] = {"type": node.type, "description": node.description, **told}
    order = [*nodes, _LAST]
    for name, following in zip(nodes, order[1:], strict=True):
        nodes[name] |= dict.fromkeys(("on_pass", "on_fail", "on_error"), following)
    return {"name": graph.name, "start_node": order[0], "nodes": nodes} if nodes else None


def _reads(rule: dict[str, Any], study: Study, changed: Collection[str]) -> bool:
    """Whether a rule reads one of the fields; one that the dictionary no longer bears is run, and says so."""
    try:
        compiled = study.compiled([rule])
    except RuleError:
        return True
    return any(not fields_of(compiled.context, one).isdisjoint(changed) for one in compiled.rules)
