"""When a schedule is due, and firing it once (decisions.md, "cron skills"; design.md 3).

`due_at` is the last cron time not after now in the project's zone, never the arrival time of the wake-up:
two beats, a late broker and a restart all arrive at the same row.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from celery.schedules import ParseException, crontab
from django.core.exceptions import ValidationError
from django.db import IntegrityError
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from house.cron_nearest import SPANS, candidates
from house.db import atomic
from house.models import CronFiring

FIELDS = {
    "minute": gettext_lazy("minute"),
    "hour": gettext_lazy("hour"),
    "day_of_month": gettext_lazy("day of the month"),
    "month_of_year": gettext_lazy("month"),
    "day_of_week": gettext_lazy("weekday"),
}
"""As celery calls them, in the order of an expression."""
NEAREST = 3
_LOOK_BACK = timedelta(days=366)
_MINUTE = timedelta(minutes=1)


def parse(expression: str) -> crontab:
    """A five-field cron expression. Raises ValidationError with what is wrong, and the nearest right ones."""
    parts = expression.split()
    if len(parts) != len(FIELDS):
        raise _wrong(
            _("A schedule has five fields: minute, hour, day, month, weekday."), expression
        )
    fields = dict(zip(FIELDS, parts, strict=True))
    for (name, part), (least, most) in zip(fields.items(), SPANS, strict=True):
        if not _is_right({name: part}):
            told = _("“%(part)s” is no %(field)s: it goes from %(least)d to %(most)d.")
            said = {"part": part, "field": FIELDS[name], "least": least, "most": most}
            raise _wrong(told % said, expression)
    if not _is_right(fields):
        raise _wrong(_("No month of these has this day: it never occurs."), expression)
    return crontab(**fields)


def _is_right(fields: Mapping[str, str]) -> bool:
    try:
        crontab(**fields)
    except (ParseException, ValueError):
        return False
    return True


def _wrong(why: str, expression: str) -> ValidationError:
    found = (near.split() for near in candidates(expression))
    right = [
        " ".join(parts)
        for parts in found
        if len(parts) == len(FIELDS) and _is_right(dict(zip(FIELDS, parts, strict=True)))
    ]
    nearest = _("Nearest: %(near)s") % {"near": "、".join([*dict.fromkeys(right)][:NEAREST])}
    return ValidationError(f"{why} {nearest}")


def last_due(expression: str, *, zone: str, at: datetime) -> datetime | None:
    """The last time not after `at` that the expression names in `zone`; None within the last year."""
    schedule = parse(expression)
    local = at.astimezone(ZoneInfo(zone)).replace(second=0, microsecond=0)
    day = local.date()
    for back in range(_LOOK_BACK.days):
        date = day - timedelta(days=back)
        if not _day_matches(schedule, date.isoweekday() % 7, date.day, date.month):
            continue
        for hour in sorted(schedule.hour, reverse=True):
            for minute in sorted(schedule.minute, reverse=True):
                due = datetime(date.year, date.month, date.day, hour, minute, tzinfo=local.tzinfo)
                if due <= local:
                    return due
    return None


def next_dues(expression: str, *, zone: str, after: datetime, most: int) -> list[datetime]:
    """The first `most` times after a moment that the expression names in `zone`, within a year."""
    schedule = parse(expression)
    local = after.astimezone(ZoneInfo(zone))
    found: list[datetime] = []
    for ahead in range(_LOOK_BACK.days):
        date = local.date() + timedelta(days=ahead)
        if not _day_matches(schedule, date.isoweekday() % 7, date.day, date.month):
            continue
        for hour in sorted(schedule.hour):
            for minute in sorted(schedule.minute):
                due = datetime(date.year, date.month, date.day, hour, minute, tzinfo=local.tzinfo)
                if due > local:
                    found.append(due)
                if len(found) == most:
                    return found
    return found


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


def _day_matches(schedule: crontab, weekday: int, day: int, month: int) -> bool:
    return (
        weekday in schedule.day_of_week
        and day in schedule.day_of_month
        and month in schedule.month_of_year
    )


def claim(job: str, due_at: datetime) -> bool:
    """True for the one caller that may fire `job` for `due_at`; call it inside the firing's transaction."""
    try:
        with atomic():
            CronFiring.objects.create(job=job, due_at=due_at)
    except IntegrityError:
        return False
    return True
