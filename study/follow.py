"""What follows from changed data: those above hear of each change until they have done their part.

A version that came or ended is marked in its own transaction; whoever dies before its followers are done leaves
the mark, and the next poll finds it.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from datetime import datetime
from typing import Protocol

from django.db.models import Max, Min
from django.db.models.functions import Coalesce

from projects.models import Project
from study import dictionary, versions
from study.models import Reading

logger = logging.getLogger(__name__)


class NotNow(Exception):
    """A follower could not do its part; it is asked again."""


class Follower(Protocol):
    """Does what follows from a change of one subject's data."""

    def __call__(self, project: Project, record_id: str, columns: Collection[str]) -> None:
        """`columns` have changed, in some row. Called at least once a change; raises NotNow."""


_followers: list[Follower] = []


def register(follower: Follower) -> Follower:
    """Let a function hear of changes."""
    _followers.append(follower)
    return follower


def follow(project: Project) -> int:
    """Tell of every subject with changes that nobody followed up; how many are left for the next time."""
    rows = Reading.objects.filter(project=project, is_followed=False).order_by("record_id")
    of_record = rows.values("record_id").annotate(
        since=Min(Coalesce("last_seen", "first_seen")), newest=Max("pk")
    )
    left = 0
    for found in [*of_record]:
        left += not _follow(project, found["record_id"], found["since"], found["newest"])
    return left


def _follow(project: Project, record_id: str, since: datetime, newest: int) -> bool:
    marked = Reading.objects.filter(project=project, record_id=record_id, is_followed=False)
    keys = [*marked.filter(pk__lte=newest).values_list("pk", "is_current")]
    columns = versions.columns_of(project, dictionary.load(project), record_id, since)
    try:
        for follower in _followers:
            follower(project, record_id, columns)
    except NotNow as error:
        logger.warning("changes of %s have to wait: %s", project.code, error)
        return False
    for is_current in (True, False):
        # One that ended meanwhile has another change to be followed up.
        pks = [pk for pk, was_current in keys if was_current is is_current]
        Reading.objects.filter(pk__in=pks, is_current=is_current).update(is_followed=True)
    return True


def unfollowed() -> list[str]:
    """Ids of projects with changes that nobody followed up."""
    ids = Reading.objects.filter(is_followed=False).order_by().values_list("project_id", flat=True)
    return [str(pk) for pk in ids.distinct()]
