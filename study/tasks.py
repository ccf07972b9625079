"""Background jobs that keep what is known of the studies' data current."""

from __future__ import annotations

import logging

from celery import shared_task

from integrations.redcap import RedcapError
from projects.models import Project
from study import follow, retention, sync
from study.client import NotConfiguredError

log = logging.getLogger(__name__)


@shared_task
def read_studies() -> None:
    """Queue every study that has a REDCap: whatever is wrong with one stops no other."""
    for pk in follow.unfollowed():
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
def follow_changes(project_id: str, *others: str) -> None:
    """Do what follows from changed data; `others`: of the same transaction, perhaps for other workers."""
    for other in others:
        follow_changes.delay(other)
    project = Project.objects.filter(pk=project_id).first()
    if project:
        follow.follow(project)


@shared_task
def forget_readings() -> None:
    """Delete versions that are older than their study keeps them."""
    for project in Project.objects.all():
        retention.forget_versions(project)
