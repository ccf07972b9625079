"""Keeping a row leased while the work on it goes on: short leases let a killed worker's row go on soon."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

from django.db import DatabaseError, connection
from django.db.models import QuerySet
from django.utils.timezone import now

logger = logging.getLogger(__name__)

LEASE = timedelta(seconds=30)
RENEW_S = 8.0


@contextmanager
def kept(rows: QuerySet[Any]) -> Iterator[None]:
    """Renew `lease_until` of `rows`, the one that is still ours, while the body works."""
    stop = threading.Event()
    thread = threading.Thread(target=_renew, args=(rows, stop), daemon=True)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def _renew(rows: QuerySet[Any], stop: threading.Event) -> None:
    try:
        while not stop.wait(RENEW_S):
            try:
                rows.update(lease_until=now() + LEASE)
            except DatabaseError as error:
                name = rows.model._meta.model_name
                logger.warning("%s: lease not renewed: %s", name, type(error).__name__)
    finally:
        connection.close()
