"""Background jobs of the house."""

from __future__ import annotations

from celery import shared_task
from django.utils.timezone import now

from projects.models import Heartbeat


@shared_task
def heartbeat(process: str = "worker") -> None:
    """Note that `process` is alive; sent by beat, run by a worker: one row proves both."""
    stamp = now()
    for name in ("worker", process):
        Heartbeat.objects.update_or_create(name=name, defaults={"at": stamp})
