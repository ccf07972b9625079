"""Steps and rows of a sweep stand alone: what is wrong with one stops no other, and is told."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TypeVar

from celery.exceptions import SoftTimeLimitExceeded
from django.dispatch import Signal

logger = logging.getLogger(__name__)
Row = TypeVar("Row")

failed = Signal()
"""Sent with `sender`: the name of the step, and `detail`: the kind of error and the key of the row, no data."""


def alone(step: str, work: Callable[[], object], about: object = "") -> bool:
    """Do one piece of a sweep; False where it failed, which is logged and told to whoever listens to `failed`.

    `about`: the key of the row, never its content.
    """
    try:
        work()
    except SoftTimeLimitExceeded:  # of the task, whose worker is killed unless it ends
        raise
    except Exception as error:  # whatever it is, the rest of the sweep must go on
        detail = f"{type(error).__name__} {about}".strip()
        logger.exception("sweep: %s failed: %s", step, detail)
        failed.send_robust(sender=step, detail=detail)
        return False
    return True


def each(step: str, rows: Iterable[Row], work: Callable[[Row], object]) -> int:
    """Do the same for every row, each alone; how many failed. What reads the rows may fail, too."""
    faults = 0
    for row in rows:
        key = getattr(row, "pk", row)
        faults += not alone(step, lambda row=row: work(row), key)  # type: ignore[misc]
    return faults
