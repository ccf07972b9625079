"""Soft-instruction nodes: the LLM judges, code checks the verdict (seed 001, 3; decisions.md, Engines)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engines.models import TaskRun
from engines.soft_rules import Verdict, run_with_retry
from engines.sop import findings, snapshot
from engines.sop.findings import Observation
from engines.sop.reviews import suspend
from skills.graph import Node

if TYPE_CHECKING:
    from engines.sop.drive import Chain

SOFT_FAILURE = "多次重试后仍失败,需人工复核"


def judge(node: Node, run: TaskRun) -> Verdict:
    """Ask the LLM about the run's snapshot; no transaction may be open. Raises Fault."""
    return run_with_retry(
        project=run.project,
        instruction=node.instruction,
        rows=snapshot.rows(run),
        threshold=run.project.soft_confidence if node.threshold is None else node.threshold,
        user_id=run.triggered_by,
    )


def apply(chain: Chain, node: Node, verdict: Verdict) -> None:
    """Follow a verdict; one that could not be established suspends the run at this node."""
    key = chain.run.current_node or ""
    result = verdict.summary()
    if verdict.is_determined:
        findings.record(chain.run, key, [_observation(node, verdict)])
        chain.step("on_pass" if verdict.passed else "on_fail", result)
        return
    message = verdict.reason or SOFT_FAILURE
    findings.record(chain.run, key, [_undetermined(message)])
    suspend(
        chain, f"{SOFT_FAILURE}\n{node.instruction}", node.reviewers, result, ("on_pass", "on_fail")
    )


def _observation(node: Node, verdict: Verdict) -> Observation:
    return Observation(
        rule_key="verdict",
        outcome="PASS" if verdict.passed else "FAIL",
        message=verdict.reason,
        severity=node.severity,
        detail={"evidence": verdict.evidence, "confidence": verdict.confidence},
    )


def _undetermined(message: str) -> Observation:
    return Observation(rule_key="verdict", outcome="UNKNOWN", message=message, severity="warning")
