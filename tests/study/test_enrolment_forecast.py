"""The forecast of enrolment: a rate over the days there were, and what is said where none can be told."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from django.utils import translation

from engines.pages.pictures import enrolment
from engines.site_figures import SiteFigures
from study.enrolment_forecast import Forecast, forecast
from study.visits import due

TODAY = date(2026, 8, 31)
MONTH_END = date(2026, 9, 30)


def every_other_day(since: int) -> list[date]:
    """One subject every two days, the first `since` days ago."""
    return [TODAY - timedelta(days=n) for n in range(since, 0, -2)]


def ahead(days: list[date], target: int = 0) -> Forecast:
    return forecast(days, today=TODAY, target=target)


@pytest.mark.parametrize(("since", "over"), [(13, 14), (29, 30), (59, 60), (89, 90), (299, 91)])
def test_a_steady_rate_is_carried_on_however_young_the_study_is(since: int, over: int) -> None:
    days = every_other_day(since)
    told = ahead(days)
    assert told.over == over
    assert told.ends[0] == MONTH_END  # thirty days ahead
    assert told.likely[0] - len(days) == pytest.approx(15, abs=0.3)
    assert told.low[0] < len(days) + 15 < told.high[0]


def test_the_fewer_days_there_were_the_wider_the_range() -> None:
    young, old = (ahead(every_other_day(since)) for since in (29, 299))
    assert young.high[0] - young.low[0] > old.high[0] - old.low[0]


def note(days: list[date], target: int = 0) -> str:
    """What is said beneath the chart."""
    found = SiteFigures(
        today=TODAY,
        schedule=due.Schedule(TODAY, {}, (), (), None),
        site_names={},
        enrolled={f"P{n:03}": day for n, day in enumerate(days)},
        events=None,
        grades={},
        findings=[],
        spans=[],
        units={},
        checked=frozenset(),
    )
    with translation.override("en"):
        return enrolment(found, date(2026, 1, 1), target).note


def test_what_the_rate_rests_on_is_said() -> None:
    assert "15 enrolled in the last 30 days" in note(every_other_day(29))
    assert "in the last 91 days" in note(every_other_day(299))


def test_too_few_days_tell_no_rate() -> None:
    days = every_other_day(11)
    assert ahead(days).ends == ()
    assert "too early to say" in note(days)
    assert "Nobody was enrolled" in note([TODAY - timedelta(days=200)])


def test_a_target_that_is_reached_is_forecast_no_more() -> None:
    assert note(every_other_day(29), target=15) == (
        "The target of 15 is reached: nothing is forecast."
    )
