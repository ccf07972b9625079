"""Soft-instruction nodes: the LLM judges, code checks the verdict (seed 001, 3; decisions.md, Engines)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, time, timedelta
from zoneinfo import ZoneInfo

from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.integrations.llm import LlmError, LlmUnavailable
from core.integrations.redcap import PASSING, RedcapError
from core.llm.asking import TokenCapReached, used_today
from core.llm.providers import LlmNotConfigured
from core.privacy.outbound_policy import PrivacyError
from engines.assistant.tools import tools
from engines.models import TaskRun
from engines.sop import same_fact, snapshot
from engines.sop.errors import Fault, Postponed
from engines.sop.findings import VERDICT, Observation
from engines.sop.nodes.base import Done, NodeType, Question, Skipped, Visit
from engines.sop.nodes.soft_instruction.conversation import converse
from engines.sop.nodes.soft_instruction.verdict import Verdict, judged_texts
from projects.models import Project
from skills.graph import Node
from study.client import NotConfiguredError

SOFT_FAILURE = "多次重试后仍失败,需人工复核"
"""In the journal; a person reads what is asked of them."""
UNDECIDED = "模型未能判断,请您判断"
LLM_BUDGET = "llm_budget"


def _work(visit: Visit) -> Done | Question:
    """Follow a verdict; one that could not be established leaves the question to a person.

    About no subject there is nothing to correct: the verdict only steers the run.
    """
    node, run = visit.node, visit.run
    verdict = judge(node, run, keep_alive=visit.keep_alive)
    seen = [_observed(node, verdict, run)] if run.record_id else []
    result = verdict.summary()
    if verdict.is_determined:
        edge = "on_pass" if verdict.passed else "on_fail"
        return Done(edge, result, seen, message=verdict.reason)
    result["message"] = SOFT_FAILURE
    return Question(f"{UNDECIDED}:\n{node.instruction}", ("on_pass", "on_fail"), result, seen)


def judge(node: Node, run: TaskRun, *, keep_alive: Callable[[], None]) -> Verdict:
    """Ask the LLM about the run's snapshot; no transaction may be open. Raises Fault, Postponed.

    A provider that is down leaves the verdict to a person (decisions.md), after the retries where the
    node asks for any.
    """
    try:
        return converse(node, run, keep_alive)
    except TokenCapReached:
        zone = ZoneInfo(run.project.timezone)
        tomorrow = now().astimezone(zone).date() + timedelta(days=1)
        until = datetime.combine(tomorrow, time.min, zone)
        told = _("The study's tokens of today are used up.")
        raise Postponed(told, until=until, sub_status=LLM_BUDGET) from None
    except (LlmError, PrivacyError) as error:
        message = _("The language model could not be asked.")
        may_help = isinstance(error, LlmUnavailable) and not isinstance(error, LlmNotConfigured)
        if may_help and "retry" in node.model_fields_set and run.attempts <= node.retry.times:
            raise Fault(message, transient=True) from error
        return Verdict(reason=message)
    except (RedcapError, NotConfiguredError) as error:
        message = _("The data dictionary could not be read.")
        raise Fault(message, transient=isinstance(error, PASSING)) from error


def release() -> None:
    """Let runs go on that wait for the next day's tokens, where there are some by now: the cap was raised."""
    waits = TaskRun.objects.filter(
        status=TaskRun.Status.RUNNING, sub_status=LLM_BUDGET, available_at__gt=now()
    )
    for project in Project.objects.filter(pk__in=waits.values("project")):
        if used_today(project) < project.llm_daily_token_cap:
            waits.filter(project=project).update(available_at=now())


def _observed(node: Node, verdict: Verdict, run: TaskRun) -> Observation:
    """What a verdict says about the subject, with the texts that were judged; undetermined is never a pass."""
    if verdict.is_determined and verdict.passed:
        return Observation(VERDICT, "PASS", message=verdict.reason, severity=node.severity)
    read = judged_texts(run.project, snapshot.rows(run), node.instruction, verdict.evidence)
    detail = {"evidence": verdict.evidence, "confidence": verdict.confidence, "read": read}
    if not verdict.is_determined:
        message = f"{UNDECIDED}: {verdict.reason}" if verdict.reason else UNDECIDED
        detail |= {} if verdict.evidence else {"confidence": None}
        return Observation(VERDICT, "UNKNOWN", message=message, severity="warning", detail=detail)
    return Observation(
        rule_key=VERDICT,
        outcome="FAIL",
        message=verdict.reason,
        severity=node.severity,
        detail=detail,
        fact=same_fact.of_verdict(node.same_as, [one for one in read if one["quoted"]]),
    )


def _rehearse(node: Node, asks_llm: bool) -> Node | Skipped:
    """Only the tools that read, and one trial: a rehearsal does not wait for a better time."""
    if not asks_llm:
        return Skipped("would_ask_llm", node.instruction)
    found = ((name, tools().get(name)) for name in node.tools)
    kept = [name for name, tool in found if tool and tool.read_only]
    given = node.model_dump(exclude={"retry"}, exclude_unset=True)
    return Node.model_validate(given | {"tools": kept})


TYPE = NodeType(_work, is_slow=True, rehearse=_rehearse)
