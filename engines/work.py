"""Findings, reviews and runs by subject, as the query shows them (contracts.md, Columns)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from core.house import clock
from engines import labels
from engines.models import PendingAction, Review, TaskRun
from engines.sop.checks import switch
from engines.sop.findings import UNDECIDED
from memory.reports.weeks import Period
from projects.models import Member, Project
from study.dictionary import load
from study.metadata import StudyMetadata
from study.registry import Rows, WorkRow


def findings(project: Project, member: Member | None) -> Rows:
    """Findings of all states, oldest first."""
    today = clock.today(project.timezone)
    metadata = load(project)
    rows = _visible(PendingAction.objects, project, member).order_by("created_at")
    return _by_subject(
        (
            row.record_id,
            {
                "status": _status(row),
                "assignee": row.assignee,
                "rule": row.rule_key,
                # Of no field in particular: that is known, and no blank.
                "field": row.field or "-",
                "opened": _day(project, row.created_at),
                "age": (today - datetime.fromisoformat(_day(project, row.created_at)).date()).days,
                "text": _told(row, metadata),
                "reason": _undecided(row),
                "mine": "yes" if member and row.assignee == member.identity else "",
            },
        )
        for row in rows
    )


def _status(row: PendingAction) -> str:
    """open (what a person confirmed or asked the site about, too), data_changed, gone or closed."""
    if row.open_key is None:
        return "closed"
    apart = {PendingAction.State.DATA_CHANGED, PendingAction.State.GONE}
    return row.state if row.state in apart else "open"


def _undecided(row: PendingAction) -> str:
    """Why the rule could not be evaluated; "" where it was."""
    if row.outcome not in UNDECIDED:
        return ""
    return labels.name(labels.REASONS, row.reason) or _("Error")


def _told(row: PendingAction, metadata: StudyMetadata) -> str:
    """The message with the value that was found, which identifies nobody."""
    message: str = row.message
    name, value = row.field or "", row.value.strip()
    if name not in metadata.fields or name in metadata.identifier_fields:
        return message
    if not value or value in message:
        return message
    shown = metadata.choices(name).get(value, value)
    return _("%(message)s (found: %(value)s)") % {"message": message, "value": shown}


def reviews(project: Project, member: Member | None) -> Rows:
    """Open reviews, oldest first."""
    rows = _visible(Review.objects, project, member).filter(status=Review.Status.OPEN)
    return _by_subject(
        (
            row.record_id,
            {
                "question": row.question,
                "waiting_for": "、".join(row.reviewers),
                "since": _day(project, row.created_at),
            },
        )
        for row in rows.order_by("created_at")
    )


def runs(project: Project, member: Member | None) -> Rows:
    """Runs of all states, oldest first."""
    rows = _visible(TaskRun.objects, project, member).defer("data", "config")
    on = switch.running(project)
    return _by_subject(
        (
            row.record_id,
            {
                "status": row.status,
                "final_state": row.final_state,
                "ended": _day(project, row.completed_at),
                "reason": row.message or _covered(row, on),
            },
        )
        for row in rows.order_by("created_at")
    )


def _covered(row: TaskRun, on: Collection[str]) -> str:
    return switch.coverage(row, on) if row.status == TaskRun.Status.COMPLETED else ""


def _visible(rows: Any, project: Project, member: Member | None) -> Any:
    return rows.filter(project=project) if member is None else rows.for_member(member)


def _by_subject(rows: Iterable[tuple[str | None, WorkRow]]) -> Mapping[str, list[WorkRow]]:
    found: defaultdict[str, list[WorkRow]] = defaultdict(list)
    for record_id, row in rows:
        if record_id:
            found[record_id].append(row)
    return found


def _day(project: Project, moment: datetime | None) -> str:
    return moment.astimezone(ZoneInfo(project.timezone)).date().isoformat() if moment else ""


def week_figures(project: Project, period: Period) -> Mapping[str, Any]:
    """Of a weekly report: findings opened, closed, open at the week's end, and the runs of quality control."""
    rows = PendingAction.objects.for_all(project)
    opened = rows.filter(created_at__gte=period.since, created_at__lt=period.until)
    closed = rows.filter(resolved_at__gte=period.since, resolved_at__lt=period.until)
    runs = TaskRun.objects.for_all(project).filter(skill__skill_type__startswith="qc_process")
    return {
        "findings_opened": opened.count(),
        "findings_closed": closed.count(),
        "queries": rows.unclosed(period.until).count(),
        "qc_runs": runs.filter(created_at__gte=period.since, created_at__lt=period.until).count(),
    }
