"""When a message that nobody asked for may be delivered (issue C: "best time, not in quiet hours, …").

Pure arithmetic on the calendar of the study's zone; what is urgent asks none of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from zoneinfo import ZoneInfo

from core.house import holidays
from projects.models import Project

_STEP = timedelta(minutes=15)


@dataclass(frozen=True)
class Span:
    """A part of the day, `start` included, `end` not; over midnight where `end` comes first.

    Equal ends hold nothing.
    """

    start: time
    end: time

    def __contains__(self, clock: time) -> bool:
        """Whether a time of the day lies inside."""
        if self.start <= self.end:
            return self.start <= clock < self.end
        return clock >= self.start or clock < self.end


@dataclass(frozen=True)
class Rest:
    """When a study's people are left in peace."""

    zone: ZoneInfo
    hours: Span
    holidays: bool = True
    weekends: bool = False

    @classmethod
    def of(cls, project: Project) -> Rest:
        """The settings of a study."""
        return cls(
            zone=ZoneInfo(project.timezone),
            hours=Span(project.quiet_from, project.quiet_until),
            holidays=project.quiet_holidays,
            weekends=project.quiet_weekends,
        )

    def covers(self, moment: datetime) -> bool:
        """Whether nothing may be delivered at `moment`."""
        local = moment.astimezone(self.zone)
        return self.rests_on(local.date()) or local.time() in self.hours

    def rests_on(self, day: date) -> bool:
        """A public holiday, or a weekend where the study rests then."""
        if self.holidays and holidays.is_holiday(day):
            return True
        return self.weekends and holidays.is_weekend(day)


def delivery_time(at: datetime, rest: Rest, best: time | None = None) -> datetime:
    """The first moment from `at` on that suits the reader.

    `best` is the reader's time of the day: a message that comes earlier waits for it, one that comes later
    goes at once (tomorrow it would be yesterday's). A best time inside the quiet hours counts for nothing.
    """
    moment = at
    while (following := _next(moment.astimezone(rest.zone), rest, best)) is not None:
        # An hour that the clock repeats or leaves out must not turn time back.
        moment = following if following > moment else moment + _STEP
    return moment


def _next(local: datetime, rest: Rest, best: time | None) -> datetime | None:
    """Where to go on from a moment that does not suit; None where it does."""
    day, clock = local.date(), local.time()
    if rest.rests_on(day):
        return datetime.combine(day + timedelta(days=1), time.min, rest.zone)
    if best is not None and clock < best and best not in rest.hours:
        return datetime.combine(day, best, rest.zone)
    if clock in rest.hours:
        over_midnight = rest.hours.end <= clock
        return datetime.combine(day + timedelta(days=over_midnight), rest.hours.end, rest.zone)
    return None
