"""Hard-rule nodes: rules over the run's snapshot, no LLM, no network (seed 001, 2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engines.hard_rules import RuleError, RuleResult
from engines.models import TaskRun
from engines.sop import snapshot
from engines.sop.findings import GOOD, Observation
from engines.sop.study import Study
from skills.graph import Node

RULE_ERROR = "规则执行异常: %s"


def evaluate(node: Node, run: TaskRun, study: Study) -> list[Observation]:
    """What every rule of the node says about the snapshot, passes included."""
    try:
        rules = study.compiled(node.rules)
    except RuleError as error:
        return [_broken(rule, str(error)) for rule in node.rules]
    data = snapshot.rows(run)
    results = rules.evaluate(run.record_id or "", data, study.today())
    return [*_observed(node, results)]


def is_passed(observations: list[Observation]) -> bool:
    """Any result that is not PASS or NOT_APPLICABLE fails the node (decisions.md, "severity")."""
    return all(seen.outcome in GOOD for seen in observations)


def _observed(node: Node, results: list[RuleResult]) -> Iterator[Observation]:
    for result in results:
        yield Observation(
            rule_key=result.rule,
            outcome=result.outcome,
            field=result.field,
            message=result.message,
            severity=result.severity,
            reason=result.reason or "",
            value=result.value,
            detail=result.detail,
            event=result.event or "",
            instrument=result.instrument or "",
            instance="" if result.instance is None else str(result.instance),
        )


def _broken(rule: dict[str, Any], error: str) -> Observation:
    return Observation(
        rule_key=rule.get("id") or snapshot.fingerprint(rule["logic"])[:16],
        outcome="ERROR",
        field=rule["field"],
        message=RULE_ERROR % error,
        severity=rule.get("severity", "error"),
        reason="type_mismatch",
    )
