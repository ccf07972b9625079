"""Jobs of the channel that run now and then, each once per due time (wecom.md 9; issue 5, Operations).

The sweeper asks each time it wakes, so no schedule has to be kept beside it; the claim of a due time and
the work of each job are safe to repeat.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from functools import partial

from django.conf import settings
from django.utils.timezone import now

from core.house import cron
from core.house.alone import alone, each
from core.house.db import atomic
from core.house.models import CronFiring
from wechat import retention
from wechat.aibot import posting, streams
from wechat.models import Stream
from wechat.outbound import audit_alarm
from wechat.reviews import reconcile

logger = logging.getLogger(__name__)

JOBS: dict[str, tuple[str, Callable[[], int]]] = {
    "wechat.reviews.reconcile": ("*/10 * * * *", reconcile.reconcile),
    "wechat.forget": ("30 3 * * *", retention.forget),
    "audit.anchor": ("*/5 * * * *", audit_alarm.watch),
    "audit.verify": ("0 4 * * *", audit_alarm.verify_trail),
}


def run_due() -> None:
    """Run what is due and not yet claimed; send what WeCom stopped asking for, or nobody can post."""
    alone("streams", send_unfetched)
    alone("stranded", posting.strand)
    for name in JOBS:
        alone(name, partial(_run, name))


def _run(name: str) -> None:
    schedule, job = JOBS[name]
    if _claim(name, schedule):
        logger.info("%s: %s", name, job())


def _claim(name: str, schedule: str) -> bool:
    due = cron.last_due(schedule, zone=settings.TIME_ZONE, at=now())
    if due is None or CronFiring.objects.filter(job=name, due_at=due).exists():
        return False
    return cron.claim(name, due)


def send_unfetched() -> int:
    """Answers of the smart bot that nobody fetched go out as messages; how many."""
    waiting = streams.unfetched()
    return len(waiting) - each("streams", waiting, _send_apart)


def _send_apart(stream: Stream) -> None:
    with atomic():
        streams.send_apart(stream)
