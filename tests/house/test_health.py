"""/healthz, /readyz, /metrics and the heartbeats behind them (contracts.md, HTTP)."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from celery import signals
from django.db import DatabaseError
from django.test import Client
from django.utils.timezone import now
from pytest_django import Settings

from core.house import heartbeat
from core.house.models import Heartbeat
from iit_manager import health
from projects.tasks import heartbeat as heartbeat_task
from tests.support.tasks import drain

pytestmark = pytest.mark.django_db


def ready(client: Client) -> tuple[int, str, dict[str, str]]:
    answer = client.get("/readyz")
    content = answer.json()
    assert content.keys() == {"status", "checks"}
    return answer.status_code, content["status"], content["checks"]


def test_alive_without_looking_at_anything(
    client: Client, django_assert_num_queries: Callable[[int], Any]
) -> None:
    with django_assert_num_queries(0):
        answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok")


def test_a_house_without_worker_and_beat_is_not_ready(client: Client) -> None:
    status, word, checks = ready(client)
    assert (status, word) == (503, "not ready")
    assert checks == {
        "database": "ok",
        "broker": "ok",
        "clock": "ok",
        "disk": "ok",
        "worker": "never seen",
        "beat": "never seen",
    }


@pytest.mark.full
def test_ready_as_soon_as_both_have_started(client: Client, settings: Settings) -> None:
    settings.DEBUG = True  # the values of the demo are not refused
    signals.worker_ready.send(sender=None)
    assert ready(client)[2]["worker"] == "ok"
    assert ready(client)[0] == 503
    signals.beat_init.send(sender=None)
    status, word, checks = ready(client)
    assert (status, word) == (200, "ready")
    assert set(checks.values()) == {"ok"}


@pytest.mark.parametrize("process", ["worker", "beat"])
def test_a_silent_process_is_noticed(client: Client, process: str) -> None:
    heartbeat.note("worker", "beat")
    Heartbeat.objects.filter(name=process).update(at=now() - health.STALE - timedelta(seconds=1))
    status, _, checks = ready(client)
    assert status == 503
    assert checks[process] == "silent"
    assert list(checks.values()).count("ok") == len(checks) - 1


def test_one_message_of_beat_proves_both(client: Client) -> None:
    old = now() - timedelta(days=1)
    Heartbeat.objects.bulk_create([Heartbeat(name=name, at=old) for name in ("worker", "beat")])
    heartbeat_task.delay("beat")
    assert ready(client)[0] == 503
    assert drain() == ["projects.tasks.heartbeat"]
    assert ready(client)[0] == 200


@pytest.mark.full
def test_a_worker_that_starts_looks_for_what_was_left_behind() -> None:
    signals.worker_ready.send(sender=None)
    assert drain() == ["wechat.tasks.sweep", "engines.tasks.sweep_runs"]


def test_a_database_that_is_away_is_said_not_raised(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken() -> str:
        raise DatabaseError("password=secret")

    monkeypatch.setitem(health.CHECKS, "database", broken)
    status, _, checks = ready(client)
    assert (status, checks["database"]) == (503, "DatabaseError")


def test_metrics_are_prometheus_text(client: Client) -> None:
    answer = client.get("/metrics")
    assert answer.status_code == 200
    assert answer["Content-Type"].startswith("text/plain")
    assert b"# TYPE python_info gauge" in answer.content


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/metrics"])
def test_only_reading(client: Client, path: str) -> None:
    assert client.post(path).status_code == 405
    head, get = client.head(path), client.get(path)
    assert (head.status_code, head.content) == (get.status_code, b"")
