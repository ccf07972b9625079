"""Running again what a change of data can have changed: the rules that read a changed field, no others.

A run of the workflow's own rule nodes, so that its findings are the same ones: they open, are seen again, or
wait to be confirmed as resolved by data change. It asks nobody and no model, and tells nobody of its end.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from engines.hard_rules import RuleError
from engines.models import TaskRun
from engines.sop import snapshot
from engines.sop.runs import start
from engines.sop.study import Study
from projects.models import Project
from rules.dependencies import fields_of
from skills.graph import Graph, Node
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
    found = [(skill, _config(skill, study, changed)) for skill in skills]
    runs = [_once(skill, config, data) for skill, config in found if config]
    return [run for run in runs if run]


def _once(skill: Skill, config: dict[str, Any], data: RecordData) -> TaskRun | None:
    mark = snapshot.fingerprint([dict(row) for row in data.rows])
    mine = TaskRun.objects.filter(skill=skill, record_id=data.record_id, triggered_by=ACTOR)
    last = mine.order_by("-created_at").first()
    if last and (
        (last.cause or "").endswith(mark) or (last.read_at or data.read_at) > data.read_at
    ):
        return None
    return start(
        project=skill.project,
        skill=skill,
        record_id=data.record_id,
        triggered_by=ACTOR,
        cause=f"rules:{data.record_id}:{mine.count()}:{mark}",
        data=data,
        config=config,
    )


def _config(skill: Skill, study: Study, changed: Collection[str]) -> dict[str, Any] | None:
    """The workflow with the rules that read what changed, one node after the other; None for none."""
    graph = Graph.model_validate(skill.config)
    nodes = {}
    for name, node in graph.nodes.items():
        rules = [rule for rule in node.rules if _reads(rule, study, changed)]
        if node.type == "hard_rule" and (rules or node.checks):
            nodes[name] = _node(node, rules)
    order = [*nodes, _LAST]
    for name, following in zip(nodes, order[1:], strict=True):
        nodes[name] |= dict.fromkeys(("on_pass", "on_fail", "on_error"), following)
    return {"name": graph.name, "start_node": order[0], "nodes": nodes} if nodes else None


def _node(node: Node, rules: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "type": node.type,
        "description": node.description,
        "rules": rules,
        "checks": node.checks,
    }


def _reads(rule: dict[str, Any], study: Study, changed: Collection[str]) -> bool:
    """Whether a rule reads one of the fields; one that the dictionary no longer bears is run, and says so."""
    try:
        compiled = study.compiled([rule])
    except RuleError:
        return True
    return any(not fields_of(compiled.context, one).isdisjoint(changed) for one in compiled.rules)
