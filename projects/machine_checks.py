"""System checks of what the house stands on: they warn of what would lose or double work later."""

from __future__ import annotations

from typing import Any

import redis
from django.conf import settings
from django.core.checks import CheckMessage, Error, Warning, register
from django.db import DatabaseError

from core.house import machine


@register()
def redis_eviction(**_: Any) -> list[CheckMessage]:
    """A Redis that evicts may forget the wakes of the queues: each then waits for the sweeper."""
    try:
        policy = machine.eviction_policy()
    except (redis.RedisError, OSError):  # whether there is one is for /readyz to tell
        return []
    if policy in (None, "noeviction"):
        return []
    return [
        Warning(
            f"Redis evicts keys when its memory is full ({policy}): queued work may be forgotten.",
            hint="maxmemory-policy noeviction in redis.conf",
            id="iit.W006",
        )
    ]


@register()
def broker_timeout(**_: Any) -> list[CheckMessage]:
    """A message that is given out again while its task still runs is worked on twice."""
    options = settings.CELERY_BROKER_TRANSPORT_OPTIONS
    if options["visibility_timeout"] > settings.CELERY_TASK_TIME_LIMIT:
        return []
    return [
        Error(
            "The broker gives a message out again before the time limit of its task is over.",
            hint="visibility_timeout in CELERY_BROKER_TRANSPORT_OPTIONS must exceed CELERY_TASK_TIME_LIMIT.",
            id="iit.E008",
        )
    ]


@register()
def clock_skew(**_: Any) -> list[CheckMessage]:
    """Leases are given by one machine's clock and read by another's."""
    try:
        skew = abs(machine.clock_skew_s())
    except DatabaseError:
        return []
    if skew <= machine.SKEW_TOLD_S:
        return []
    return [
        Warning(
            f"The clocks of this machine and of the database server differ by {skew:.0f} s.",
            hint="Let both follow the same time server (chrony or systemd-timesyncd).",
            id="iit.W007",
        )
    ]


@register()
def open_files(**_: Any) -> list[CheckMessage]:
    """A process that may open no more files refuses people, not work."""
    most = machine.open_files()
    if most >= machine.LEAST_FILES:
        return []
    return [
        Warning(
            f"This process may open only {most} files.",
            hint=f"LimitNOFILE={machine.LEAST_FILES} or more in the unit, or ulimit -n.",
            id="iit.W008",
        )
    ]


@register()
def disk_space(**_: Any) -> list[CheckMessage]:
    """Where VAR_DIR is: the anchors of the audit trail, without PostgreSQL all data."""
    left = machine.disk_left()
    if left >= machine.DISK_LOW:
        return []
    return [
        Warning(
            f"Only {left // 1024**2} MB are left on the disk of VAR_DIR.",
            hint="Make room or a larger disk; /readyz answers 503 at "
            f"{machine.DISK_FULL // 1024**2} MB.",
            id="iit.W009",
        )
    ]
