"""Running again what a change of data can have changed: the rules that read a changed field, no others.

A run of the workflow's own rule nodes, so that its findings are the same ones: they open, are seen again, or
wait to be confirmed as resolved by data change. It asks nobody and no model, and tells nobody of its end.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from core.rules.dependencies import fields_of
from core.rules.limits import RuleError
from engines.models import TaskRun
from engines.sop import snapshot
from engines.sop.runs import start_once_changed
from engines.sop.study import Study
from projects.models import Project
from skills.graph import Graph
from skills.models import Skill
from study.records import RecordData

ACTOR = "system_change"
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
        start_once_changed(skill, data, mark, actor=ACTOR, kind="rules", config=config)
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
