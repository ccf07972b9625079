"""Signs of life of worker and beat: at their start, then with every message of beat (`/readyz` reads them)."""

from __future__ import annotations

from io import StringIO
from typing import Any

from celery import current_app, signals
from django.conf import settings
from django.core.management import call_command
from django.core.management.base import SystemCheckError
from django.utils.timezone import now

from core.house.models import Heartbeat


def note(*processes: str) -> None:
    """Each of `processes` is alive now."""
    stamp = now()
    for name in processes:
        Heartbeat.objects.update_or_create(name=name, defaults={"at": stamp})


def connect() -> None:
    """Listen to Celery's signals."""
    signals.worker_init.connect(_refuse_misconfiguration)
    signals.beat_init.connect(_refuse_misconfiguration)
    signals.worker_ready.connect(_worker_ready)
    signals.beat_init.connect(_beat_ready)


def _refuse_misconfiguration(**_: Any) -> None:
    # Celery runs the checks and ignores what they say; an exception of a receiver it only logs.
    try:
        call_command("check", stdout=StringIO(), stderr=StringIO())
    except SystemCheckError as error:
        raise SystemExit(str(error)) from error


def _worker_ready(**_: Any) -> None:
    note("worker")
    # What the last worker left behind must not wait for beat.
    for name in settings.SWEEPERS:
        current_app.send_task(name)


def _beat_ready(**_: Any) -> None:
    note("beat")
