"""The weeks of a study (decisions.md, "week number"); what their reports say: memory.reports."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from memory.models import WeeklyReport
from projects.models import Project

DAYS = 7


@dataclass(frozen=True)
class Week:
    """Week n of a study: 7 days from start_date + 7(n-1), `last` included."""

    number: int
    first: date
    last: date

    @property
    def title(self) -> str:
        """`## Week 5 (2026-02-03 ~ 2026-02-09)`"""
        return f"## Week {self.number} ({self.first} ~ {self.last})"


@dataclass(frozen=True)
class Period:
    """What of a week was over at `until`: from midnight of its first day in the project's zone.

    `until` is not included; `last` is the last day that counts. `running`: the week is not over.
    """

    week: Week
    since: datetime
    until: datetime
    last: date
    running: bool


def week_of(project: Project, day: date) -> Week | None:
    """The week a day falls into; None before the study began."""
    passed = (day - project.start_date).days
    return week(project, passed // DAYS + 1) if passed >= 0 else None


def week(project: Project, number: int) -> Week:
    """Week `number`, from 1."""
    first = project.start_date + timedelta(days=DAYS * (number - 1))
    return Week(number, first, first + timedelta(days=DAYS - 1))


def bounds(project: Project, of: Week) -> tuple[datetime, datetime]:
    """The midnights in the project's zone between which a week lies; the second is not included."""
    zone = ZoneInfo(project.timezone)
    after = of.last + timedelta(days=1)
    return datetime.combine(of.first, time.min, zone), datetime.combine(after, time.min, zone)


def period(project: Project, of: Week, at: datetime) -> Period:
    """A week as far as it had come at a moment."""
    since, until = bounds(project, of)
    if at >= until:
        return Period(of, since, until, of.last, running=False)
    return Period(of, since, at, at.astimezone(ZoneInfo(project.timezone)).date(), running=True)


def weeks_over(project: Project, at: datetime) -> int:
    """How many weeks of the study had ended at a moment."""
    day = at.astimezone(ZoneInfo(project.timezone)).date()
    return max(0, (day - project.start_date).days // DAYS)


def report_of(project: Project, number: int) -> WeeklyReport | None:
    """The stored report of a week; None for none."""
    return WeeklyReport.objects.filter(project=project, week_number=number).first()
