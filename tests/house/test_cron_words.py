"""Schedules in words, and their next firings in the study's zone."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.core.exceptions import ValidationError
from django.utils.translation import override
from hypothesis import example, given
from hypothesis import strategies as st

from core.house import cron, cron_words

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
        (
            "0 9 1 * 1",
            "每月 1 日或每周一 09:00",
            "on day 1 of the month or on Mondays 09:00",
        ),
        (
            "0 9 */10 * 7",
            "每月 1、11、21、31 日(仅限每周日) 09:00",
            "on day 1、11、21、31 of the month (on Sundays only) 09:00",
        ),
        ("0 9 * * 5-7", "每周五、周六、周日 09:00", "on Fridays、Saturdays、Sundays 09:00"),
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


def _field(least: int, most: int) -> st.SearchStrategy[str]:
    """A field of an expression: every value, steps, a number, a range, a list."""
    number = st.integers(least, most).map(str)
    span = st.tuples(number, number).map("-".join)
    return st.one_of(
        st.just("*"),
        st.integers(1, most).map(lambda step: f"*/{step}"),
        st.lists(number | span, min_size=1, max_size=3).map(",".join),
        st.tuples(span, st.integers(1, 9)).map(lambda two: f"{two[0]}/{two[1]}"),
    )


_LISTED = {
    "month": r"in month ([\d、]+)",
    "day": r"on day ([\d、]+) of the month",
    "weekday": r"(Monday to Friday)|on ((?:[A-Z][a-z]+s、?)+)",
}
_DAYS = ("Mondays", "Tuesdays", "Wednesdays", "Thursdays", "Fridays", "Saturdays", "Sundays")


def _days_said(words: str, day: date) -> bool:
    """Whether the words name this day, read without the code that made them."""
    found = {name: re.search(pattern, words) for name, pattern in _LISTED.items()}
    named: dict[str, bool] = {}
    for name, own in (("month", day.month), ("day", day.day)):
        if match := found[name]:
            named[name] = str(own) in match[1].split("、")
    if match := found["weekday"]:
        is_workday = day.isoweekday() <= 5
        named["weekday"] = (
            is_workday if match[1] else _DAYS[day.isoweekday() - 1] in match[2].split("、")
        )
    if " or " in words:
        return named.get("month", True) and (named["day"] or named["weekday"])
    return all(named.values())


@given(
    st.tuples(st.just("0"), st.just("8"), _field(1, 31), _field(1, 12), _field(0, 7)),
    st.dates(SINCE.date(), UNTIL.date()),
)
@example(("0", "8", "1", "*", "1"), date(2026, 11, 23))
@example(("0", "8", "1", "*", "1"), date(2026, 12, 1))
@example(("0", "8", "*/2", "*", "5-7"), date(2026, 11, 22))
def test_words_and_firings_name_the_same_days(parts: tuple[str, ...], day: date) -> None:
    expression = " ".join(parts)
    try:
        with override("en"):
            words = cron_words.in_words(expression)
    except ValidationError:
        assert parts[4] == "*" or "*" in parts[2], "a weekday occurs in each month"
        return
    before = datetime.combine(day, time.min, UTC) - timedelta(minutes=1)
    coming = cron.next_dues(expression, zone="UTC", after=before, most=1)
    assert ([due.date() for due in coming] == [day]) == _days_said(words, day), words


@given(st.tuples(_field(0, 59), _field(0, 23)))
def test_words_and_firings_name_the_same_times(parts: tuple[str, str]) -> None:
    expression = " ".join((*parts, "* * *"))
    with override("en"):
        words = cron_words.in_words(expression)
    before = datetime(2026, 11, 22, 23, 59, tzinfo=UTC)
    coming = cron.next_dues(expression, zone="UTC", after=before, most=24 * 60)
    times = {(due.hour, due.minute) for due in coming if due.date() == date(2026, 11, 23)}
    assert times == _times_said(words.removeprefix("every day "))


def _times_said(words: str) -> set[tuple[int, int]]:
    if listed := re.findall(r"(\d\d):(\d\d)", words):
        return {(int(hour), int(minute)) for hour, minute in listed}
    often, _, within = words.partition(", in the hours ")
    minutes = {"every minute": [*range(60)]}.get(often)
    if step := re.fullmatch(r"every (\d+) minutes", often):
        minutes = [*range(0, 60, int(step[1]))]
    if at := re.fullmatch(r"at minute ([\d、]+) of every hour", often):
        minutes = [int(minute) for minute in at[1].split("、")]
    assert minutes is not None, words
    hours = [*range(24)]
    if span := re.fullmatch(r"(\d+)–(\d+)", within):
        hours = [*range(int(span[1]), int(span[2]) + 1)]
    elif within:
        hours = [int(hour) for hour in within.split("、")]
    return {(hour, minute) for hour in hours for minute in minutes}
