"""How enrolment goes on if it goes on as in the last weeks: pure arithmetic, no database."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, timedelta

RECENT_DAYS = 91
AHEAD, FAR = 12, 60
"""At most so many months are drawn; the target is looked for within so many."""
_Z = 1.96


@dataclass(frozen=True)
class Forecast:
    """`ends`: the month ends ahead with what is likely by then and its range; empty where nothing is forecast.

    `recent`: enrolled in the last `RECENT_DAYS`. `reached`, `early`, `late`: the month end by which the target
    is met by the forecast and by both ends of its range; None: not within `FAR` months, or no target.
    """

    recent: int
    ends: tuple[date, ...] = ()
    likely: tuple[float, ...] = ()
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    reached: date | None = None
    early: date | None = None
    late: date | None = None


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

    With n enrolled in the last `RECENT_DAYS` d, n h / d more are likely in h days. Both n and what is to come
    are taken for Poisson, so that the variance is n h / d (1 + h / d); the range is 1.96 times its root.
    """
    now = sum(day <= today for day in days)
    recent = sum(today - timedelta(days=RECENT_DAYS) < day <= today for day in days)
    if not recent or (target and now >= target):
        return Forecast(recent)
    ends, day = [], today
    for _n in range(FAR):
        day = next_month_end(day)
        ends.append(day)
    rows = [_at(now, recent, (end - today).days) for end in ends]
    met = [
        next(
            (end for end, row in zip(ends, rows, strict=True) if target and row[n] >= target), None
        )
        for n in range(3)
    ]
    likely = ends.index(met[1]) + 1 if met[1] else AHEAD
    shown = min(likely if target else 6, AHEAD)
    low, middle, high = zip(*rows[:shown], strict=True)
    return Forecast(recent, tuple(ends[:shown]), middle, low, high, met[1], met[2], met[0])


def _at(now: int, recent: int, days: int) -> tuple[float, float, float]:
    """Low end, likely, high end."""
    share = days / RECENT_DAYS
    more, width = recent * share, _Z * math.sqrt(recent * share * (1 + share))
    return float(max(now, now + more - width)), now + more, now + more + width
