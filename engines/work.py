"""Findings, reviews and runs by subject, as the query shows them (contracts.md, Columns)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import chain
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _

from core.house import clock
from engines import labels, redcap_asks
from engines.models import PendingAction, Review, TaskRun
from engines.sop.chain import PARTIAL
from engines.sop.checks import switch
from engines.sop.findings import UNDECIDED
from memory.reports.weeks import Period
from projects.models import Member, Project
from projects.scoping import User
from study.dictionary import load
from study.metadata import StudyMetadata
from study.models import RedcapQuery
from study.records import state_of
from study.redcap_queries import as_of
from study.registry import Rows, WorkRow


def findings(project: Project, member: Member | None, user: User | None = None) -> Rows:
    """Findings of all states, oldest first."""
    today = clock.today(project.timezone)
    metadata = load(project)
    rows = [*_visible(PendingAction.objects, project, member, user).order_by("created_at")]
    for row in rows:
        row.project = project
    asked, others = redcap_asks.beside(project, member, rows, user)
    ours = (
        (
            row.record_id,
            {
                "status": _status(row),
                "assignee": row.assignee,
                "rule": row.rule_key,
                # Of no field in particular: that is known, and no blank.
                "field": row.field or "-",
                "place": labels.place_of_finding(row, metadata),
                "opened": _day(project, row.created_at),
                "age": (today - datetime.fromisoformat(_day(project, row.created_at)).date()).days,
                "text": _told(row, metadata, asked.get(row.pk)),
                "reason": _undecided(row),
                "mine": "yes" if member and row.assignee == member.identity else "",
            },
        )
        for row in rows
    )
    return _by_subject(chain(ours, _asked_by_redcap(project, others, today)))


def _asked_by_redcap(
    project: Project, queries: Sequence[RedcapQuery], today: date
) -> Iterator[tuple[str, WorkRow]]:
    """Open queries of REDCap that no finding is about, as findings with the same columns."""
    state, metadata = (state_of(project), load(project)) if queries else (None, None)
    note = f" ({as_of(state)})" if state and state.queries_cause else ""
    for one in queries:
        opened = _day(project, one.opened_at)
        yield (
            one.record_id,
            {
                "status": "open",
                "assignee": one.assigned,
                "rule": redcap_asks.RULE,
                "field": one.field or "-",
                "place": labels.place_of_finding(one, metadata),
                "opened": opened,
                "age": (today - date.fromisoformat(opened)).days,
                "text": redcap_asks.words(one) + note,
                "reason": "",
                "mine": "",
            },
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


def _told(row: PendingAction, metadata: StudyMetadata, asked: int | None) -> str:
    """The message with the value that was found, which identifies nobody; whether REDCap asks it, too."""
    note = "" if asked is None else f" [{redcap_asks.told(asked)}]"
    message: str = row.message
    name, value = row.field or "", row.value.strip()
    if name not in metadata.fields or name in metadata.identifier_fields:
        return message + note
    if not value or value in message:
        return message + note
    shown = metadata.choices(name).get(value, value)
    return _("%(message)s (found: %(value)s)") % {"message": message, "value": shown} + note


def reviews(project: Project, member: Member | None, user: User | None = None) -> Rows:
    """Open reviews, oldest first."""
    rows = _visible(Review.objects, project, member, user).filter(status=Review.Status.OPEN)
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


def runs(project: Project, member: Member | None, user: User | None = None) -> Rows:
    """Checks of all states, oldest first; runs of single rules say nothing of the whole."""
    found = _visible(TaskRun.objects, project, member, user).select_related("skill")
    found = found.exclude(triggered_by__in=PARTIAL)
    rows = [*found.defer("data", "config", "skill__config").order_by("created_at")]
    newest = {(row.record_id, row.skill_id): row.pk for row in rows}
    on = switch.running(project)
    return _by_subject(
        (
            row.record_id,
            {
                "status": row.status,
                "final_state": row.final_state,
                "ended": _day(project, row.completed_at),
                "reason": _(";").join(filter(None, [row.message, _covered(row, on)])),
                "skill": row.skill.skill_type,
                "newest": "yes" if newest[row.record_id, row.skill_id] == row.pk else "",
            },
        )
        for row in rows
    )


def _covered(row: TaskRun, on: Collection[str]) -> str:
    return switch.coverage(row, on) if row.status == TaskRun.Status.COMPLETED else ""


def _visible(rows: Any, project: Project, member: Member | None, user: User | None) -> Any:
    if member is not None:
        return rows.for_member(member)
    return (rows.for_user(user) if user else rows).filter(project=project)


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
        # As chat and desk count them: what REDCap asks beside them is open, too.
        "queries": rows.unclosed(period.until).count()
        + redcap_asks.open_at(project, period.until).count(),
        "qc_runs": runs.filter(created_at__gte=period.since, created_at__lt=period.until).count(),
    }
