"""A schedule fires once, whatever beat or the broker do (design.md 3)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from core.house import cron
from core.house.db import atomic
from core.house.models import CronFiring
from tests.house.kit import failing, make_project, together

DUE = datetime(2026, 11, 21, 1, 0, tzinfo=UTC)


@pytest.mark.django_db
def test_the_second_claim_of_a_time_is_refused() -> None:
    assert cron.claim("skill:1", DUE)
    assert not cron.claim("skill:1", DUE)
    assert CronFiring.objects.count() == 1


@pytest.mark.django_db
def test_other_jobs_and_other_times_are_free() -> None:
    assert cron.claim("skill:1", DUE)
    assert cron.claim("skill:2", DUE)
    assert cron.claim("skill:1", DUE + timedelta(minutes=1))


@pytest.mark.django_db
def test_a_refused_claim_leaves_the_transaction_usable() -> None:
    cron.claim("skill:1", DUE)
    with atomic():
        assert not cron.claim("skill:1", DUE)
        make_project("ALPHA")
    assert CronFiring.objects.count() == 1


@pytest.mark.django_db
def test_a_firing_that_fails_gives_the_time_back() -> None:
    with failing():
        assert cron.claim("skill:1", DUE)
    assert cron.claim("skill:1", DUE)


@pytest.mark.full
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("number", [2, 5])
def test_of_concurrent_claimers_one_fires(number: int) -> None:
    for minute in range(10):
        at = DUE + timedelta(minutes=minute)

        def fire_at(at: datetime = at) -> bool:
            with atomic():
                return cron.claim("skill:1", at)

        outcomes = together(*[fire_at] * number)
        assert sorted(map(str, outcomes)) == ["False"] * (number - 1) + ["True"], outcomes
    assert CronFiring.objects.count() == 10
