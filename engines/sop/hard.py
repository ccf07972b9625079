"""Hard-rule nodes: rules over the run's snapshot, no LLM, no network (seed 001, 2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from engines.hard_rules import RuleError, RuleResult, rule_key
from engines.models import TaskRun
from engines.sop import snapshot
from engines.sop.checks.run import observe, unseen
from engines.sop.findings import GOOD, Observation
from engines.sop.study import Study
from skills.graph import Node
from skills.mapping import actual_rules

RULE_ERROR = "规则执行异常: %s"


def evaluate(node: Node, run: TaskRun, study: Study) -> list[Observation]:
    """What every rule of the node says about the snapshot, passes included.

    A run about no subject has nothing to check: that is undecided, never a pass.
    """
    if not run.record_id:
        undecided = [_unusable(rule, "UNKNOWN", rule["message"]) for rule in node.rules]
        return undecided + unseen(node.checks)
    seen = _all(study, node.rules, run)
    if node.checks:
        seen += observe(node.checks, run, study, lambda rules: _all(study, rules, run))
    return seen


def _all(study: Study, rules: list[dict[str, Any]], run: TaskRun) -> list[Observation]:
    today = study.today()
    try:
        return _run(study, rules, run, today)
    except RuleError:
        # One rule that the dictionary no longer bears must not silence the others.
        return [seen for rule in rules for seen in _alone(study, rule, run, today)]


def _run(study: Study, rules: list[dict[str, Any]], run: TaskRun, today: date) -> list[Observation]:
    compiled = study.compiled(rules)
    return [*_observed(compiled.evaluate(run.record_id or "", snapshot.rows(run), today))]


def _alone(study: Study, rule: dict[str, Any], run: TaskRun, today: date) -> list[Observation]:
    try:
        return _run(study, [rule], run, today)
    except RuleError as error:
        return [_unusable(rule, "ERROR", RULE_ERROR % error, study.names)]


def is_passed(observations: list[Observation]) -> bool:
    """Any result that is not PASS or NOT_APPLICABLE fails the node (decisions.md, "severity")."""
    return all(seen.outcome in GOOD for seen in observations)


def _observed(results: list[RuleResult]) -> Iterator[Observation]:
    for result in results:
        yield Observation(
            rule_key=result.rule,
            outcome=result.outcome,
            field=result.field,
            message=result.message,
            severity=result.severity,
            reason=result.reason or "",
            value=result.value,
            detail=None if result.outcome in GOOD else result.detail,
            event=result.event or "",
            instrument=result.instrument or "",
            instance="" if result.instance is None else str(result.instance),
        )


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
