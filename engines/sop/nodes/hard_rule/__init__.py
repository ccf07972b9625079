"""Hard-rule nodes: rules over the run's snapshot, no LLM, no network (seed 001, 2)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.utils.translation import gettext as _

from core.rules import limits
from core.rules.convert import Place
from core.rules.limits import RuleError
from core.rules.rule import rule_key
from engines.models import TaskRun
from engines.sop import same_fact, snapshot
from engines.sop.checks import serious
from engines.sop.checks.run import observe, unseen
from engines.sop.errors import Fault
from engines.sop.findings import GOOD, Observation
from engines.sop.nodes.base import Done, NodeType, Visit
from engines.sop.study import Study
from skills.graph import Node
from skills.mapping import actual_rules
from study.metadata import StudyMetadata

MOST_SECONDS = 20
"""Of a node, whose run holds a transaction: rules that are left then are errors."""
RULE_ERROR = "规则执行异常: %s"
_READ_AT = ("var", "event", "instrument", "instance")


def _work(visit: Visit) -> Done:
    """Any result that is not PASS or NOT_APPLICABLE fails the node (decisions.md, "severity")."""
    node = visit.node
    if visit.study is None:
        raise Fault(_("The data dictionary could not be read."), transient=True)
    observations = _evaluate(node, visit.run, visit.study)
    bad = {seen.place() for seen in observations if seen.outcome not in GOOD}
    looked_at = {"rules": len(node.rules), "checks": sorted(node.checks)}
    result = {name: one for name, one in looked_at.items() if one} | {"findings": len(bad)}
    return Done("on_fail" if bad else "on_pass", result, observations)


def _evaluate(node: Node, run: TaskRun, study: Study) -> list[Observation]:
    """What every rule of the node says about the snapshot, passes included, without what identifies a person.

    A run about no subject has nothing to check: that is undecided, never a pass.
    """
    if not run.record_id:
        undecided = [_unusable(rule, "UNKNOWN", rule["message"]) for rule in node.rules]
        return undecided + unseen(node.checks)
    with limits.within_seconds(MOST_SECONDS):
        seen = _all(study, node.rules, run)
        if node.checks:
            seen += observe(node.checks, run, study, lambda rules: _all(study, rules, run))
        if told := node.checks.get(serious.CHECK):
            seen += serious.observe(told, run, study, snapshot.rows(run))
    if any(one.outcome not in GOOD for one in seen):
        seen = _with_facts(node, seen, run, study)
    return [_unnamed(one, study.metadata) for one in seen]


def _with_facts(
    node: Node, seen: list[Observation], run: TaskRun, study: Study
) -> list[Observation]:
    declaring = [rule for rule in node.rules if "same_as" in rule]
    declared = {rule_key(one): one["same_as"] for one in actual_rules(declaring, study.names)}
    return same_fact.with_facts(seen, declared, run, study)


def _unnamed(seen: Observation, metadata: StudyMetadata) -> Observation:
    """Without identifying values; of others that were read beside the field's own their places stay."""
    hidden, detail = metadata.identifier_fields, seen.detail
    if isinstance(detail, list):
        told = [(metadata.columns.get(one["var"], (one["var"],))[0], one) for one in detail]
        detail = [
            {name: one[name] for name in _READ_AT} if field in hidden else one
            for field, one in told
            if field not in hidden or field != seen.field
        ]
    return replace(seen, value=None if seen.field in hidden else seen.value, detail=detail or None)


def _all(study: Study, rules: list[dict[str, Any]], run: TaskRun) -> list[Observation]:
    try:
        return _run(study, rules, run)
    except RuleError as error:
        if len(rules) == 1:
            return [_unusable(rules[0], "ERROR", RULE_ERROR % error, study.names)]
        # One rule that the dictionary no longer bears must not silence the others.
        return [seen for rule in rules for seen in _all(study, [rule], run)]


def _run(study: Study, rules: list[dict[str, Any]], run: TaskRun) -> list[Observation]:
    results = study.compiled(rules).evaluate(run.record_id or "", snapshot.rows(run), study.today())
    return [
        Observation(
            rule_key=result.rule,
            outcome=result.outcome,
            field=result.field,
            message=result.message,
            severity=result.severity,
            reason=result.reason or "",
            value=result.value,
            detail=None if result.outcome in GOOD else result.detail,
            **snapshot.named(Place(result.event, result.instrument, result.instance)),
        )
        for result in results
    ]


def _unusable(
    rule: dict[str, Any], outcome: str, message: str, names: Mapping[str, str] | None = None
) -> Observation:
    actual = actual_rules([rule], names or {})[0]
    return Observation(
        rule_key=rule_key(actual),
        outcome=outcome,
        field=actual["field"],
        message=message,
        severity=rule.get("severity", "error"),
        reason="not_exported" if outcome == "UNKNOWN" else "",
    )


TYPE = NodeType(_work)
