"""The clock the studies are at: the real one, or the day of DEMO_TODAY (contracts.md, settings)."""

from __future__ import annotations

from datetime import date, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone
from pytest_django.fixtures import Settings

from core.house import clock
from projects.checks import demo_day

SHANGHAI = "Asia/Shanghai"


def test_unset_it_is_the_machines_clock(settings: Settings) -> None:
    settings.DEBUG, settings.DEMO_TODAY = True, ""
    before = timezone.now()
    assert before <= clock.now() <= timezone.now()


def test_set_it_is_that_day_at_the_machines_time_of_day(settings: Settings) -> None:
    settings.DEBUG, settings.DEMO_TODAY = True, "2026-03-01"
    before, told, after = timezone.now(), clock.now(), timezone.now()
    days = told.astimezone(ZoneInfo(SHANGHAI)).date() - before.astimezone(ZoneInfo(SHANGHAI)).date()
    assert before <= told - days <= after + timedelta(days=1)
    assert clock.today(SHANGHAI) == date(2026, 3, 1)


def test_production_knows_no_other_day(settings: Settings) -> None:
    settings.DEBUG, settings.DEMO_TODAY = False, "2020-01-01"
    assert clock.now().year == timezone.now().year


@pytest.mark.parametrize(("day", "found"), [("", 0), ("2026-11-23", 0), ("23.11.2026", 1)])
def test_a_day_that_is_none_keeps_the_house_from_starting(
    settings: Settings, day: str, found: int
) -> None:
    settings.DEMO_TODAY = day
    assert [error.id for error in demo_day()] == ["iit.E005"] * found
