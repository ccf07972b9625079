"""Schedules in words, and their next firings in the study's zone."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import ValidationError
from django.utils.translation import override
from hypothesis import given
from hypothesis import strategies as st

from house import cron, cron_words

# hypothesis wants both without a zone.
SINCE, UNTIL = (datetime.fromisoformat(f"{year}-01-01") for year in (2024, 2027))


@pytest.mark.parametrize(
    ("expression", "chinese", "english"),
    [
        ("0 8 * * 1", "每周一 08:00", "on Mondays 08:00"),
        ("30 9 * * *", "每天 09:30", "every day 09:30"),
        ("0 8,17 * * 1-5", "周一至周五 08:00、17:00", "Monday to Friday 08:00、17:00"),
        ("0 7 * * 0,6", "每周六、周日 07:00", "on Saturdays、Sundays 07:00"),
        ("15 10 1,15 * *", "每月 1、15 日 10:15", "on day 1、15 of the month 10:15"),
        ("*/15 * * * *", "每天 每 15 分钟", "every day every 15 minutes"),
        ("5 * * * *", "每天 每小时第 5 分", "every day at minute 5 of every hour"),
        (
            "*/30 8-17 * * *",
            "每天 每 30 分钟,8–17 点",
            "every day every 30 minutes, in the hours 8–17",
        ),
        ("* * * * *", "每天 每分钟", "every day every minute"),
        ("0 9 * 3 *", "3 月 09:00", "in month 3 09:00"),
    ],
)
def test_a_schedule_reads_as_people_say_it(expression: str, chinese: str, english: str) -> None:
    with override("zh-hans"):
        assert cron_words.in_words(expression) == chinese
    with override("en"):
        assert cron_words.in_words(expression) == english


@pytest.mark.parametrize("expression", ["", "x", "61 0 * * *", "0 0 * *"])
def test_what_is_none_is_refused(expression: str) -> None:
    with pytest.raises(ValidationError):
        cron_words.in_words(expression)


def test_the_next_firings_are_those_of_the_zone() -> None:
    at = datetime(2026, 11, 22, 23, 59, tzinfo=UTC)  # Monday 07:59 in Shanghai
    found = cron.next_dues("0 8 * * 1", zone="Asia/Shanghai", after=at, most=3)
    zone = ZoneInfo("Asia/Shanghai")
    assert found == [datetime(2026, 11, day, 8, tzinfo=zone) for day in (23, 30)] + [
        datetime(2026, 12, 7, 8, tzinfo=zone)
    ]


def test_a_day_that_never_comes_is_never_due() -> None:
    at = datetime(2026, 11, 22, tzinfo=UTC)
    assert cron.next_dues("0 8 29 2 *", zone="UTC", after=at, most=5) == []


@given(
    st.sampled_from(["0 8 * * 1", "*/7 3 * * *", "0 0 1 * *", "59 23 28-31 * *"]),
    st.datetimes(SINCE, UNTIL, timezones=st.just(UTC)),
)
def test_what_comes_next_is_the_last_one_when_it_has_come(expression: str, at: datetime) -> None:
    for due in cron.next_dues(expression, zone="Asia/Shanghai", after=at, most=3):
        assert due > at
        assert cron.last_due(expression, zone="Asia/Shanghai", at=due) == due
