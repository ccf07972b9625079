"""The history book as it goes into a prompt (seed 000, 2 and 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

from memory.models import WeeklyReport
from memory.reports import digest
from memory.reports.text import shown_to
from memory.visibility import Scope, scope_of
from projects.models import Member, Project

WEEKS = 50


@dataclass(frozen=True)
class Page:
    """One weekly report as a reader sees it, or (`year` > 0) the digest of a study year up to `week`."""

    week: int
    text: str
    year: int = 0

    @property
    def name(self) -> str:
        """`W12`, of a year `Y1`."""
        return f"Y{self.year}" if self.year else f"W{self.week}"

    @property
    def block(self) -> str:
        """`[W12]: …`"""
        return f"[{self.name}]: {self.text}"


def book(project: Project, member: Member, *, scope: Scope | None = None) -> list[Page]:
    """The newest fifty weeks, and the years before them as one digest each; oldest first.

    Lines about records the reader may not see are left out, and for readers of one site the figures.
    `scope`: the reader's, where this request has read it already. One statement, unless an older week was
    changed since this process read them.
    """
    scope = scope or scope_of(member)
    reports = _newest(project, member)
    weeks = [Page(report.week_number, shown_to(report.summary, [scope])) for report in reports]
    if len(weeks) < WEEKS:
        return weeks
    older = digest.years(reports[0], scope)
    return [*(Page(year.last, year.text, year.number) for year in older), *weeks]


def _newest(project: Project, member: Member) -> list[WeeklyReport]:
    """Oldest first, each with the state of the weeks before it; none for a member who left."""
    if not member.is_active:
        return []
    rows = WeeklyReport.objects.for_member(member).filter(project=project)
    newest = digest.with_state(rows).order_by("-week_number")
    return [*newest.only("project_id", "week_number", "summary")[:WEEKS]][::-1]
