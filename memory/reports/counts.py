"""The figures of a week that the memories hold themselves: messages, feedback, profile changes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from memory.hot.save import Job
from memory.log import flow_log
from memory.models import MemoryProposal, WeeklyReport
from memory.reports.metrics import SourceDown, register
from memory.reports.weeks import Period
from projects.models import Project


def register_sources() -> None:
    """Tell the weekly report what this app can count."""
    keys = ("messages", "feedback_up", "feedback_down", "feedback_reasons")
    register("conversations", keys, conversations)
    register("preferences", ("preferences",), preferences)


def conversations(project: Project, period: Period) -> Mapping[str, Any]:
    """Messages of people, 👍/👎 and the reasons; no text. Raises SourceDown once the rows are gone."""
    gone = WeeklyReport.objects.filter(project=project, week_number=period.week.number)
    if gone.exclude(log_purged_at=None).exists():
        raise SourceDown
    signs: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for _user, value, reason, times in flow_log.feedback_counts(
        project, period.since, period.until
    ):
        signs[value] += times
        if value == flow_log.Feedback.DOWN and reason:
            reasons[reason] += times
    return {
        "messages": flow_log.messages(project, period.since, period.until),
        "feedback_up": signs[flow_log.Feedback.UP],
        "feedback_down": signs[flow_log.Feedback.DOWN],
        "feedback_reasons": dict(sorted(reasons.items())),
    }


def preferences(project: Project, period: Period) -> Mapping[str, Any]:
    """Lines that repeated feedback wrote into profiles."""
    rows = MemoryProposal.objects.filter(
        project=project,
        author=Job.PROFILER,
        state=MemoryProposal.State.APPLIED,
        decided_at__gte=period.since,
        decided_at__lt=period.until,
    )
    return {"preferences": rows.count()}
