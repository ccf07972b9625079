"""The weekly report job (design.md 4): each week once, missed ones later, unfinished ones again.

The database is the truth: whatever beat, the broker or an outage do, the next run sees what is missing.
"""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.core.cache import cache
from django.db.models import Exists, F, OuterRef, Q, QuerySet

from core.house import clock
from core.llm.job_llm import ModelDown
from memory.hot.save import Job
from memory.log import flow_log
from memory.models import WeeklyReport
from memory.reports import metrics, narrative, report_store
from memory.reports.metrics import Count, Figures
from memory.reports.report_store import Draft, ReportConflict
from memory.reports.weeks import (
    Week,
    bounds,
    period,
    report_of,
    week,
    week_of,
    weeks_over,
)
from projects.models import Project

log = logging.getLogger(__name__)
AUTHOR = Job.SCHEDULER
# Missed weeks and unfinished reports that one run takes up.
BACK_FILL = 4
UNFINISHED = 2
_PAUSE = timedelta(minutes=45)
# After this time figures are left to people. Conversations are tried once a day for as long as it takes: before
# they are told they may not go (memory.log.retention).
_GIVE_UP = timedelta(days=14)
_DAILY = timedelta(days=1)
# Longer than any task may take: a worker that died leaves the week to the next run.
_LOCK_S = 600


def due_weeks(project: Project, at: datetime | None = None) -> list[int]:
    """The weeks to work on: missing ones, oldest first, then those with something still to come.

    Those of a closed study end with its last conversation: without their reports the log could not go.
    """
    moment = at or clock.now()
    over = weeks_over(project, moment)
    if project.status == Project.Status.CLOSED:
        talked = flow_log.newest_at(project)
        zone = ZoneInfo(project.timezone)
        last = week_of(project, talked.astimezone(zone).date()) if talked else None
        over = min(over, last.number if last else 0)
    rows = WeeklyReport.objects.filter(project=project, week_number__lte=over)
    known = set(rows.values_list("week_number", flat=True))
    missing = [number for number in range(1, over + 1) if number not in known][:BACK_FILL]
    return [*missing, *_unfinished(rows, moment)]


def _unfinished(rows: QuerySet[WeeklyReport], moment: datetime) -> list[int]:
    """Reports that a machine began and that lack figures or narrative of the whole week; then an older one."""
    composed = report_store.machine_versions(OuterRef("pk"))
    week_end = F("week_end")
    counted = Q(counted_at__isnull=False, counted_at__gt=week_end)
    told = Q(narrated_at__isnull=False, narrated_at__gt=week_end)
    rested = Q(tried_at=None) | Q(tried_at__lt=moment - _PAUSE) | Q(tried_at__lte=week_end)
    recent = Q(created_at__gt=moment - _GIVE_UP) | Q(week_end__gt=moment - _GIVE_UP)
    begun = rows.exclude(counted & told).filter(Exists(composed))
    begun = begun.order_by(F("tried_at").asc(nulls_first=True), "week_number")
    numbers = begun.values_list("week_number", flat=True)
    older = numbers.exclude(recent).exclude(told).exclude(tried_at__gte=moment - _DAILY)
    return [*numbers.filter(rested, recent)[:UNFINISHED], *older[:1]]


def work(project: Project, number: int, counted: Count) -> bool:
    """One step on a week's report; True when another one is needed. One worker at a time does a week.

    `counted` tells the figures of findings and runs, which stand above (memory.reports.metrics.WORK).
    """
    key = f"weekly:{project.pk}:{number}"
    if not cache.add(key, 1, _LOCK_S):
        return False
    try:
        return _work(project, number, counted)
    finally:
        cache.delete(key)


def _work(project: Project, number: int, counted: Count) -> bool:
    """First the figures, so that an outage of the model leaves a report all the same; then the conversations,
    part by part; at last both together.
    """
    moment = clock.now()
    if not 0 < number <= weeks_over(project, moment):
        return False
    of = week(project, number)
    report = report_of(project, number)
    if report is not None and not report_store.is_machine_made(report):
        return False
    _since, until = bounds(project, of)
    figures = _figures(project, of, report, moment, counted)
    if report is not None and report_store.is_told(report, until):
        _store(project, of, figures, moment, told=True)
        return False
    if report is None or not report_store.is_counted(report, until):
        _store(project, of, figures, moment, told=False)
    return _narrate(project, of, figures, moment)


def _narrate(project: Project, of: Week, figures: Figures, moment: datetime) -> bool:
    try:
        more = narrative.step(project, of)
    except ModelDown as error:
        log.warning("week %d of %s has no narrative yet: %s", of.number, project.code, error)
        WeeklyReport.objects.filter(project=project, week_number=of.number).update(tried_at=moment)
        return False
    if not more:
        _store(project, of, figures, moment, told=True)
    return more


def _figures(
    project: Project, of: Week, report: WeeklyReport | None, moment: datetime, counted: Count
) -> Figures:
    """Counted once for the whole week; what an earlier count of it knew and a later one does not, stays."""
    _since, until = bounds(project, of)
    if report is not None and report_store.is_counted(report, until):
        stored = report_store.figures_of(report).items()
        return Figures({key: value for key, value in stored if key not in ("complete", "unread")})
    found = metrics.gather(project, period(project, of, moment), counted)
    final = report is not None and report.tried_at is not None and report.tried_at >= until
    return found.filled_from(report_store.figures_of(report)) if report and final else found


def _store(project: Project, of: Week, figures: Figures, moment: datetime, *, told: bool) -> None:
    text = narrative.all_parts(project, of) if told else None
    draft = Draft(period(project, of, moment), figures, text, moment)
    try:
        report_store.store(project=project, draft=draft, author=AUTHOR)
    except ReportConflict:
        log.info("week %d of %s was changed while it was written", of.number, project.code)


def so_far(project: Project, of: Week, counted: Count) -> Draft:
    """The figures of a week up to now, for a report on demand; reads REDCap, writes nothing.

    The conversations are distilled by the job alone, once the week is over.
    """
    moment = clock.now()
    part = period(project, of, moment)
    return Draft(part, metrics.gather(project, part, counted), None, moment)
