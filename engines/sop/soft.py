"""Soft-instruction nodes: the LLM judges, code checks the verdict (seed 001, 3; decisions.md, Engines)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils.timezone import now
from django.utils.translation import gettext as _

from engines.models import TaskRun
from engines.soft_rules import Before, Task, Verdict, run_with_retry
from engines.sop import notify, snapshot
from engines.sop.asking import Question
from engines.sop.chain import Chain
from engines.sop.errors import Fault, Postponed
from engines.sop.findings import Observation
from integrations.llm import LlmError, LlmUnavailable
from integrations.redcap import RedcapError, RedcapUnavailable
from llm.asking import TokenCapReached
from llm.providers import LlmNotConfigured
from privacy.outbound_policy import PrivacyError
from projects.models import Member, Project
from skills.graph import Node
from study.client import NotConfiguredError

SOFT_FAILURE = "多次重试后仍失败,需人工复核"
LLM_BUDGET = "llm_budget"

VERDICT = "verdict"
"""The rule of a finding that a model judged."""


def judge(node: Node, run: TaskRun, *, keep_alive: Callable[[], None]) -> Verdict:
    """Ask the LLM about the run's snapshot; no transaction may be open. Raises Fault, Postponed.

    A provider that is down leaves the verdict to a person (decisions.md), after the retries where the
    node asks for any. `keep_alive` is called before every call.
    """
    try:
        return run_with_retry(_task(node, run), keep_alive)
    except TokenCapReached:
        raise Postponed(
            _("The study's tokens of today are used up."),
            until=next_midnight(run.project),
            sub_status=LLM_BUDGET,
        ) from None
    except (LlmError, PrivacyError) as error:
        message = _("The language model could not be asked.")
        if (
            _may_help(error)
            and "retry" in node.model_fields_set
            and run.attempts <= node.retry.times
        ):
            raise Fault(message, transient=True) from error
        return Verdict(reason=message)
    except (RedcapError, NotConfiguredError) as error:
        message = _("The data dictionary could not be read.")
        raise Fault(message, transient=isinstance(error, RedcapUnavailable)) from error


def _may_help(error: Exception) -> bool:
    return isinstance(error, LlmUnavailable) and not isinstance(error, LlmNotConfigured)


def _task(node: Node, run: TaskRun) -> Task:
    return Task(
        project=run.project,
        instruction=node.instruction,
        threshold=run.project.soft_confidence if node.threshold is None else node.threshold,
        user_id=run.triggered_by,
        record_id=run.record_id or "",
        rows=snapshot.rows(run),
        # What a model writes of blinded fields is for no message.
        tools=tuple(one for one in node.tools if not (run.unblinds and one == "send_message")),
        effect_key=f"{run.pk}:{run.seq}",
        can_wait=notify.waits_for_readers(run),
        member=_reader(run),
        before=None if run.record_id else _before(run),
    )


def _reader(run: TaskRun) -> Member | None:
    """With whose eyes a run about no subject reads: those of who ordered it; a schedule reads for the house."""
    if run.record_id:
        return None
    named = Member.objects.named(run.project, run.triggered_by).order_by("-is_active")
    # Who has left since reads nothing.
    return named.select_related("project", "person__user").first()


def _before(run: TaskRun) -> Before | None:
    """What the last soft rule of this run found out; None where there is none."""
    steps = run.steps.filter(kind="soft_instruction", result__isnull=False)
    last = steps.order_by("-seq").first()
    if last is None:
        return None
    told = last.result
    return Before(last.node, str(told.get("reason", "")), tuple(told.get("read", ())))


def next_midnight(project: Project) -> datetime:
    """When the study's next day begins."""
    zone = ZoneInfo(project.timezone)
    tomorrow = now().astimezone(zone).date() + timedelta(days=1)
    return datetime.combine(tomorrow, time.min, zone)


def apply(chain: Chain, node: Node, verdict: Verdict, started: datetime) -> None:
    """Follow a verdict; one that could not be established suspends the run at this node."""
    result = verdict.summary()
    if chain.run.record_id:
        # About no subject there is nothing to correct: the verdict only steers the run.
        chain.observe(chain.key, [observed(node, verdict)])
    if verdict.is_determined:
        chain.step("on_pass" if verdict.passed else "on_fail", result, started)
        return
    text = f"{SOFT_FAILURE}\n{node.instruction}"
    chain.suspend(Question(text, ("on_pass", "on_fail"), result, started))


def observed(node: Node, verdict: Verdict) -> Observation:
    """What a verdict says about the subject; undetermined is never a pass."""
    if not verdict.is_determined:
        message = verdict.reason or SOFT_FAILURE
        return Observation(VERDICT, "UNKNOWN", message=message, severity="warning")
    return Observation(
        rule_key=VERDICT,
        outcome="PASS" if verdict.passed else "FAIL",
        message=verdict.reason,
        severity=node.severity,
        detail={"evidence": verdict.evidence, "confidence": verdict.confidence},
    )
