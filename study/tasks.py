"""Background jobs that keep what is known of the studies' data current."""

from __future__ import annotations

import logging

from celery import shared_task

from core.house.alone import each
from core.integrations.redcap import RedcapError
from projects.models import Project
from study import change_handlers, readings, sync
from study.client import NotConfiguredError

log = logging.getLogger(__name__)


@shared_task
def read_studies() -> None:
    """Queue every study that has a REDCap: whatever is wrong with one stops no other."""
    for pk in change_handlers.projects_with_changes():
        follow_changes.delay(pk)
    there = Project.objects.exclude(redcap_url="").exclude(status=Project.Status.CLOSED)
    for pk in there.values_list("pk", flat=True):
        read_study.delay(str(pk))


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
def follow_changes(project_id: str, *others: str, after: str = "") -> None:
    """Do what follows from changed data, of some subjects `after` the last ones; come back for the others.

    `others`: studies of the same transaction, perhaps for other workers.
    """
    for other in others:
        follow_changes.delay(other)
    project = Project.objects.filter(pk=project_id).first()
    if project and (last := change_handlers.handle_changes(project, after).last):
        follow_changes.apply_async((project_id,), {"after": last})


@shared_task
def forget_readings() -> None:
    """Delete versions that are older than their study keeps them."""
    each("readings", Project.objects.all(), readings.forget_versions)
