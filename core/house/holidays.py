"""Public holidays of mainland China, from a versioned table (issue C, "not on Chinese public holidays").

The State Council announces a year in the November before it: the table ends there, and a system check says
when it has to be continued. A year it does not know has no public holidays, only weekends.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta
from functools import cache
from pathlib import Path

_SATURDAY = 5


@dataclass(frozen=True)
class Table:
    """Days off, weekend days that are worked instead, and the years the table knows."""

    off: frozenset[date]
    work: frozenset[date]
    years: frozenset[int]


@cache
def table() -> Table:
    """The shipped table."""
    path = Path(__file__).with_name("holidays.cn.v1.json")
    years = json.loads(path.read_text("utf-8"))["years"]
    return Table(
        off=frozenset(day for one in years.values() for span in one["off"] for day in _days(span)),
        work=frozenset(date.fromisoformat(day) for one in years.values() for day in one["work"]),
        years=frozenset(map(int, years)),
    )


def _days(span: str) -> Iterator[date]:
    """`2026-01-01/2026-01-03`, both ends included, or a single day."""
    ends = [date.fromisoformat(day) for day in span.split("/")]
    for number in range((ends[-1] - ends[0]).days + 1):
        yield ends[0] + timedelta(days=number)


def is_holiday(day: date) -> bool:
    """Whether the day belongs to a public holiday's days off."""
    return day in table().off


def is_weekend(day: date) -> bool:
    """A Saturday or Sunday that is not worked in exchange for a holiday."""
    return day.weekday() >= _SATURDAY and day not in table().work


def is_known(year: int) -> bool:
    """Whether the table holds the year."""
    return year in table().years
