"""Days and months of the calendar as questions name them (25号, 下个月7号)."""

from __future__ import annotations

from datetime import date, timedelta

Days = tuple[date | None, date | None]


def next_year(day: date) -> date:
    """The same day a year later."""
    # No 29 February has one.
    return (
        day.replace(year=day.year + 1)
        if (day.month, day.day) != (2, 29)
        else date(day.year + 1, 3, 1)
    )


def is_month(days: Days) -> bool:
    """Whether days are those of one calendar month."""
    first, last = days
    return (
        first is not None
        and last is not None
        and first.day == 1
        and 27 <= (last - first).days <= 30
    )


def month(today: date, shift: int) -> date:
    """The first day of the month so many months on."""
    months = today.year * 12 + today.month - 1 + shift
    return date(months // 12, months % 12 + 1, 1)


def day_of_month(month: date | None, day: int) -> date | None:
    """The day of a month; None where it has not so many."""
    found = month + timedelta(days=day - 1) if month else None
    return found if found and month and found.month == month.month else None
