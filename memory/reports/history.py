"""The history book as it goes into a prompt (seed 000, 2 and 5.1).

The newest fifty weeks, and the years before them (年度总结) as one paragraph each: figures are summed from the
reports' own, decisions are taken over, no model words anything. A year is made when it is read: a person's
edit of an old report counts with the next message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import Max, RowRange, Sum, Window

from core.integrations import tokens
from core.language.periods import WEEKS_OF_YEAR as YEAR_WEEKS
from memory.models import WeeklyReport
from memory.reports.text import sections, shown_to
from memory.visibility import Scope, scope_of
from projects.models import Member, Project

WEEKS = 50
YEAR_TOKENS = 1000
"""Of one year, decisions included."""
DECISIONS = "### 关键决策"
_SUMS = {
    "enrolled": "入组 {} 例",
    "visits_done": "完成访视 {} 次",
    "findings_opened": "新增发现 {} 条",
    "findings_closed": "关闭发现 {} 条",
    "qc_runs": "质控运行 {} 次",
}


@dataclass(frozen=True)
class Page:
    """One weekly report as a reader sees it, or (`year` > 0) the digest of a study year up to `week`.

    A digest has a line per decision.
    """

    week: int
    text: str
    year: int = 0

    @property
    def name(self) -> str:
        """`W12`, of a year `Y1`."""
        return f"Y{self.year}" if self.year else f"W{self.week}"

    @property
    def weeks(self) -> range:
        """The weeks it tells of."""
        return range(YEAR_WEEKS * (self.year - 1) + 1 if self.year else self.week, self.week + 1)

    @property
    def block(self) -> str:
        """`[W12]: …`"""
        return f"[{self.name}]: {self.text}"


def book(project: Project, member: Member, *, scope: Scope | None = None) -> list[Page]:
    """The newest fifty weeks, and the years before them as one digest each; oldest first.

    Lines about records the reader may not see are left out, and for readers of one site the figures; none for
    a member who left. `scope`: the reader's, where this request has read it already. One statement, unless an
    older week was changed since this process read them.
    """
    if not member.is_active:
        return []
    scope = scope or scope_of(member)
    before: dict[str, Any] = {"order_by": "week_number", "frame": RowRange(end=-1)}
    # The state of the weeks before: the sum of the versions grows with every edit; the time alone would miss
    # one that was made by a slower clock, or was committed later than a newer one.
    rows = WeeklyReport.objects.for_member(member).filter(project=project)
    rows = rows.annotate(
        versions_before=Window(Sum("version"), **before),
        changed_before=Window(Max("updated_at"), **before),
    )
    newest = rows.order_by("-week_number").only("project_id", "week_number", "summary")[:WEEKS]
    reports: list[Any] = [*newest][::-1]
    weeks = [Page(report.week_number, shown_to(report.summary, [scope])) for report in reports]
    if len(weeks) < WEEKS or reports[0].versions_before is None:
        return weeks
    state = reports[0].versions_before, reports[0].changed_before
    return [*_years(project.pk, reports[0].week_number, scope, state), *weeks]


@lru_cache(maxsize=64)
def _years(project_id: UUID, before: int, scope: Scope, _state: Hashable) -> tuple[Page, ...]:
    rows = WeeklyReport.objects.filter(project_id=project_id, week_number__lt=before)
    if scope.blinded_since:
        rows = rows.filter(created_at__gte=scope.blinded_since)
    by_year: dict[int, list[tuple[int, str, Any]]] = defaultdict(list)
    found = rows.order_by("week_number").values_list("week_number", "summary", "metrics")
    for week, summary, metrics in found:
        # What stands below a hidden line can be told only while the report is in one piece.
        row = week, shown_to(summary, [scope]), metrics
        by_year[(week - 1) // YEAR_WEEKS + 1].append(row)
    return tuple(_year(number, rows, scope) for number, rows in sorted(by_year.items()))


def _year(number: int, rows: Sequence[tuple[int, str, Any]], scope: Scope) -> Page:
    """The sums count over all sites: a reader of one gets the decisions alone."""
    first, last = rows[0][0], rows[-1][0]
    head = f"第 {number} 年(第 {first} ~ {last} 周):{'、'.join(figures([row[2] for row in rows]))}"
    decisions = [
        (week, line.strip())
        for week, summary, _metrics in rows
        for line in sections(summary).get(DECISIONS, "").split("\n")
        if line.strip().startswith(("-", "*")) and line.strip("-* ")
    ]
    above = [head.rstrip(":")] if scope.everything else []
    return Page(last, "\n".join([*above, *_fitting(head, decisions)]), number)


def figures(metrics: Sequence[Any]) -> list[str]:
    """Sums of the known figures; one that some week does not know is marked as incomplete."""
    known: list[Mapping[str, Any]] = [m for m in metrics if isinstance(m, dict)]
    told = []
    for key, words in _SUMS.items():
        values = [m[key] for m in known if isinstance(m.get(key), int)]
        if values:
            partly = "(不完整)" if len(values) < len(metrics) else ""
            told.append(words.format(sum(values)) + partly)
    last = next((m for m in reversed(known) if isinstance(m.get("enrolled_total"), int)), None)
    if last:
        told.append(f"累计入组 {last['enrolled_total']} / {last.get('target', '-')} 例")
    return told


def _fitting(head: str, decisions: Sequence[tuple[int, str]]) -> list[str]:
    """As many decisions as a year has room for, and in which weeks the others stand."""
    room = YEAR_TOKENS - tokens.count(head)
    kept: list[str] = []
    for at, (week, line) in enumerate(decisions):
        shown = f"- 第 {week} 周 {line.lstrip('-* ')}"
        room -= tokens.count(shown) + 1
        if room < 0:
            rest = decisions[at:]
            return [*kept, f"- (另有 {len(rest)} 条决策,见第 {rest[0][0]} ~ {rest[-1][0]} 周周报)"]
        kept.append(shown)
    return kept
