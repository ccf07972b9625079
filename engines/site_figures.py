"""What risk by site and the pictures of a study are counted from, as one reader may know it.

Data come through `study.door` and findings through their own scope, so that site and blinding are theirs.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.utils.translation import gettext_lazy

from core.house import clock
from engines import safety
from engines.models import Deviation, PendingAction, TaskRun
from engines.sop.chain import PARTIAL
from projects.models import Member, Project
from projects.scoping import User
from study import door, proposals
from study.client import NeverReadError
from study.dates import read_date
from study.design import StudyDesign, age_fields
from study.facts import Answer, Fact, Flag, Kind
from study.site_risk import Indicator, Span, Unit
from study.visits import due
from study.visits.calendar import State

AGE_DAYS, LAG_DAYS = 14, 7
"""A finding is old, and a visit entered late, after more days than these."""
RESTS_ON_CHECKS = (Indicator.QUERY_AGE, Indicator.DEVIATIONS)
"""What quality control finds: where none ever ran it is not known, and not 0."""
NEVER_CHECKED = gettext_lazy("Not known: quality control was never run here.")
_UNTYPED = ("checkbox", "calc", "descriptive", "file")
_ONE_DAY = timedelta(days=1)
Units = dict[Indicator, list[Unit]]


@dataclass(frozen=True, slots=True)
class Event:
    """An adverse event; `day` None: without a whole date, `grade` a choice code; `is_serious` None: unknown."""

    subject: str
    site: str
    day: date | None
    grade: str
    is_serious: bool | None


@dataclass(frozen=True, slots=True)
class Opened:
    """A finding of the reader's: the days on which it was opened and closed."""

    subject: str
    site: str
    opened: date
    closed: date | None


@dataclass(frozen=True)
class SiteFigures:
    """What is known; an indicator that is not in `units` cannot be told (no such field, hidden, never checked).

    `checked`: the sites of which at least one subject went through quality control.
    `enrolled`: subject -> day; `grades`: code -> label, empty where no field grades; `site_names`: by code.
    """

    today: date
    schedule: due.Schedule
    site_names: Mapping[str, str]
    enrolled: Mapping[str, date]
    events: list[Event] | None
    grades: Mapping[str, str]
    findings: list[Opened]
    spans: list[Span]
    units: Units
    checked: frozenset[str]

    def exposure(self, indicator: Indicator) -> list[Span]:
        """The days in the study that an indicator is counted over: of checked sites where it rests on that."""
        if indicator not in RESTS_ON_CHECKS:
            return self.spans
        return [one for one in self.spans if one.site in self.checked]

    def site_name(self, code: str) -> str:
        """What people call a site."""
        return self.site_names.get(code, code) or "-"


def site_figures(project: Project, member: Member | None, user: User | None = None) -> SiteFigures:
    """From what is stored: REDCap is not asked. `member` None: a superuser, blinded where they are.

    `user`: of the console; a member alone is who a message goes to.

    Raises RedcapError, NotConfiguredError or NeverReadError where nothing was ever read,
    pydantic.ValidationError for a plan that nobody could follow.
    """
    told: dict[str, Any] = {}
    designs: list[StudyDesign] = []

    def questions(design: StudyDesign) -> list[Any]:
        designs.append(design)
        told.update(_questions(project, design))
        return [*due.schedule_queries(design), *told.values()]

    answers = door.ask_all(project, member, questions, fresh=False, user=user)
    if not answers[0].read_at:
        raise NeverReadError(project.code)
    design, today = designs[0], clock.today(project.timezone)
    schedule = due.schedule_from(design, today, answers[:2])
    facts = {name: one.facts for name, one in zip(told, (a for a in answers[2:]), strict=True)}
    enrolled = _days(facts.get("enrolled", ()), ZoneInfo(project.timezone))
    events = _events(design, facts["events"], schedule.sites) if "events" in facts else None
    spans = spans_of(enrolled, answers[1], design, schedule, _ended(design, facts.get("ended", ())))
    findings = _findings(project, member, user, schedule.sites)
    checked = checked_sites(project, member, user, schedule.sites)
    units = _units(project, design, schedule, facts)
    if events is not None:
        units[Indicator.ADVERSE] = [Unit(e.site, e.subject, e.day, of=0, hits=1) for e in events]
    if checked:
        deviations = _deviations(project, member, user, schedule.sites)
        # A late report stands there without quality control, and no day of its site is counted beside it.
        for indicator, found in zip(RESTS_ON_CHECKS, (_aged(findings), deviations), strict=True):
            units[indicator] = [one for one in found if one.site in checked]
    return SiteFigures(
        today=today,
        schedule=schedule,
        site_names=design.metadata.sites,
        enrolled=enrolled,
        events=events,
        grades=design.metadata.choices(_shown(design, proposals.grade_field(design.metadata))),
        findings=findings,
        spans=spans,
        units=units,
        checked=checked,
    )


def _units(
    project: Project,
    design: StudyDesign,
    schedule: due.Schedule,
    facts: Mapping[str, Iterable[Fact]],
) -> Units:
    """What is counted of the data themselves."""
    units: Units = {
        Indicator.VISITS: [*_visits(schedule)],
        Indicator.ENTRY_LAG: [*_entered(design, facts["entered"], schedule.sites)],
    }
    if "cells" in facts:
        units[Indicator.MISSING] = [*_cells(design, facts["cells"], schedule.sites)]
    if "status" in facts:
        screened = _days(facts.get("consent", ()), ZoneInfo(project.timezone))
        units[Indicator.SCREEN_FAILURE] = [
            *_screened(design, facts["status"], schedule.sites, screened)
        ]
    return units


def checked_sites(
    project: Project, member: Member | None, user: User | None, sites: Mapping[str, str]
) -> frozenset[str]:
    """The sites of `sites` (subject -> site) that quality control ever looked at, for all the reader knows.

    A run that failed or was cancelled told nothing. The clock of serious events is no quality control, nor is
    what it found; what else was found shows that somebody looked.
    """
    ended = (TaskRun.Status.COMPLETED, TaskRun.Status.SUSPENDED)
    runs = _seen(TaskRun.objects, member, user).filter(
        project=project, status__in=ended, skill__skill_type__startswith="qc_process"
    )
    runs = runs.exclude(triggered_by__in=PARTIAL)
    looked_at = runs.exclude(skill__skill_type=safety.TYPE).filter(record_id__in=sites)
    found = _seen(PendingAction.objects, member, user).exclude(skill_type=safety.TYPE)
    found = found.filter(project=project, record_id__in=sites)
    told = (
        looked_at.order_by()
        .values_list("record_id")
        .union(found.order_by().values_list("record_id"))
    )
    return frozenset(sites[subject] for (subject,) in told)


def _seen(rows: Any, member: Member | None, user: User | None) -> Any:
    """Rows that the reader may see."""
    return rows.for_user(user) if member is None else rows.for_member(member)


def _shown(design: StudyDesign, name: str) -> str:
    """A field that the reader may learn of, else ""."""
    return name if name in design.context.columns and name not in design.hidden else ""


def _questions(project: Project, design: StudyDesign) -> Iterator[tuple[str, Any]]:
    metadata = design.metadata
    if _shown(design, design.enrolment_field):
        yield "enrolled", {"select": [design.enrolment_field]}
    start, _end, _term = proposals.event_fields(metadata)
    if _shown(design, start):
        beside = (proposals.grade_field(metadata), design.serious[0])
        yield "events", {"select": [start, *filter(None, (_shown(design, n) for n in beside))]}
    if required := _required(design):
        yield "cells", {"select": required}
    if _shown(design, design.status_field) and proposals.screen_failures(
        metadata, design.status_field
    ):
        yield "status", {"select": [design.status_field]}
        if consent := _shown(design, age_fields(project, metadata)[1]):
            yield "consent", {"select": [consent]}
    if says_end := [name for name in design.completed if _shown(design, name)]:
        yield "ended", {"select": says_end}
    yield "entered", {"select": [f"@changes.{name}" for name in ("field", "from", "to", "at")]}


def _required(design: StudyDesign) -> list[str]:
    """The required fields that the reader may know, by form with one that says how far it is."""
    shown = [
        name
        for name, row in design.metadata.fields.items()
        if str(row.get("required_field") or "") == "y"
        and row["field_type"] not in _UNTYPED
        and _shown(design, name)
    ]
    forms = dict.fromkeys(design.form_of(name) for name in shown)
    return [*shown, *(n for n in (f"{form}_complete" for form in forms) if _shown(design, n))]


def _days(facts: Iterable[Fact], zone: ZoneInfo) -> dict[str, date]:
    """Subject -> its first whole day."""
    found: dict[str, date] = {}
    for fact in facts:
        day = read_date(fact.field, fact.text, zone).day if fact.text else None
        if day is not None:
            found[fact.subject] = min(day, found.get(fact.subject, day))
    return found


Place = tuple[str, str, str, int | None]


def _rows(facts: Iterable[Fact]) -> dict[Place, list[Fact]]:
    """The facts of each row of a form together."""
    found: defaultdict[Place, list[Fact]] = defaultdict(list)
    for one in facts:
        found[one.subject, one.event, one.instrument, one.instance].append(one)
    return found


def _events(design: StudyDesign, facts: Iterable[Fact], sites: Mapping[str, str]) -> list[Event]:
    zone = ZoneInfo(design.plan.timezone)
    start = proposals.event_fields(design.metadata)[0]
    grade = proposals.grade_field(design.metadata)
    serious, yes = design.serious
    events = []
    for (subject, *_place), row in _rows(facts).items():
        by_field = {one.field: one for one in row}
        if all(one.kind is Kind.BLANK for one in row):
            continue
        began = by_field.get(start)
        day = read_date(start, began.text, zone).day if began and began.text else None
        graded = by_field.get(grade)
        events.append(
            Event(
                subject,
                sites.get(subject, ""),
                day,
                str(graded.value or "") if graded else "",
                _says(by_field.get(serious), yes),
            )
        )
    return events


def _says(fact: Fact | None, code: str) -> bool | None:
    """Whether a field holds a code; None: it is blank, or not shown."""
    if fact is None or fact.kind is not Kind.VALUE or Flag.MISSING_CODE in fact.flags:
        return None
    return str(fact.value) == code


def _ended(design: StudyDesign, facts: Iterable[Fact]) -> set[str]:
    """The subjects of whom a code says that they completed the study."""
    return {one.subject for one in facts if str(one.value) in design.completed.get(one.field, ())}


def spans_of(
    enrolled: Mapping[str, date],
    beside: Answer,
    design: StudyDesign,
    schedule: due.Schedule,
    ended: Collection[str],
) -> list[Span]:
    """From enrolment to withdrawal or the last day of the plan, else until today."""
    field = design.plan.withdraw_field
    gone = (one for one in beside.facts if one.field == field)
    left = _days(gone, ZoneInfo(design.plan.timezone)) if field else {}
    last, today = _last_days(schedule, ended), schedule.today
    return [
        Span(
            schedule.sites.get(who, ""),
            who,
            day,
            min(left.get(who, today), last.get(who, today), today),
        )
        for who, day in enrolled.items()
        if day <= today
    ]


def _last_days(schedule: due.Schedule, ended: Collection[str]) -> dict[str, date]:
    """Subject -> the last day of its plan: each visit's own, else the end of its window.

    Of who completed the study, the last visit that was done. Where a window cannot be told the plan goes on.
    """
    plans: defaultdict[str, list[due.SubjectVisit]] = defaultdict(list)
    for one in schedule.visits:
        plans[one.subject].append(one)
    found = {}
    for who, visits in plans.items():
        done = [one.actual for one in visits if one.actual]
        days = done if who in ended and done else [one.actual or one.close for one in visits]
        known = [day for day in days if day]
        if len(known) == len(days):
            found[who] = max(known)
    return found


def _findings(
    project: Project, member: Member | None, user: User | None, sites: Mapping[str, str]
) -> list[Opened]:
    """Those of subjects that the reader sees; a false alarm or a deleted subject's says nothing of a site."""
    rows = _seen(PendingAction.objects, member, user)
    apart = (PendingAction.State.REJECTED, PendingAction.State.GONE)
    zone = ZoneInfo(project.timezone)
    told = rows.filter(project=project, record_id__in=sites).exclude(state__in=apart)
    columns = ("record_id", "created_at", "resolved_at", "open_key")
    return [
        Opened(
            subject,
            sites[subject],
            opened.astimezone(zone).date(),
            closed.astimezone(zone).date() if closed and key is None else None,
        )
        for subject, opened, closed, key in told.order_by("created_at").values_list(*columns)
    ]


def _deviations(
    project: Project, member: Member | None, user: User | None, sites: Mapping[str, str]
) -> Iterator[Unit]:
    """What the register holds of the subjects that the reader sees, and nobody rejected."""
    rows = _seen(Deviation.objects, member, user)
    rows = rows.filter(project=project, record_id__in=sites).exclude(state=Deviation.State.REJECTED)
    zone = ZoneInfo(project.timezone)
    for subject, found in rows.order_by("found_at").values_list("record_id", "found_at"):
        yield Unit(sites[subject], subject, found.astimezone(zone).date(), of=0, hits=1)


def _aged(findings: Iterable[Opened]) -> Iterator[Unit]:
    for one in findings:
        old = one.opened + timedelta(days=AGE_DAYS + 1)
        is_old = one.closed is None or one.closed >= old
        # Open today and young, it is old only from a day that is still to come.
        yield Unit(one.site, one.subject, one.opened, hits=int(is_old), hit_on=old)


def _visits(schedule: due.Schedule) -> Iterator[Unit]:
    """Visits that were done, or should have been: outside of the window is a deviation."""
    for one in schedule.visits:
        if one.state is State.OVERDUE and one.left and one.close and one.left <= one.close:
            continue
        if one.state in (State.LATE, State.OVERDUE) and one.close is not None:
            yield Unit(one.site, one.subject, one.close + _ONE_DAY, hits=1)
        elif one.state in (State.EARLY, State.IN_WINDOW):
            yield Unit(one.site, one.subject, one.actual, hits=int(one.state is State.EARLY))


def _entered(
    design: StudyDesign, facts: Iterable[Fact], sites: Mapping[str, str]
) -> Iterator[Unit]:
    """Visit dates that came into REDCap since it is read: how long after the visit."""
    dates = {visit.date_field for visit in design.plan.visits}
    zone = ZoneInfo(design.plan.timezone)
    change: dict[str, Fact] = {}
    for fact in facts:
        change[fact.field.removeprefix("@changes.")] = fact
        if fact.field != "@changes.at":
            continue
        name, was, new = (change.get(part) for part in ("field", "from", "to"))
        change = {}
        if name is None or new is None or not new.text or (was is not None and was.text):
            continue
        if str(name.value) in dates:
            day = read_date(str(name.value), new.text, zone).day
            seen = read_date("", str(fact.value or "")[:10], zone).day
            if day and seen:
                is_late = (seen - day).days > LAG_DAYS
                yield Unit(sites.get(fact.subject, ""), fact.subject, seen, hits=int(is_late))


def _cells(design: StudyDesign, facts: Iterable[Fact], sites: Mapping[str, str]) -> Iterator[Unit]:
    """The required fields of each form that was begun, and how many are blank."""
    forms: defaultdict[tuple[str, str, str, int | None], list[Fact]] = defaultdict(list)
    for one in facts:
        forms[
            one.subject, one.event, design.form_of(one.field) or one.instrument, one.instance
        ].append(one)
    zone = ZoneInfo(design.plan.timezone)
    for (subject, *_place), row in forms.items():
        cells = [one for one in row if not one.field.endswith("_complete")]
        states = [one.value for one in row if one.field.endswith("_complete")]
        blank = sum(one.kind is Kind.BLANK for one in cells)
        if cells and (blank < len(cells) or {"1", "2"} & {*map(str, states)}):
            day = read_date("", cells[0].date, zone).day if cells[0].date else None
            yield Unit(sites.get(subject, ""), subject, day, of=len(cells), hits=blank)


def _screened(
    design: StudyDesign,
    facts: Iterable[Fact],
    sites: Mapping[str, str],
    screened: Mapping[str, date],
) -> Iterator[Unit]:
    """Subjects whose status is known, since their consent."""
    failed = proposals.screen_failures(design.metadata, design.status_field)
    status = {one.subject: str(one.value) for one in facts if one.kind is not Kind.BLANK}
    for subject, code in status.items():
        hits = int(code in failed)
        yield Unit(sites.get(subject, ""), subject, screened.get(subject), hits=hits)
