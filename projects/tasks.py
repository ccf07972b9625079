"""Background jobs of the house."""

from __future__ import annotations

import logging

from celery import shared_task

from integrations.redcap import RedcapError
from projects import dictionary, roster
from projects.heartbeat import note
from projects.models import Project

log = logging.getLogger(__name__)


@shared_task
def heartbeat(process: str = "worker") -> None:
    """Note that `process` is alive; sent by beat, run by a worker: one message proves both."""
    note("worker", process)


@shared_task
def sync_rosters() -> None:
    """Read dictionary and subjects of every study that has a REDCap."""
    for project in Project.objects.exclude(redcap_url="").exclude(status=Project.Status.CLOSED):
        try:
            dictionary.ensure_fresh(project)
            roster.sync(project)
        except RedcapError as error:
            log.warning("subjects of %s were not read: %s", project.code, error)
