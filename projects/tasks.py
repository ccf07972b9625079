"""Background jobs of the house."""

from __future__ import annotations

import logging

from celery import shared_task

from core.house.heartbeat import note
from projects import reads

log = logging.getLogger(__name__)


@shared_task
def heartbeat(process: str = "worker") -> None:
    """Note that `process` is alive; sent by beat, run by a worker: one message proves both."""
    note("worker", process)


@shared_task
def write_reads() -> None:
    """Put who read whose data in the hours that are over into the audit trail."""
    reads.write()
