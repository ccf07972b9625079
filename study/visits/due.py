"""Where the visits of a study stand, as one reader may know it: board, due lists, calendar file and tools.

Everything comes through `study.door`, so that site, blinding and outages are the query's.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from house import clock
from projects.models import Member, Project
from study import door
from study.dates import read_date
from study.design import StudyDesign
from study.facts import Answer, Fact, Flag
from study.visits.calendar import State, is_due_within, is_to_do

_COLUMNS = ("visit", "state", "open", "close", "target", "actual", "days")


@dataclass(frozen=True, slots=True)
class SubjectVisit:
    """One planned visit of one subject; `days` as in `VisitState`, `facts` are what it was told by.

    `planned`: the day in the future that was made out; `left`: when the subject withdrew.
    """

    subject: str
    site: str
    visit: str
    event: str
    state: State
    days: int = 0
    open: date | None = None
    close: date | None = None
    target: date | None = None
    actual: date | None = None
    planned: date | None = None
    left: date | None = None
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
        found = [
            one
            for one in self.visits
            if is_due_within(one, first, last, self.today)
            or (overdue and one.state is State.OVERDUE and is_to_do(one, self.today))
        ]
        return sorted(found, key=lambda one: (one.close or date.max, one.subject, one.visit))


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
        return questions(design, subjects)

    answers = door.ask_all(project, member, asked)
    return told(designs[0], clock.today(project.timezone), answers)


def questions(design: StudyDesign, subjects: Iterable[str] | None = None) -> list[dict[str, Any]]:
    """The two StudyQueries that `told` reads, for who asks others beside them; `design`: the reader's."""
    named = None if subjects is None else [*subjects]
    columns = {"subjects": named, "select": [f"@visits.{name}" for name in _COLUMNS]}
    return [columns, {"subjects": named, "select": ["@site", *_fields(design)]}]


def told(design: StudyDesign, today: date, answers: Sequence[Answer]) -> Schedule:
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


def _fields(design: StudyDesign) -> list[str]:
    wanted = (design.plan.withdraw_field or "", design.unscheduled_field)
    shown = design.context.columns.keys() - design.hidden
    return [name for name in dict.fromkeys(wanted) if name in shown]


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
