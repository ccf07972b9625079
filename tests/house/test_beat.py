"""What beat is to ask for comes due in a house that is switched off at night."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import time_machine
from django.conf import settings
from django_celery_beat.schedulers import DatabaseScheduler

from iit_manager.celery import app

MORNING = datetime(2026, 3, 2, tzinfo=UTC)


@pytest.mark.django_db(transaction=True)
def test_every_job_comes_due_where_beat_runs_by_day_only() -> None:
    """Before its first run a job counts from beat's start: what waits for a day never came."""
    due: set[str] = set()
    for start in (MORNING, MORNING + timedelta(hours=20)):
        with time_machine.travel(start, tick=False) as clock:
            beat = DatabaseScheduler(app=app)
            beat._finalize.cancel()
            clock.move_to(start + timedelta(hours=8))
            jobs = {name: beat.schedule[name] for name in settings.CELERY_BEAT_SCHEDULE}
            due |= {name for name, entry in jobs.items() if entry.is_due().is_due}
    assert set(settings.CELERY_BEAT_SCHEDULE) - due == set()
