"""The figures of a week, from data (issue 4, "History book").

Counted as of the week's last day, also when a missed week is made up for later. A source that could not be
read, or that the token does not show, leaves its figures unknown (None), never 0 (design.md 9.8).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from pydantic import ValidationError

from core.integrations.redcap import RedcapError
from memory.hot.save import Job
from memory.log import flow_log
from memory.models import MemoryProposal, WeeklyReport
from memory.reports.weeks import Period
from projects.models import Project
from study import readings
from study.blinding.mask import mask_for_all
from study.client import NotConfiguredError
from study.dictionary import load
from study.enrolment_stats import enrolled_between
from study.records import RecordData
from study.visits.calendar import State, VisitState
from study.visits.window import plan_of, visit_states

ENROLLED = ("enrolled", "enrolled_total", "completion")
NONE = "-"
UNSET = "未设置"
"""In place of a figure that a setting of the study is missing for: nothing is down, and no later try helps."""


class SourceDown(Exception):
    """The source could not be read, or not completely."""


Count = Callable[[Project, Period], Mapping[str, Any]]
"""The figures of a period; raises SourceDown where they cannot be told."""
WORK = ("findings_opened", "findings_closed", "queries", "qc_runs")
"""What the caller counts: findings and runs stand above the memories."""


@dataclass(frozen=True)
class Figures:
    """Figures by name, JSON values; `unread`: those that nobody could tell."""

    values: Mapping[str, Any]
    unread: tuple[str, ...] = ()

    @property
    def stored(self) -> dict[str, Any]:
        """As `iit_weekly_reports.metrics` keeps them."""
        return {**self.values, "complete": not self.unread, "unread": list(self.unread)}

    def filled_from(self, older: Mapping[str, Any]) -> Figures:
        """The same with what an earlier count of the whole week knew."""
        known = {key: older[key] for key in self.unread if older.get(key) is not None}
        unread = tuple(key for key in self.unread if key not in known)
        return Figures({**self.values, **known}, unread)


def conversations(project: Project, period: Period) -> Mapping[str, Any]:
    """Messages of people, 👍/👎 and the reasons; no text. Raises SourceDown once the rows are gone."""
    gone = WeeklyReport.objects.filter(project=project, week_number=period.week.number)
    if gone.exclude(log_purged_at=None).exists():
        raise SourceDown
    signs: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for _user, value, reason, times in flow_log.feedback_counts(
        project, period.since, period.until
    ):
        signs[value] += times
        if value == flow_log.Feedback.DOWN and reason:
            reasons[reason] += times
    return {
        "messages": flow_log.messages(project, period.since, period.until),
        "feedback_up": signs[flow_log.Feedback.UP],
        "feedback_down": signs[flow_log.Feedback.DOWN],
        "feedback_reasons": dict(sorted(reasons.items())),
    }


def preferences(project: Project, period: Period) -> Mapping[str, Any]:
    """Lines that repeated feedback wrote into profiles."""
    rows = MemoryProposal.objects.filter(
        project=project,
        author=Job.PROFILER,
        state=MemoryProposal.State.APPLIED,
        decided_at__gte=period.since,
        decided_at__lt=period.until,
    )
    return {"preferences": rows.count()}


def enrolment(project: Project, period: Period) -> Mapping[str, Any]:
    """New in the week, in all by its end, against the target, which is ours and known."""
    target = project.target_enrolment
    try:
        if project.enrolment_field not in load(project).fields:
            return {"target": target} | dict.fromkeys(ENROLLED, UNSET)
        _records(project, [project.enrolment_field])
    except (SourceDown, RedcapError, NotConfiguredError):
        return {"target": target}
    spans = [(None, period.last), (period.week.first, period.last)]
    total, new = enrolled_between(project, spans)
    share = round(100 * total / target, 1) if target else NONE
    return {
        "enrolled": new,
        "enrolled_total": total,
        "target": target,
        "completion": int(share) if isinstance(share, float) and share.is_integer() else share,
    }


def _records(project: Project, fields: Sequence[str]) -> list[RecordData]:
    """Every subject's fields. Raises SourceDown, also when one of the fields is not shown to us."""
    try:
        readings.read_all(project)
        records = readings.of_members(project, load(project), None, None)
    except (RedcapError, NotConfiguredError) as error:
        raise SourceDown from error
    records = [*map(mask_for_all(project).record, records)]
    columns = {name for record in records for row in record.rows for name in row}
    if any(not record.complete for record in records):
        raise SourceDown
    if records and not set(fields) <= columns:
        raise SourceDown
    return records


def visits(project: Project, period: Period) -> Mapping[str, Any]:
    """Done in the week; open in their window, or missed, at its end."""
    try:
        plan = plan_of(project)
    except ValidationError as error:
        raise SourceDown from error
    named = {plan.withdraw_field or ""}
    named |= {name for visit in plan.visits for name in (visit.anchor_field, visit.date_field)}
    records = _records(project, sorted(named - {""})) if plan.visits else []
    states = [
        state
        for record in records
        for state in visit_states(project, record, period.last, plan)
        if state.state is not State.NOT_APPLICABLE
    ]
    waiting = [state for state in states if not _is_done(state, period.last) and state.open]
    return {
        "visits_done": sum(_is_done(s, period.last, period.week.first) for s in states),
        "visits_due": sum(s.open <= period.last <= s.close for s in waiting if s.open and s.close),
        "visits_overdue": sum(s.close < period.last for s in waiting if s.close),
    }


def _is_done(state: VisitState, last: date, first: date = date.min) -> bool:
    return state.actual is not None and first <= state.actual <= last


OF_MEMORY: Mapping[tuple[str, ...], Count] = {
    ("messages", "feedback_up", "feedback_down", "feedback_reasons"): conversations,
    ("preferences",): preferences,
    (*ENROLLED, "target"): enrolment,
    ("visits_done", "visits_due", "visits_overdue"): visits,
}


def gather(project: Project, period: Period, work: Count) -> Figures:
    """Ask every source, outside of any transaction: some read REDCap. `work` counts what stands above."""
    values: dict[str, Any] = {}
    for keys, count in {**OF_MEMORY, WORK: work}.items():
        try:
            found = count(project, period)
        except SourceDown:
            found = {}
        values |= {key: found.get(key) for key in keys}
    return Figures(values, tuple(key for key, value in values.items() if value is None))
