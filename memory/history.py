"""The history book as it goes into a prompt (seed 000, 2 and 5.1)."""

from __future__ import annotations

from dataclasses import dataclass

from memory.models import WeeklyReport
from memory.visibility import scope_of
from projects.models import Member, Project

WEEKS = 50


@dataclass(frozen=True)
class Page:
    """One weekly report as a reader sees it."""

    week: int
    text: str

    @property
    def block(self) -> str:
        """`[W12]: …`"""
        return f"[W{self.week}]: {self.text}"


def pages(project: Project, member: Member, *, weeks: int = WEEKS) -> list[Page]:
    """The newest `weeks` reports, oldest first; lines about records the reader may not see left out."""
    scope = scope_of(member)
    rows = WeeklyReport.objects.for_member(member).filter(project=project)
    newest = rows.order_by("-week_number").values_list("week_number", "summary")[:weeks]
    return [
        Page(week, "\n".join(line for line in summary.split("\n") if scope.allows(line)))
        for week, summary in reversed(list(newest))
    ]
