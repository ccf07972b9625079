"""What the house stands on is checked: Redis, broker, clocks, files, disk (part O, 8)."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import redis
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from core.house import machine
from demo.own_house import free_port
from projects import machine_checks
from tests.house.kit import until

NO_REDIS = "NOT RUN: Redis (no redis-server)"


@pytest.fixture
def own_redis(tmp_path: Path, settings: Settings) -> Iterator[redis.Redis]:
    """A Redis of this test alone, whose settings may be changed."""
    if shutil.which("redis-server") is None:
        pytest.skip(NO_REDIS)
    port = free_port()
    options = ["--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path)]
    process = subprocess.Popen(["redis-server", *options], stdout=subprocess.DEVNULL)
    settings.REDIS_URL = f"redis://127.0.0.1:{port}/0"
    client = redis.Redis(port=port)
    try:
        until(lambda: _answers(client))
        yield client
    finally:
        process.terminate()
        process.wait()


def _answers(client: redis.Redis) -> bool:
    try:
        return bool(client.ping())
    except redis.ConnectionError:
        return False


def ids(found: list[Any]) -> list[str]:
    assert all(one.hint for one in found)
    return [one.id for one in found]


def test_a_redis_that_evicts_is_told(own_redis: redis.Redis) -> None:
    assert ids(machine_checks.redis_eviction()) == []
    own_redis.config_set("maxmemory-policy", "allkeys-lru")
    assert ids(machine_checks.redis_eviction()) == ["iit.W006"]
    assert "allkeys-lru" in machine_checks.redis_eviction()[0].msg


def test_a_redis_that_is_away_is_no_fault_of_the_settings(settings: Settings) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    assert machine_checks.redis_eviction() == []


@pytest.mark.parametrize(("timeout_s", "found"), [(360, []), (330, ["iit.E008"])])
def test_a_message_outlives_its_task(settings: Settings, timeout_s: int, found: list[str]) -> None:
    settings.CELERY_TASK_TIME_LIMIT = 330
    settings.CELERY_BROKER_TRANSPORT_OPTIONS = {"visibility_timeout": timeout_s}
    assert ids(machine_checks.broker_timeout()) == found


@pytest.mark.django_db
@pytest.mark.database
@pytest.mark.skipif(not os.environ.get("DATABASE_URL"), reason="NOT RUN: PostgreSQL")
@pytest.mark.two_clocks
@pytest.mark.parametrize("ahead_s", [-90, -5, 5, 90])
def test_clocks_that_differ(ahead_s: int, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ids(machine_checks.clock_skew()) == []
    assert client.get("/readyz").json()["checks"]["clock"] == "ok"
    real = timezone.now
    monkeypatch.setattr(machine, "now", lambda: real() + timedelta(seconds=ahead_s))
    assert machine.clock_skew_s() == pytest.approx(ahead_s, abs=1.5)
    assert ids(machine_checks.clock_skew()) == ["iit.W007"]
    told = client.get("/readyz").json()["checks"]["clock"]
    assert told == ("wrong" if abs(ahead_s) > machine.SKEW_WRONG_S else "ok")


def test_too_few_open_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (machine.LEAST_FILES - 1, hard))
    try:
        assert ids(machine_checks.open_files()) == ["iit.W008"]
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.django_db
def test_a_disk_that_fills(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    left = machine.disk_left()
    assert left > 0
    monkeypatch.setattr(machine, "DISK_LOW", left // 2)
    assert ids(machine_checks.disk_space()) == []
    monkeypatch.setattr(machine, "DISK_LOW", left * 2)
    assert ids(machine_checks.disk_space()) == ["iit.W009"]
    assert client.get("/readyz").json()["checks"]["disk"] == "ok"
    monkeypatch.setattr(machine, "DISK_FULL", left * 2)
    assert client.get("/readyz").json()["checks"]["disk"] == "full"
