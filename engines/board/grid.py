"""The visits of a schedule as rows of subjects, and as days of a week or month."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date, timedelta

from engines.board.chosen import Chosen
from engines.board.marks import Mark, mark
from study.visits.calendar import is_to_do
from study.visits.due import Schedule, SubjectVisit, Unscheduled


@dataclass(frozen=True)
class Row:
    """One subject: a cell for each visit of the board, None where none is planned for it."""

    subject: str
    pk: int | None
    site: str
    cells: list[Mark | None]
    unscheduled: list[date]


@dataclass(frozen=True)
class Day:
    """A day of the calendar with the visits that are done, planned or aimed at on it."""

    day: date
    is_today: bool
    is_outside: bool
    marks: list[Mark]
    unscheduled: list[Unscheduled]


def visits_of(schedule: Schedule) -> list[str]:
    """Names of the visits, in the order of the plan."""
    return [*dict.fromkeys(one.visit for one in schedule.visits)]


def rows(
    schedule: Schedule, chosen: Chosen, columns: Iterable[str], keys: Mapping[str, int]
) -> list[Row]:
    """The subjects of whom the filters leave something; without a filter all of them."""
    columns = [*columns]
    by_subject: dict[str, dict[str, SubjectVisit]] = {}
    for one in schedule.visits:
        if chosen.keeps(one):
            by_subject.setdefault(one.subject, {})[one.visit] = one
    extra: dict[str, list[date]] = {}
    for other in schedule.unscheduled:
        extra.setdefault(other.subject, []).append(other.day)
    return [
        Row(
            subject,
            keys.get(subject),
            schedule.sites.get(subject, ""),
            [mark(own[name], schedule.today) if name in own else None for name in columns],
            sorted(extra.get(subject, ())),
        )
        for subject, own in sorted(by_subject.items())
    ]


def days(schedule: Schedule, chosen: Chosen, keys: Mapping[str, int]) -> list[Day]:
    """The days of the chosen week or month, each with its visits."""
    first, last = chosen.span
    found: dict[date, list[Mark]] = {}
    for one in schedule.visits:
        shown = is_to_do(one, schedule.today) or one.actual
        if shown and one.day and first <= one.day <= last and chosen.keeps(one):
            found.setdefault(one.day, []).append(mark(one, schedule.today, keys))
    extra: dict[date, list[Unscheduled]] = {}
    for other in schedule.unscheduled:
        if chosen.site in ("", other.site) and not chosen.state and not chosen.visit:
            extra.setdefault(other.day, []).append(other)
    spread = [first + timedelta(days=n) for n in range((last - first).days + 1)]
    return [
        Day(
            day,
            day == schedule.today,
            chosen.view == "month" and day.month != chosen.day.month,
            found.get(day, []),
            extra.get(day, []),
        )
        for day in spread
    ]


def to_do(schedule: Schedule, chosen: Chosen, keys: Mapping[str, int]) -> list[Mark]:
    """What is to be done in the chosen week or month, with what is overdue where today lies in it."""
    first, last = chosen.span
    overdue = first <= schedule.today <= last
    found = schedule.due(first, last, overdue=overdue)
    return [mark(one, schedule.today, keys) for one in found if chosen.keeps(one)]
