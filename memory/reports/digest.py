"""The years before the newest fifty weeks, one paragraph each (seed 000, 5.1: 年度总结).

Figures are summed from the reports' own, decisions are taken over; no model words anything here. Made when
it is read: a person's edit of an old report counts with the next message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import Max, QuerySet, RowRange, Sum, Window

from integrations import tokens
from memory.models import WeeklyReport
from memory.reports.text import sections, shown_to
from memory.visibility import Scope

WEEKS = 52
"""Weeks of a study year, counted from the study's first."""
TOKENS = 1000
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
class Year:
    """One study year (from 1) up to week `last`, before the newest weeks; `text` has a line per decision."""

    number: int
    last: int
    text: str


Row = tuple[int, str, Any]


def with_state(reports: QuerySet[WeeklyReport]) -> QuerySet[WeeklyReport]:
    """Each report with the state of the weeks before it: another one as soon as any of them is changed.

    The sum of the versions grows with every edit; the time alone would miss one that was made by a
    slower clock, or was committed later than a newer one.
    """
    before: dict[str, Any] = {"order_by": "week_number", "frame": RowRange(end=-1)}
    return reports.annotate(
        versions_before=Window(Sum("version"), **before),
        changed_before=Window(Max("updated_at"), **before),
    )


def years(report: Any, scope: Scope) -> tuple[Year, ...]:
    """The digests of the weeks before a report that was read `with_state`, ascending, for one reader."""
    if report.versions_before is None:
        return ()
    state = report.versions_before, report.changed_before
    return _years(report.project_id, report.week_number, scope, state)


@lru_cache(maxsize=64)
def _years(project_id: UUID, before: int, scope: Scope, _state: Hashable) -> tuple[Year, ...]:
    rows = WeeklyReport.objects.filter(project_id=project_id, week_number__lt=before)
    if scope.blinded_since:
        rows = rows.filter(created_at__gte=scope.blinded_since)
    by_year: dict[int, list[Row]] = defaultdict(list)
    found = rows.order_by("week_number").values_list("week_number", "summary", "metrics")
    for week, summary, metrics in found:
        # What stands below a hidden line can be told only while the report is in one piece.
        row = week, shown_to(summary, [scope]), metrics
        by_year[(week - 1) // WEEKS + 1].append(row)
    return tuple(_year(number, rows, scope) for number, rows in sorted(by_year.items()))


def _year(number: int, rows: Sequence[Row], scope: Scope) -> Year:
    """The sums count over all sites: a reader of one gets the decisions alone."""
    first, last = rows[0][0], rows[-1][0]
    head = f"第 {number} 年(第 {first} ~ {last} 周):{'、'.join(figures([row[2] for row in rows]))}"
    above = [head.rstrip(":")] if scope.everything else []
    return Year(number, last, "\n".join([*above, *_fitting(head, _decisions(rows))]))


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


def _decisions(rows: Sequence[Row]) -> list[tuple[int, str]]:
    """(week, line) of everything that stands under 关键决策."""
    found = []
    for week, summary, _metrics in rows:
        body = sections(summary).get(DECISIONS, "")
        lines = (line.strip() for line in body.split("\n"))
        found += [
            (week, line) for line in lines if line.startswith(("-", "*")) and line.strip("-* ")
        ]
    return found


def _fitting(head: str, decisions: Sequence[tuple[int, str]]) -> list[str]:
    """As many decisions as a year has room for, and in which weeks the others stand."""
    room = TOKENS - tokens.count(head)
    kept: list[str] = []
    for at, (week, line) in enumerate(decisions):
        shown = f"- 第 {week} 周 {line.lstrip('-* ')}"
        room -= tokens.count(shown) + 1
        if room < 0:
            rest = decisions[at:]
            return [*kept, f"- (另有 {len(rest)} 条决策,见第 {rest[0][0]} ~ {rest[-1][0]} 周周报)"]
        kept.append(shown)
    return kept
