"""Where the visits of a study stand, as one reader may know it: board, due lists, calendar file and tools.

Everything comes through `study.door`, so that site, blinding and outages are the query's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any
from uuid import uuid5
from zoneinfo import ZoneInfo

from django.utils.translation import gettext as _
from icalendar import Calendar, Event

from core.house import clock
from projects.models import Member, Project
from study import door
from study.dates import read_date
from study.design import StudyDesign
from study.facts import Answer, Fact, Flag
from study.visits.calendar import Standing, State, is_due_within, is_to_do

_COLUMNS = ("visit", "state", "open", "close", "target", "actual", "days")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectVisit(Standing):
    """One planned visit as a reader was told it; `days` as in `VisitState`, `facts` are what it was told by."""

    subject: str
    site: str
    visit: str
    event: str
    days: int = 0
    target: date | None = None
    actual: date | None = None
    facts: tuple[Fact, ...] = field(default=(), compare=False, repr=False)

    @property
    def day(self) -> date | None:
        """The day it has or should have: done, planned or the target of its window."""
        return self.actual or self.planned or self.target


@dataclass(frozen=True, slots=True)
class Unscheduled:
    """A visit that nobody planned: it has a date and no window, and is never due."""

    subject: str
    site: str
    day: date


@dataclass(frozen=True, slots=True)
class Schedule:
    """The visits of the reader's subjects, by subject and in the order of the plan.

    `sites`: subject -> site, also of subjects without any visit; `read_at`: ISO time of the reading.
    """

    today: date
    sites: Mapping[str, str]
    visits: tuple[SubjectVisit, ...]
    unscheduled: tuple[Unscheduled, ...]
    read_at: str | None

    @property
    def read_on(self) -> str:
        """The time of the reading for people, in the study's zone; "" where nothing was ever read."""
        return (self.read_at or "")[:16].replace("T", " ")

    def due(self, first: date, last: date, *, overdue: bool = False) -> list[SubjectVisit]:
        """What is to be done from `first` to `last` (inclusive), the most pressing first.

        `overdue`: what should have been done before today is listed, too.
        """
        late = self.overdue() if overdue else []
        within = (one for one in self.visits if is_due_within(one, first, last, self.today))
        return sorted({id(one): one for one in (*late, *within)}.values(), key=_by_pressure)

    def overdue(self) -> list[SubjectVisit]:
        """What should have been done before today and still is to be done, the most pressing first."""
        late = (v for v in self.visits if v.state is State.OVERDUE and is_to_do(v, self.today))
        return sorted(late, key=_by_pressure)

    def next_of(self, subject: str) -> SubjectVisit | None:
        """The first visit that is still to be done; None where nothing is left of the plan."""
        left = (v for v in self.visits if v.subject == subject and is_to_do(v, self.today))
        return min(left, key=_by_pressure, default=None)


def _by_pressure(one: SubjectVisit) -> tuple[date, str, str]:
    return one.close or date.max, one.subject, one.visit


def schedule(
    project: Project, member: Member | None, subjects: Iterable[str] | None = None
) -> Schedule:
    """The visits that `member` may know of (None: the house itself).

    Raises RedcapError or NotConfiguredError where nothing was ever read, pydantic.ValidationError for a plan
    that nobody could follow.
    """
    designs: list[StudyDesign] = []

    def asked(design: StudyDesign) -> list[dict[str, Any]]:
        designs.append(design)
        return schedule_queries(design, subjects)

    answers = door.ask_all(project, member, asked)
    return schedule_from(designs[0], clock.today(project.timezone), answers)


def schedule_queries(
    design: StudyDesign, subjects: Iterable[str] | None = None
) -> list[dict[str, Any]]:
    """The two StudyQueries that `told` reads, for who asks others beside them; `design`: the reader's."""
    named = None if subjects is None else [*subjects]
    dates = dict.fromkeys((design.plan.withdraw_field or "", design.unscheduled_field))
    shown = design.context.columns.keys() - design.hidden
    columns = {"subjects": named, "select": [f"@visits.{name}" for name in _COLUMNS]}
    return [columns, {"subjects": named, "select": ["@site", *(n for n in dates if n in shown)]}]


def schedule_from(design: StudyDesign, today: date, answers: Sequence[Answer]) -> Schedule:
    """The schedule in the answers to `questions`."""
    visits, beside = answers
    sites, left, extra = _beside(beside.facts, design)
    return Schedule(
        today=today,
        sites=sites,
        visits=tuple(_visit(facts, sites, left) for facts in _rows(visits.facts)),
        unscheduled=tuple(Unscheduled(who, sites.get(who, ""), day) for who, day in extra),
        read_at=visits.read_at,
    )


def _beside(
    facts: Iterable[Fact], design: StudyDesign
) -> tuple[dict[str, str], dict[str, date], list[tuple[str, date]]]:
    """Site and day of withdrawal by subject, and the unscheduled visits."""
    zone = ZoneInfo(design.plan.timezone)
    sites: dict[str, str] = {}
    left: dict[str, date] = {}
    extra = []
    for fact in facts:
        if fact.field == "@site":
            sites[fact.subject] = str(fact.value or "")
            continue
        read = read_date(fact.field, fact.text, zone)
        first = (read.span or (read.day,))[0]
        if first is None:
            continue
        if fact.field == design.plan.withdraw_field:
            left[fact.subject] = min(first, left.get(fact.subject, first))
        elif read.day is not None:
            extra.append((fact.subject, read.day))
    return sites, left, extra


def _rows(facts: Iterable[Fact]) -> Iterator[list[Fact]]:
    """The facts of each visit together; its name comes first."""
    row: list[Fact] = []
    for fact in facts:
        if fact.field == "@visits.visit" and row:
            yield row
            row = []
        row.append(fact)
    if row:
        yield row


def _visit(facts: list[Fact], sites: Mapping[str, str], left: Mapping[str, date]) -> SubjectVisit:
    head = facts[0]
    told = {fact.field.removeprefix("@visits."): fact.value for fact in facts}
    days = {name: _day(told.get(name)) for name in ("open", "close", "target", "actual")}
    return SubjectVisit(
        subject=head.subject,
        site=sites.get(head.subject, ""),
        visit=str(told["visit"]),
        event=head.event,
        state=State(str(told["state"])),
        days=int(str(told.get("days") or 0)),
        planned=_day(head.date) if Flag.PLANNED in head.flags else None,
        left=left.get(head.subject),
        facts=tuple(facts),
        **days,
    )


def _day(value: object) -> date | None:
    return date.fromisoformat(value) if isinstance(value, str) and value else None


CONTENT_TYPE = "text/calendar; charset=utf-8"
_ONE_DAY = timedelta(days=1)


def calendar_file(project: Project, visits: Iterable[SubjectVisit], at: datetime) -> bytes:
    """One all-day event a visit: on the planned day, else on its target, with the window in words.

    A visit keeps its uid, so that a calendar that reads the file again moves the event; `at`: when it was made.
    """
    made = Calendar()
    made.add("prodid", "-//IIT Manager//visits//")
    made.add("version", "2.0")
    made.add("method", "PUBLISH")
    made.add("x-wr-calname", _("Visits %(study)s") % {"study": project.code})
    for visit in visits:
        if visit.day is not None:
            made.add_component(_event(project, visit, at))
    return bytes(made.to_ical())


def _event(project: Project, visit: SubjectVisit, at: datetime) -> Event:
    event = Event()
    day = visit.day
    assert day is not None  # noqa: S101
    about = {"open": visit.open, "close": visit.close}
    event.add("uid", f"{uuid5(project.pk, f'{visit.subject}|{visit.visit}')}@iit-manager")
    event.add("dtstamp", at)
    event.add("dtstart", day)
    event.add("dtend", day + _ONE_DAY)
    event.add("summary", f"{project.code} {visit.subject} {visit.visit}")
    event.add("description", _("Window %(open)s to %(close)s") % about)
    event.add("status", "CONFIRMED" if visit.planned else "TENTATIVE")
    event.add("transp", "TRANSPARENT")
    return event
