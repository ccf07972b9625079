"""What follows from changed data: whoever does it hears of each change until it is done.

A version that came or ended is marked in its own transaction; whoever dies before its followers are done leaves
the mark, and the next poll finds it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any, NamedTuple

from django.db.models import Max, Min, Q
from django.db.models.functions import Coalesce
from django.utils.timezone import now

from core.house import task_queue
from core.house.alone import alone
from core.house.db import atomic
from core.house.encrypted_fields import reading
from projects.models import Project
from study import dictionary, versions
from study.models import ChangedSubject, Reading, Subject, SyncState

logger = logging.getLogger(__name__)

AT_ONCE = 20
"""So many subjects are followed up before the worker may take somebody's question."""


class NotNow(Exception):
    """A follower could not do its part; it is asked again."""


ChangeHandler = Callable[[Project, str, Collection[str]], None]
"""Does what follows from changed columns of a subject, in some row. At least once a change; raises NotNow."""


class Handled(NamedTuple):
    """`left`: how many of the slice have to wait; `last`: behind which the next slice begins, "" for none."""

    left: int
    last: str


def handle_changes(project: Project, handler: ChangeHandler, after: str = "") -> Handled:
    """Tell `handler` of some subjects with changes that nobody followed up: those behind `after`, by id.

    One that cannot be worked on stops no other, and waits.
    """
    rows = Reading.objects.filter(project=project, is_followed=False, record_id__gt=after)
    of_record = (
        rows.order_by("record_id")
        .values("record_id")
        .annotate(since=Min(Coalesce("last_seen", "first_seen")), newest=Max("pk"))
    )
    told, done = [*of_record[:AT_ONCE]], list[bool]()

    def tell(one: Any) -> None:
        done.append(_handle(project, handler, **one))

    for one in told:
        alone("changes", partial(tell, one), one["record_id"])
    last = str(told[-1]["record_id"]) if len(told) == AT_ONCE else ""
    return Handled(len(told) - done.count(True), last)


def _handle(
    project: Project, handler: ChangeHandler, record_id: str, since: datetime, newest: int
) -> bool:
    marked = Reading.objects.filter(project=project, record_id=record_id, is_followed=False)
    keys = [*marked.filter(pk__lte=newest).values_list("pk", "is_current")]
    named = _identifiers(project, record_id)
    columns = versions.changed_columns(project, dictionary.load(project), record_id, since)
    try:
        handler(project, record_id, columns)
    except NotNow as error:
        logger.warning("changes of %s have to wait: %s", project.code, error)
        return False
    if _identifiers(project, record_id) != named:
        return False  # they stand in no version: that they changed meanwhile only this tells
    for is_current in (True, False):
        # One that ended meanwhile has another change to be followed up.
        pks = [pk for pk, was_current in keys if was_current is is_current]
        Reading.objects.filter(pk__in=pks, is_current=is_current).update(is_followed=True)
    return True


def _identifiers(project: Project, record_id: str) -> str:
    rows = Subject.objects.filter(project=project, record_id=record_id)
    with reading():
        return rows.values_list("identifiers", flat=True).first() or ""


def projects_with_changes() -> list[str]:
    """Ids of projects with changes that nobody followed up."""
    ids = Reading.objects.filter(is_followed=False).order_by().values_list("project_id", flat=True)
    return [str(pk) for pk in ids.distinct()]


log = logging.getLogger(__name__)

TASK = "engines.tasks.read_changed"
AT_ONCE_READ = 20
"""So many subjects are read before the worker may take somebody's question."""
LEASE = timedelta(minutes=6)
"""Longer than a task may last."""

Read = Callable[[Project, Sequence[str]], object]


def note_changed_subject(project: Project, record_id: str) -> None:
    """Keep that a subject may have changed; the first of many wakes a worker."""
    with atomic():
        ChangedSubject.objects.bulk_create(
            [ChangedSubject(project=project, record_id=record_id, noted_at=now())],
            update_conflicts=True,
            unique_fields=["project", "record_id"],
            update_fields=["noted_at"],
        )
    SyncState.objects.get_or_create(project=project)
    # Set before the row is seen to be free, and read after it was freed: no post falls between two tasks.
    told = SyncState.objects.filter(project=project, is_told=False).update(is_told=True)
    if told:
        task_queue.wake(TASK, str(project.pk))


def read_changed_subjects(project: Project, read: Read) -> bool:
    """Hand some of the noted subjects to `read`; whether there are more. False where another task is at it.

    What was noted again meanwhile stays. `read` raises NotNow where REDCap does not answer: all of it stays for
    the sweeper. After another error these are done with: the next poll finds them, and nobody is blocked.
    A process that is ended leaves them.
    """
    state = SyncState.objects.filter(project=project)
    free = state.filter(Q(drained_until=None) | Q(drained_until__lt=now()))
    if free.update(drained_until=now() + LEASE, is_told=False) != 1:
        return False
    try:
        is_more = _read_some(project, read)
    except NotNow as error:
        log.warning("changes of %s have to wait: %s", project.code, error)
        return False
    finally:
        state.update(drained_until=None)
    return is_more or state.filter(is_told=True).exists()


def _read_some(project: Project, read: Read) -> bool:
    noted = ChangedSubject.objects.filter(project=project).order_by("noted_at", "pk")
    rows = [*noted[:AT_ONCE_READ]]
    if not rows:
        return False
    try:
        read(project, [row.record_id for row in rows])
    except NotNow:
        raise
    except Exception:
        _forget(rows)
        raise
    _forget(rows)
    return len(rows) == AT_ONCE_READ


def _forget(rows: Sequence[ChangedSubject]) -> None:
    with atomic():
        for row in rows:
            ChangedSubject.objects.filter(pk=row.pk, noted_at=row.noted_at).delete()


def projects_with_changed_subjects() -> list[str]:
    """Ids of projects with subjects that nobody has read."""
    ids = ChangedSubject.objects.order_by().values_list("project_id", flat=True).distinct()
    return [str(pk) for pk in ids]
