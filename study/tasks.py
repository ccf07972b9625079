"""Background jobs that keep what is known of the studies' data current."""

from __future__ import annotations

import logging

from celery import shared_task

from integrations.redcap import RedcapError
from projects.models import Project
from study import dictionary, readings, roster
from study.client import NotConfiguredError

log = logging.getLogger(__name__)


@shared_task
def read_studies() -> None:
    """Queue every study that has a REDCap: whatever is wrong with one stops no other."""
    there = Project.objects.exclude(redcap_url="").exclude(status=Project.Status.CLOSED)
    for pk in there.values_list("pk", flat=True):
        read_study.delay(str(pk))


@shared_task
def read_study(project_id: str) -> None:
    """Read dictionary and subjects of a study in one export; a failure stands in its sync state."""
    project = Project.objects.filter(pk=project_id).first()
    if project is None:
        return
    try:
        with roster.noted(project):
            dictionary.ensure_fresh(project)
        readings.refresh(project)
    except (RedcapError, NotConfiguredError) as error:
        log.warning("subjects of %s were not read: %s", project.code, error)
