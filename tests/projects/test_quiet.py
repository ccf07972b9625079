"""When an unasked message may be delivered: never in the quiet hours, never before it is due (issue C)."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.house import holidays
from projects.quiet import Rest, Span, delivery_time

SHANGHAI = ZoneInfo("Asia/Shanghai")
ZONES = [SHANGHAI, *map(ZoneInfo, ("UTC", "America/New_York", "Australia/Lord_Howe"))]
NIGHT = Rest(SHANGHAI, Span(time(21), time(7, 30)))

clocks = st.times().map(lambda clock: clock.replace(microsecond=0))
SECONDS = [int(datetime(year, 1, 1, tzinfo=UTC).timestamp()) for year in (2024, 2028)]
moments = st.integers(*SECONDS).map(lambda second: datetime.fromtimestamp(second, UTC))
rests = st.builds(
    Rest,
    zone=st.sampled_from(ZONES),
    hours=st.builds(Span, clocks, clocks),
    holidays=st.booleans(),
    weekends=st.booleans(),
)


def local(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=SHANGHAI)


def when(text: str, best: time | None = None, rest: Rest = NIGHT) -> str:
    found = delivery_time(local(text), rest, best).astimezone(SHANGHAI)
    return f"{found:%Y-%m-%d %H:%M}"


@given(moments, rests, st.none() | clocks)
def test_never_before_it_is_due_and_never_at_rest(
    moment: datetime, rest: Rest, best: time | None
) -> None:
    found = delivery_time(moment, rest, best)
    assert found >= moment
    assert not rest.covers(found)
    assert delivery_time(found, rest, best) == found, "what may be delivered is delivered"
    # Nine days off in a row, a working weekend beside them, and a day for best time and quiet hours.
    assert found - moment < timedelta(days=14)


@given(moments, rests, clocks)
def test_nobody_is_told_before_their_best_time_of_that_day(
    moment: datetime, rest: Rest, best: time
) -> None:
    found = delivery_time(moment, rest, best)
    told = found.astimezone(rest.zone)
    if best not in rest.hours:
        assert found == moment or told.time() >= best or _clock_was_changed(told)


def _clock_was_changed(moment: datetime) -> bool:
    day = timedelta(hours=26)
    return len({(moment + step).utcoffset() for step in (-day, timedelta(), day)}) > 1


@pytest.mark.parametrize(
    ("due", "told"),
    [
        ("2026-11-16 09:00", "2026-11-16 09:00"),
        ("2026-11-16 20:59", "2026-11-16 20:59"),
        ("2026-11-16 21:00", "2026-11-17 07:30"),
        ("2026-11-16 03:00", "2026-11-16 07:30"),
        ("2026-11-16 07:30", "2026-11-16 07:30"),
        # The National Day week, the Friday before a Mid-Autumn weekend, the eve of a holiday.
        ("2026-10-01 09:00", "2026-10-08 07:30"),
        ("2026-09-30 22:00", "2026-10-08 07:30"),
        ("2026-09-25 09:00", "2026-09-28 07:30"),
        # An ordinary Saturday is no public holiday; a Saturday worked in exchange is none either.
        ("2026-11-14 09:00", "2026-11-14 09:00"),
        ("2026-10-10 09:00", "2026-10-10 09:00"),
    ],
)
def test_quiet_hours_and_holidays(due: str, told: str) -> None:
    assert when(due) == told


@pytest.mark.parametrize(
    ("due", "told"),
    [
        ("2026-11-14 09:00", "2026-11-16 07:30"),  # Saturday
        ("2026-10-10 09:00", "2026-10-10 09:00"),  # a Saturday that is worked
        ("2026-09-20 09:00", "2026-09-20 09:00"),  # a Sunday that is worked
    ],
)
def test_a_study_may_rest_at_weekends(due: str, told: str) -> None:
    assert when(due, rest=Rest(SHANGHAI, Span(time(21), time(7, 30)), weekends=True)) == told


def test_a_study_outside_of_china_may_work_on_its_holidays() -> None:
    rest = Rest(SHANGHAI, Span(time(21), time(7, 30)), holidays=False)
    assert when("2026-10-01 09:00", rest=rest) == "2026-10-01 09:00"


@pytest.mark.parametrize(
    ("due", "best", "told"),
    [
        ("2026-11-16 09:00", time(18), "2026-11-16 18:00"),
        ("2026-11-16 09:00", time(8, 30), "2026-11-16 09:00"),  # passed: tomorrow is too late
        ("2026-11-16 22:00", time(18), "2026-11-17 18:00"),
        ("2026-11-16 06:00", time(8, 30), "2026-11-16 08:30"),
        ("2026-11-16 09:00", time(22), "2026-11-16 09:00"),  # inside the quiet hours
        ("2026-10-07 09:00", time(18), "2026-10-08 18:00"),
    ],
)
def test_the_best_time_delays_and_never_breaks_the_rest(due: str, best: time, told: str) -> None:
    assert when(due, best) == told


def test_the_table_is_what_the_state_council_announced() -> None:
    """2026: seven holidays, 33 days off, six weekend days worked; every worked day is a weekend day."""
    table = holidays.table()
    assert sum(day.year == 2026 for day in table.off) == 33
    assert sorted(day for day in table.work if day.year == 2026) == [
        date(2026, 1, 4),
        date(2026, 2, 14),
        date(2026, 2, 28),
        date(2026, 5, 9),
        date(2026, 9, 20),
        date(2026, 10, 10),
    ]
    assert all(day.weekday() >= 5 for day in table.work)
    assert not table.off & table.work
    assert {day.year for day in table.off} == table.years


def test_years_beyond_the_table_have_weekends_only() -> None:
    assert not holidays.is_known(2031)
    assert not holidays.is_holiday(date(2031, 10, 1))
    assert holidays.is_weekend(date(2031, 10, 4))
