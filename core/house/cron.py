"""When a schedule is due, and firing it once (decisions.md, "cron skills"; design.md 3).

`due_at` is the last cron time not after now in the project's zone, never the arrival time of the wake-up:
two beats, a late broker and a restart all arrive at the same row.

Expressions are read as crontab(5) reads them: 0 and 7 are Sunday, and where both the day of the month and the
weekday are limited, either of them is enough; `*/n` in one of them limits the days of the other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from functools import lru_cache
from zoneinfo import ZoneInfo

from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core.house.db import atomic
from core.house.models import CronFiring

FIELDS = (
    gettext_lazy("minute"),
    gettext_lazy("hour"),
    gettext_lazy("day of the month"),
    gettext_lazy("month"),
    gettext_lazy("weekday"),
)
"""In the order of an expression."""
USUAL = ("0 9 * * *", "0 9 * * 1", "0 9 1 * *")
"""Every day, every Monday, every first of a month."""
SPANS = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 7))
"""Least and most of minute, hour, day of the month, month, weekday (Sunday is 0 and 7)."""
_SECONDS_FIRST = (6, 7)  # Quartz and others: seconds before the five, a year behind them
NEAREST = 3
_LOOK_BACK = timedelta(days=366)
_MINUTE = timedelta(minutes=1)
_WEEKDAY = 4
_SIZES = (60, 24, 31, 12, 7)
_LONGEST = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
_PIECE = re.compile(r"(?:\*|(\w+)(?:-(\w+))?)(?:(?<=[*\w])/([0-9]{1,3}))?", re.ASCII)
_NAMES = {
    3: ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"],
    _WEEKDAY: ["sun", "mon", "tue", "wed", "thu", "fri", "sat"],
}


@dataclass(frozen=True)
class Plan:
    """A cron expression as numbers, sorted; Sunday is 0. `either`: a day needs one of the two day fields."""

    either: bool
    minute: list[int]
    hour: list[int]
    day_of_month: list[int]
    month_of_year: list[int]
    day_of_week: list[int]

    def has(self, day: date) -> bool:
        """Whether it names a time of this day."""
        matches = day.day in self.day_of_month, day.isoweekday() % 7 in self.day_of_week
        return day.month in self.month_of_year and (any if self.either else all)(matches)

    @property
    def month_has_day(self) -> bool:
        """Whether one of its months can have one of its days."""
        longest = max(_LONGEST[month - 1] for month in self.month_of_year)
        return self.day_of_month[0] <= longest


def parse_cron(expression: str) -> Plan:
    """A five-field cron expression. Raises ValidationError with what is wrong, and the nearest right ones."""
    try:
        return _parsed(expression)
    except ValidationError as error:
        raise _with_nearest(error, expression) from None


@lru_cache(maxsize=512)  # a sweep asks for each study's schedule once a minute
def _parsed(expression: str) -> Plan:
    parts = expression.split()
    if len(parts) != len(FIELDS):
        raise ValidationError(_("A schedule has five fields: minute, hour, day, month, weekday."))
    numbers = [_numbers(at, part) for at, part in enumerate(parts)]
    day, weekday = parts[2], parts[_WEEKDAY]
    limited = len(numbers[2]) < _SIZES[2] and len(numbers[_WEEKDAY]) < _SIZES[_WEEKDAY]
    plan = Plan(limited and "*" not in day + weekday, *numbers)
    if not plan.either and not plan.month_has_day:
        raise ValidationError(_("No month of these has this day: it never occurs."))
    return plan


def _numbers(at: int, part: str) -> list[int]:
    """What the field `at` names."""
    try:
        found = [number for piece in part.split(",") for number in _piece(at, piece)]
    except ValueError:
        least, most = SPANS[at]
        told = _("“%(part)s” is no %(field)s: it goes from %(least)d to %(most)d.")
        said = {"part": part, "field": FIELDS[at], "least": least, "most": most}
        raise ValidationError(told % said) from None
    return sorted(set(found))


def _piece(at: int, piece: str) -> Iterator[int]:
    """`*`, a number, a range that may go over the end (fri-mon), each with `/step` but the number."""
    found = _PIECE.fullmatch(piece)
    if found is None or (found[1] and not found[2] and found[3]):
        raise ValueError(piece)
    least, size = SPANS[at][0], _SIZES[at]
    first = _number(at, found[1]) if found[1] else least
    last = _number(at, found[2] or found[1]) if found[1] else least + size - 1
    for number in range(first, last + 1 + size * (last < first), int(found[3] or 1)):
        yield least + (number - least) % size


def _number(at: int, text: str) -> int:
    names, name = _NAMES.get(at, []), text.lower()[:3]
    least, most = SPANS[at]
    if name in names:
        return names.index(name) + least
    if len(text) > len("2026") or not least <= int(text) <= most:
        raise ValueError(text)
    return int(text)


def _with_nearest(error: ValidationError, expression: str) -> ValidationError:
    right = [" ".join(near.split()) for near in _candidates(expression) if _is_right(near)]
    nearest = _("Nearest: %(near)s") % {"near": "、".join([*dict.fromkeys(right)][:NEAREST])}
    return ValidationError(f"{error.messages[0]} {nearest}")


def _candidates(expression: str) -> Iterator[str]:
    """Expressions near a wrong one, the nearest first; not all of them are right."""
    parts = expression.replace("?", "*").split()
    if len(parts) in _SECONDS_FIRST:
        parts = parts[1:6]
    if len(parts) == 1 and ":" in parts[0]:
        hour, _colon, minute = parts[0].partition(":")
        parts = [minute, hour, "*", "*", "*"]
    if 0 < len(parts) < len(SPANS):
        parts += ["*"] * (len(SPANS) - len(parts))
    yield " ".join(map(_within, parts, SPANS))
    yield from USUAL


def _within(part: str, span: tuple[int, int]) -> str:
    """A number beyond its span as the last one in it; the rest as it stands."""
    least, most = span
    if not (part.isascii() and part.isdecimal()) or len(part) > 4:
        return part
    return str(min(max(int(part), least), most))


def _is_right(expression: str) -> bool:
    try:
        _parsed(expression)
    except ValidationError:
        return False
    return True


def last_due(expression: str, *, zone: str, at: datetime) -> datetime | None:
    """The last time not after `at` that the expression names in `zone`; None within the last year."""
    plan = parse_cron(expression)
    local = at.astimezone(ZoneInfo(zone)).replace(second=0, microsecond=0)
    for back in range(_LOOK_BACK.days):
        for due in reversed(_times(plan, local - timedelta(days=back))):
            if due <= local:
                return due
    return None


def next_dues(expression: str, *, zone: str, after: datetime, most: int) -> list[datetime]:
    """The first `most` times after a moment that the expression names in `zone`, within a year."""
    plan = parse_cron(expression)
    local = after.astimezone(ZoneInfo(zone))
    found: list[datetime] = []
    for ahead in range(_LOOK_BACK.days):
        found += [due for due in _times(plan, local + timedelta(days=ahead)) if due > local]
        if len(found) >= most:
            break
    return found[:most]


def _times(plan: Plan, day: datetime) -> list[datetime]:
    """The times of the day of `day` in its zone, in order."""
    if not plan.has(day.date()):
        return []
    return [
        datetime(day.year, day.month, day.day, hour, minute, tzinfo=day.tzinfo)
        for hour in plan.hour
        for minute in plan.minute
    ]


def dues(
    expression: str, *, zone: str, after: datetime, before: datetime, most: int
) -> list[datetime]:
    """The newest `most` due times between two moments, both left out, in order."""
    found: list[datetime] = []
    due = last_due(expression, zone=zone, at=before - _MINUTE)
    while due is not None and due > after and len(found) < most:
        found.append(due)
        due = last_due(expression, zone=zone, at=due - _MINUTE)
    return found[::-1]


def claim(job: str, due_at: datetime) -> bool:
    """True for the one caller that may fire `job` for `due_at`; call it inside the firing's transaction."""
    try:
        with atomic():
            CronFiring.objects.create(job=job, due_at=due_at)
    except IntegrityError:
        return False
    return True
