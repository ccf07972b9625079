"""How enrolment goes on if it goes on as in the last weeks: pure arithmetic, no database."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta

RECENT_DAYS, LEAST_DAYS = 91, 14
"""The days before today that a forecast rests on; below the second nothing is forecast."""
AHEAD, FAR = 12, 60
"""At most so many months are drawn; the target is looked for within so many."""
_Z = 1.96


@dataclass(frozen=True)
class Forecast:
    """`ends`: the month ends ahead with what is likely by then and its range; empty where nothing is forecast.

    `recent`: enrolled in the last `over` days, which are `RECENT_DAYS`, or fewer where the first subject was
    enrolled since; 0 where none was. `reached`, `early`, `late`: the month end by which the target
    is met by the forecast and by both ends of its range; None: not within `FAR` months, or no target.
    """

    recent: int
    over: int = RECENT_DAYS
    ends: tuple[date, ...] = ()
    likely: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    reached: date | None = None
    early: date | None = None
    late: date | None = None

    @property
    def is_too_early(self) -> bool:
        """Whether too few days went by since the first subject was enrolled to tell a rate."""
        return self.over < LEAST_DAYS


def next_month_end(day: date) -> date:
    """The last day of the month of the day after `day`."""
    first = (day + timedelta(days=1)).replace(day=1)
    return (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)


def at_month_ends(first: date, last: date, today: date) -> list[date]:
    """The month ends from `first` to `last` and `today`, in their order."""
    ends, day = {today}, first - timedelta(days=1)
    while (day := next_month_end(day)) <= last:
        ends.add(day)
    return sorted(ends)


def forecast(days: Collection[date], *, today: date, target: int) -> Forecast:
    """From the days on which subjects were enrolled, until the target is met but for `AHEAD` months at most.

    With n enrolled in the last d days, n h / d more are likely in h days; d is `RECENT_DAYS`, or what went by
    since the first subject was enrolled, that day and today counted. Both n and what is to come are taken for
    Poisson, so that the variance is n h / d (1 + h / d); the range is 1.96 times its root.
    """
    known = [day for day in days if day <= today]
    now = len(known)
    over = min(RECENT_DAYS, (today - min(known)).days + 1) if known else RECENT_DAYS
    recent = sum(today - timedelta(days=over) < day for day in known)
    if not recent or over < LEAST_DAYS or (target and now >= target):
        return Forecast(recent, over)
    ends, day = [], today
    for _n in range(FAR):
        day = next_month_end(day)
        ends.append(day)
    rows = [_at(now, recent, (end - today).days / over) for end in ends]
    met = [
        next(
            (end for end, row in zip(ends, rows, strict=True) if target and row[n] >= target), None
        )
        for n in range(3)
    ]
    likely = ends.index(met[1]) + 1 if met[1] else AHEAD
    shown = min(likely if target else 6, AHEAD)
    low, middle, high = zip(*rows[:shown], strict=True)
    return Forecast(recent, over, tuple(ends[:shown]), middle, low, high, met[1], met[2], met[0])


def _at(now: int, recent: int, share: float) -> tuple[float, float, float]:
    """Low end, likely, high end; `share`: the days ahead by those that `recent` rests on."""
    more, width = recent * share, _Z * math.sqrt(recent * share * (1 + share))
    return float(max(now, now + more - width)), now + more, now + more + width
