"""How long the flow log is kept (design.md 4): `flow_log_days` after the report that covers it, never less.

A week goes only when every one of its rows was read for the report. What is counted beyond a report, each
user's 👍/👎, is kept as a tally.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import F
from django.utils.timezone import now

from core.house.db import atomic
from memory.hot.save import Job
from memory.log import flow_log
from memory.models import WeeklyReport
from memory.reports import narrative
from memory.reports.weeks import bounds, week
from projects import audit
from projects.models import Project

AUTHOR = Job.SCHEDULER
# Writes stay short: other writers of an embedded database wait for them.
CHUNK = 500
CHUNKS = 40


def purge(project: Project, at: datetime | None = None) -> int:
    """Delete what may go, at most `CHUNKS` times `CHUNK` rows; returns how many went."""
    moment = at or now()
    gone, left = 0, CHUNKS
    for report in _ripe(project, moment):
        while left > 0 and report.log_purged_at is None:
            rows = _chunk(report, moment)
            gone += rows
            left -= bool(rows)
    return gone


def _ripe(project: Project, moment: datetime) -> list[WeeklyReport]:
    """Reports whose narrative is old enough, oldest week first."""
    kept = timedelta(days=project.flow_log_days)
    rows = WeeklyReport.objects.filter(
        project=project,
        log_purged_at=None,
        narrated_at__gt=F("week_end"),
        narrated_at__lte=moment - kept,
    )
    found = rows.select_related("project").order_by("week_number")
    return [
        report
        for report in found
        if narrative.covered(project, week(project, report.week_number), moment)
    ]


def _chunk(report: WeeklyReport, moment: datetime) -> int:
    """One short transaction; the week is marked when nothing is left of it."""
    project = report.project
    since, until = bounds(project, week(project, report.week_number))
    with atomic():
        # Locks the report's row: what a job delivered twice deletes is counted into the tally once.
        if not WeeklyReport.objects.filter(pk=report.pk, log_purged_at=None).update(
            log_purged_at=None
        ):
            report.log_purged_at = moment
            return 0
        gone = flow_log.delete_some(project, since, until, most=CHUNK)
        if gone:
            audit.record(
                "log.purge",
                actor=AUTHOR,
                project=project,
                subject=report,
                new={"week": report.week_number, "rows": gone},
            )
        if gone < CHUNK:
            WeeklyReport.objects.filter(pk=report.pk).update(log_purged_at=moment)
            report.log_purged_at = moment
    return gone
