"""Week arithmetic: zones, clock changes, the end of a year (decisions.md, "week number")."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

from hypothesis import given
from hypothesis import strategies as st

from memory.reports import weeks
from projects.models import Project

# With clock changes in both halves of the year, at midnight, of half an hour, and none.
ZONES = st.sampled_from(
    [
        "Asia/Shanghai",
        "Europe/Berlin",
        "America/New_York",
        "America/Sao_Paulo",
        "Australia/Lord_Howe",
        "Asia/Beirut",
        "Pacific/Kiritimati",
        "UTC",
    ]
)
DAYS = st.dates(date(2000, 1, 1), date(2040, 12, 31))


def study(start: date, zone: str) -> Project:
    return Project(code="W", name="W", start_date=start, timezone=zone)


@given(DAYS, ZONES, st.integers(1, 1200))
def test_weeks_follow_each_other_without_gap(start: date, zone: str, number: int) -> None:
    project = study(start, zone)
    one, other = weeks.week(project, number), weeks.week(project, number + 1)
    assert one.first == start + timedelta(days=7 * (number - 1))
    assert (one.last - one.first).days == 6
    assert weeks.bounds(project, one)[1] == weeks.bounds(project, other)[0]
    assert other.first == one.last + timedelta(days=1)


@given(DAYS, ZONES, st.integers(0, 5000))
def test_every_day_from_the_start_has_one_week(start: date, zone: str, passed: int) -> None:
    project, day = study(start, zone), start + timedelta(days=passed)
    week = weeks.week_of(project, day)
    assert week is not None
    assert week.first <= day <= week.last
    assert week.title == f"## Week {week.number} ({week.first} ~ {week.last})"


@given(DAYS, ZONES, st.integers(1, 5000))
def test_no_week_before_the_start(start: date, zone: str, before: int) -> None:
    assert weeks.week_of(study(start, zone), start - timedelta(days=before)) is None


@given(DAYS, ZONES, st.integers(-60 * 24 * 40, 60 * 24 * 900))
def test_a_week_is_over_at_its_last_midnight_in_the_studys_zone(
    start: date, zone: str, minutes: int
) -> None:
    project = study(start, zone)
    at = datetime.combine(start, datetime.min.time(), UTC) + timedelta(minutes=minutes)
    over = weeks.weeks_over(project, at)
    for number in (max(over, 1), over + 1):
        _since, until = weeks.bounds(project, weeks.week(project, number))
        assert (until <= at) == (number <= over)


@given(DAYS, ZONES, st.integers(1, 300), st.integers(-20000, 20000))
def test_what_of_a_week_has_passed(start: date, zone: str, number: int, minutes: int) -> None:
    project = study(start, zone)
    week = weeks.week(project, number)
    since, until = weeks.bounds(project, week)
    at = since.astimezone(UTC) + timedelta(minutes=abs(minutes))
    part = weeks.period(project, week, at)
    assert part.running == (at < until)
    assert part.until == min(at, until)
    assert week.first <= part.last <= week.last
    assert part.last == min(at.astimezone(ZoneInfo(zone)).date(), week.last)


def test_a_turn_of_the_year_is_nothing_special() -> None:
    project = study(date(2025, 12, 30), "Asia/Shanghai")
    told = [weeks.week(project, n) for n in range(1, 60)]
    assert [w.title for w in told[:2]] == [
        "## Week 1 (2025-12-30 ~ 2026-01-05)",
        "## Week 2 (2026-01-06 ~ 2026-01-12)",
    ]
    assert all(b.first - a.last == timedelta(days=1) for a, b in pairwise(told))


def test_a_week_with_a_clock_change_has_its_hours() -> None:
    project = study(date(2026, 3, 24), "Europe/Berlin")
    since, until = weeks.bounds(project, weeks.week(project, 1))
    assert until.astimezone(UTC) - since.astimezone(UTC) == timedelta(hours=167)
