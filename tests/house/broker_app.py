"""The house's Celery app with one task that leaves a row: what the worker of test_broker_worker runs."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iit_manager.settings")
django.setup()

from celery import shared_task  # noqa: E402 - after django.setup()
from django.conf import settings  # noqa: E402
from django.utils.timezone import now  # noqa: E402

from core.house.models import Heartbeat  # noqa: E402
from iit_manager.celery import app  # noqa: E402

# A lease that a test can wait for; a real one outlasts the longest task.
app.conf.broker_transport_options = {"polling_interval": 0.05, "visibility_timeout": 5}
app.conf.task_soft_time_limit = app.conf.task_time_limit = None
app.conf.task_queues, app.conf.task_routes = None, {}
app.conf.task_default_queue = "broker-test"


# While this file is there, the tasks behind the first HELD_FROM do not end: a worker is killed at them.
HOLD = "hold"
HELD_FROM = 40


@shared_task(name="broker_app.mark")
def mark(number: int) -> None:
    """Leave a row; do not end while tasks are held."""
    while number >= HELD_FROM and Path(settings.VAR_DIR, HOLD).exists():
        time.sleep(0.05)
    Heartbeat.objects.get_or_create(name=f"task {number}", defaults={"at": now()})


if __name__ == "__main__":
    for number in range(int(sys.argv[1])):
        mark.delay(number)
