"""What the house stands on: its Redis, its clocks, its disk, its limits. Measured, never guessed."""

from __future__ import annotations

import resource
import shutil
from datetime import datetime
from pathlib import Path

import redis
from django.conf import settings
from django.db import connection
from django.utils.timezone import now

REDIS_WAIT_S = 2.0
SKEW_TOLD_S, SKEW_WRONG_S = 2.0, 60.0
"""From the first one on a warning stands; past the second one a lease of 30 s means nothing any more."""
LEAST_FILES = 1024
"""Open files of one process: eight threads with sockets to database, broker, WeCom, REDCap and the model."""
DISK_LOW, DISK_FULL = 2 * 1024**3, 200 * 1024**2
"""Bytes left: worth a warning; about to refuse writes."""


def eviction_policy() -> str | None:
    """What Redis does when its memory is full; None without one. Raises redis.RedisError."""
    if not settings.REDIS_URL:
        return None
    wait = {"socket_timeout": REDIS_WAIT_S, "socket_connect_timeout": REDIS_WAIT_S}
    with redis.Redis.from_url(settings.REDIS_URL, **wait) as client:
        # INFO, because hosted servers refuse CONFIG.
        return str(client.info("memory").get("maxmemory_policy", "")) or None


def clock_skew_s() -> float:
    """Seconds by which this machine is ahead of the database server; 0 with SQLite. Raises DatabaseError.

    The time of the question itself is no skew: what is left is what lies outside of it.
    """
    before = now()
    there = database_now()
    after = now()
    if there < before:
        return (before - there).total_seconds()
    return min(0.0, (after - there).total_seconds())


def database_now() -> datetime:
    """The moment by the database server's clock, ours with SQLite. Raises DatabaseError.

    For spans that begin in one process and end in another: their machines' clocks may differ.
    """
    if connection.vendor != "postgresql":
        return now()
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        there: datetime = cursor.fetchone()[0]
    return there


def disk_left(folder: Path | None = None) -> int:
    """Bytes that we may still write where VAR_DIR is, or in `folder`. Raises OSError."""
    return shutil.disk_usage(folder or settings.VAR_DIR).free


def open_files() -> int:
    """How many files this process may have open at once."""
    soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    return LEAST_FILES if soft == resource.RLIM_INFINITY else soft
