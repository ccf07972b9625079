"""When a schedule is due: the last cron time not after now, in the study's zone (design.md 3)."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import ValidationError
from django.utils import translation
from hypothesis import example, given
from hypothesis import strategies as st

from core.house import cron

# Zones without daylight saving: there local time never jumps, so the definition can be tried minute by minute.
ZONES = ["Asia/Shanghai", "UTC", "Asia/Kolkata", "America/Phoenix", "Asia/Kathmandu"]
FIRST, LAST = datetime.fromisoformat("2024-01-01"), datetime.fromisoformat("2030-12-31")
MOMENTS = st.datetimes(FIRST, LAST, timezones=st.just(UTC))
MINUTES = st.integers(0, 59)
HOURS = st.integers(0, 23)


def at(text: str, zone: str = "Asia/Shanghai") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def due(expression: str, text: str, zone: str = "Asia/Shanghai") -> str | None:
    found = cron.last_due(expression, zone=zone, at=at(text, zone))
    return found and found.replace(tzinfo=None).isoformat(" ", "minutes")


@given(MINUTES, HOURS, st.sampled_from(ZONES), MOMENTS)
def test_a_daily_time_was_due_within_the_last_day(
    minute: int, hour: int, zone: str, moment: datetime
) -> None:
    found = cron.last_due(f"{minute} {hour} * * *", zone=zone, at=moment)
    assert found is not None
    assert (found.hour, found.minute, found.second, found.microsecond) == (hour, minute, 0, 0)
    assert timedelta(0) <= moment - found < timedelta(days=1)


@given(
    st.sampled_from(
        [
            "*/7 * * * *",
            "5,50 */3 * * *",
            "0-10 9-17 * * *",
            "59 23 * * *",
            "0 0 * * *",
            "30 8 * * 1-5",
        ]
    ),
    st.sampled_from(ZONES),
    MOMENTS,
)
def test_it_is_the_last_minute_that_matches_and_none_lies_between(
    expression: str, zone: str, moment: datetime
) -> None:
    found = cron.last_due(expression, zone=zone, at=moment)
    assert found is not None
    schedule = cron.parse_cron(expression)
    local = moment.astimezone(ZoneInfo(zone)).replace(second=0, microsecond=0)
    while local > found:
        named = (
            local.minute in schedule.minute
            and local.hour in schedule.hour
            and local.isoweekday() % 7 in schedule.day_of_week
        )
        assert not named, f"{local} was skipped"
        local -= timedelta(minutes=1)
    assert local == found


@given(
    st.sampled_from(["0 9 * * *", "*/5 * * * *", "0 0 1 * *", "15 6 * * 0"]),
    MOMENTS,
    st.integers(0, 86_400),
)
def test_time_goes_forward_only(expression: str, moment: datetime, later_s: int) -> None:
    first = cron.last_due(expression, zone="Asia/Shanghai", at=moment)
    second = cron.last_due(expression, zone="Asia/Shanghai", at=moment + timedelta(seconds=later_s))
    assert first is not None
    assert second is not None
    assert first <= second


@given(st.sampled_from(["0 9 * * *", "*/5 * * * *", "0 0 1 * *", "15 6 * * 0"]), MOMENTS)
def test_the_arrival_of_the_wake_up_does_not_matter(expression: str, moment: datetime) -> None:
    """Two beats and a late broker all arrive at the same row."""
    found = cron.last_due(expression, zone="Asia/Shanghai", at=moment)
    assert found is not None
    for late in (0, 1, 30, 59):
        assert (
            cron.last_due(expression, zone="Asia/Shanghai", at=found + timedelta(seconds=late))
            == found
        )


@given(MOMENTS, st.sampled_from(ZONES))
def test_the_zone_of_the_moment_does_not_matter(moment: datetime, zone: str) -> None:
    elsewhere = moment.astimezone(ZoneInfo("Pacific/Auckland"))
    expression = "0 9 * * 1"
    assert cron.last_due(expression, zone=zone, at=moment) == cron.last_due(
        expression, zone=zone, at=elsewhere
    )


@pytest.mark.parametrize(
    ("expression", "now", "expected"),
    [
        ("0 9 * * *", "2026-11-21 09:00", "2026-11-21 09:00"),
        ("0 9 * * *", "2026-11-21 08:59", "2026-11-20 09:00"),
        ("0 9 * * 1", "2026-11-21 12:00", "2026-11-16 09:00"),
        ("0 9 * * 0", "2026-11-22 12:00", "2026-11-22 09:00"),
        ("0 9 * * sun", "2026-11-22 12:00", "2026-11-22 09:00"),
        # month ends
        ("0 0 1 * *", "2026-03-31 12:00", "2026-03-01 00:00"),
        ("0 0 31 * *", "2026-03-30 12:00", "2026-01-31 00:00"),
        ("0 0 31 * *", "2026-05-01 00:00", "2026-03-31 00:00"),
        ("0 0 30 * *", "2026-03-01 00:00", "2026-01-30 00:00"),
        ("0 0 28-31 * *", "2026-03-01 00:00", "2026-02-28 00:00"),
        ("0 0 28-31 * *", "2028-03-01 00:00", "2028-02-29 00:00"),
        ("59 23 31 12 *", "2026-01-01 00:00", "2025-12-31 23:59"),
        ("0 0 1 1 *", "2026-12-31 23:59", "2026-01-01 00:00"),
        # both days limited: either is enough
        ("0 9 1 * 1", "2026-06-30 00:00", "2026-06-29 09:00"),
        ("0 9 1 * 1", "2026-07-05 00:00", "2026-07-01 09:00"),
        ("0 9 31 2 1", "2026-06-30 00:00", "2026-02-23 09:00"),
        # a step in one of them limits the other
        ("0 9 */2 * 1", "2026-06-30 00:00", "2026-06-29 09:00"),
        ("0 9 */2 * 1", "2026-06-28 00:00", "2026-06-15 09:00"),
        # Sunday is 0 and 7
        ("0 9 * * 7", "2026-11-25 12:00", "2026-11-22 09:00"),
        ("0 9 * * 6-7", "2026-11-25 12:00", "2026-11-22 09:00"),
        ("0 9 * * 7-1", "2026-11-24 12:00", "2026-11-23 09:00"),
        ("0 9 * * fri-sun", "2026-11-25 12:00", "2026-11-22 09:00"),
    ],
)
def test_known_times(expression: str, now: str, expected: str) -> None:
    assert due(expression, now) == expected


@pytest.mark.parametrize("expression", ["0 0 31 2 *", "0 0 30 2 *", "0 0 31 4,6,9,11 *"])
def test_a_day_that_no_month_has_is_refused(expression: str) -> None:
    with translation.override("en"), pytest.raises(ValidationError, match="never occurs"):
        cron.parse_cron(expression)


def test_a_leap_day_is_not_due_in_the_year_before_it() -> None:
    assert due("0 0 29 2 *", "2028-02-28 12:00") is None
    assert due("0 0 29 2 *", "2028-02-29 00:00") == "2028-02-29 00:00"


def test_the_study_zone_decides_the_day() -> None:
    moment = datetime(2026, 11, 21, 16, 30, tzinfo=UTC)  # half past midnight in Shanghai
    found = cron.last_due("0 0 * * *", zone="Asia/Shanghai", at=moment)
    assert found == datetime(2026, 11, 21, 16, 0, tzinfo=UTC)
    assert cron.last_due("0 0 * * *", zone="UTC", at=moment) == datetime(2026, 11, 21, tzinfo=UTC)


@pytest.mark.parametrize("day", ["2026-03-08", "2026-11-01"])
@pytest.mark.parametrize("minute", range(0, 24 * 60, 37))
def test_a_change_of_clocks_neither_breaks_nor_looks_ahead(day: str, minute: int) -> None:
    zone = ZoneInfo("America/New_York")
    moment = datetime.fromisoformat(day).replace(tzinfo=UTC) + timedelta(minutes=minute, hours=4)
    found = cron.last_due("*/30 * * * *", zone="America/New_York", at=moment)
    assert found is not None
    assert found <= moment.astimezone(zone)
    assert moment - found < timedelta(hours=2)


@given(st.text(alphabet="0123456789*/,- LWmonsun#?a", max_size=30))
@example("*/0 * * * *")
@example("5- * * * *")
@example("-5 * * * *")
@example("60 * * * *")
@example("* 24 * * *")
@example("* * 0 * *")
@example("* * 32 * *")
@example("* * * 13 *")
@example("* * * * 8")
@example("1-0 * * * *")
@example("*/-1 * * * *")
@example("@daily")
@example("")
def test_any_text_is_a_schedule_or_refused(text: str) -> None:
    """Whatever Celery makes of it, nothing but ValidationError comes out."""
    with suppress(ValidationError):
        cron.parse_cron(text)
        cron.last_due(text, zone="UTC", at=datetime(2026, 1, 1, tzinfo=UTC))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "* * * *",
        "* * * * * *",
        "61 * * * *",
        "* 25 * * *",
        "* * * * 8",
        "a b c d e",
        "* * * * jan",
        "1-2-3 * * * *",
    ],
)
def test_what_is_no_schedule_is_refused(text: str) -> None:
    with pytest.raises(ValidationError):
        cron.parse_cron(text)
