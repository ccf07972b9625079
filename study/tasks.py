"""Background jobs that keep what is known of the studies' data current."""

from __future__ import annotations

import logging

from celery import shared_task

from core.house.alone import each
from core.house.task_queue import wake
from core.integrations.redcap import RedcapError
from projects.models import Project
from study import change_handlers, readings, sync
from study.client import NotConfiguredError
from study.protocol import uploads

log = logging.getLogger(__name__)


@shared_task
def read_studies() -> None:
    """Queue every study that has a REDCap: whatever is wrong with one stops no other."""
    for pk in change_handlers.projects_with_changes():
        wake(readings.FOLLOW, pk)
    there = Project.objects.exclude(redcap_url="").exclude(status=Project.Status.CLOSED)
    each("studies", there.values_list("pk", flat=True), lambda pk: read_study.delay(str(pk)))


@shared_task
def read_study(project_id: str) -> None:
    """Poll or sweep a study; a failure stands in its sync state."""
    project = Project.objects.filter(pk=project_id).first()
    if project is None:
        return
    try:
        sync.tick(project)
    except (RedcapError, NotConfiguredError) as error:
        log.warning("subjects of %s were not read: %s", project.code, error)


@shared_task
def forget_readings() -> None:
    """Delete versions that are older than their study keeps them."""
    each("readings", Project.objects.all(), readings.forget_versions)


@shared_task
def read_upload(upload_id: int) -> None:
    """Read an uploaded file; a second message for the same one finds it read."""
    uploads.read_upload(upload_id)


@shared_task
def follow_uploads() -> None:
    """Wake the readers of files that wait, and put in force what was scheduled for today."""
    uploads.wake_waiting()
    uploads.publish_due()
