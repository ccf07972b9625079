"""Weekly reports on demand: figures from data, title and week as decisions.md says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.template.loader import render_to_string

from memory.models import WeeklyReport
from projects import audit
from projects.models import Project


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


def week_of(project: Project, day: date) -> Week | None:
    """The week a day falls into; None before the study began."""
    passed = (day - project.start_date).days
    return week(project, passed // 7 + 1) if passed >= 0 else None


def week(project: Project, number: int) -> Week:
    """Week `number`, from 1."""
    first = project.start_date + timedelta(days=7 * (number - 1))
    return Week(number, first, first + timedelta(days=6))


def exists(project: Project, number: int) -> WeeklyReport | None:
    """The stored report of a week."""
    return WeeklyReport.objects.filter(project=project, week_number=number).first()


def save(
    *, project: Project, of: Week, metrics: Mapping[str, Any], author: str
) -> tuple[WeeklyReport, bool]:
    """Store the report of a week once; returns it and whether it is new. In the caller's transaction.

    An existing report is not overwritten: people may have edited it.
    """
    zone = ZoneInfo(project.timezone)
    report, created = WeeklyReport.objects.get_or_create(
        project=project,
        week_number=of.number,
        defaults={
            "week_start": datetime.combine(of.first, time.min, zone),
            "week_end": datetime.combine(of.last, time.max, zone),
            "summary": compose(of, metrics),
            "metrics": dict(metrics),
            "created_by": author,
        },
    )
    if created:
        audit.record(
            "report.save", actor=author, project=project, subject=report, new=dict(metrics)
        )
    return report, created


def compose(of: Week, metrics: Mapping[str, Any]) -> str:
    """The Markdown of a report from its figures."""
    return render_to_string("memory/weekly_report.v1.md", {"week": of, "m": metrics}).strip()
