"""Findings of a record that was deleted in REDCap: they rest until it comes back, and then stand as before."""

from __future__ import annotations

from collections.abc import Iterable
from uuid import UUID

from django.db.models import Exists, F, OuterRef

from core.house.alone import each
from core.house.db import atomic
from engines.models import PendingAction
from engines.sop import run_events, snapshot
from engines.sop.errors import Fault, NoSuchSubject
from engines.sop.journal import note_event
from projects import audit
from projects.models import Project
from study import sync
from study.models import Subject

State = PendingAction.State
GONE, BACK = "gone", "back"
AT_ONCE = 20


def mark_gone(project: Project, record_id: str) -> None:
    """Set the open findings of a record that REDCap has no more aside: nothing counts them."""
    rows = PendingAction.objects.filter(project=project, record_id=record_id).unclosed()
    with atomic():
        moved = sum(_moved(row, State.GONE, GONE, note=row.state) for row in rows)
        _record("finding.gone", project, record_id, moved)


def look_for_unlisted() -> None:
    """Ask REDCap for subjects with open findings that the last reading of all of them did not show.

    Of a record that came and went between two readings no version ends, so nothing else tells of its end.
    """
    listed = Subject.objects.filter(
        project=OuterRef("project_id"), record_id=OuterRef("record_id"), is_present=True
    )
    rows = PendingAction.objects.unclosed().filter(
        ~Exists(listed),
        record_id__isnull=False,
        task_run__read_at__lt=F("project__syncstate__swept_at"),
    )
    found = rows.order_by().values_list("project_id", "record_id").distinct()[:AT_ONCE]
    each("deleted", [*found], _look_for)


def _look_for(subject: tuple[UUID, str | None]) -> None:
    """An outage leaves it to be asked for again."""
    project, record_id = Project.objects.get(pk=subject[0]), subject[1] or ""
    try:
        sync.keep_some(project, [snapshot.read_subject(project, record_id)])
    except NoSuchSubject:
        mark_gone(project, record_id)
    except Fault:
        return


def mark_back(project: Project, record_id: str) -> None:
    """A record is read again: its findings stand as they stood before it was deleted."""
    rows = PendingAction.objects.filter(project=project, record_id=record_id, state=State.GONE)
    with atomic():
        _record("finding.back", project, record_id, revive(rows))


def revive(rows: Iterable[PendingAction]) -> int:
    """Let findings that were set aside stand as before; how many."""
    count = 0
    for row in rows:
        last = row.events.filter(what=GONE).order_by("at", "pk").last()
        is_back = _moved(row, last.note if last else State.OPEN, BACK)
        if is_back and row.state == State.QUERIED:
            _ask_again(row)
        count += is_back
    return count


def _ask_again(row: PendingAction) -> None:
    """The card of the query was closed with the record."""
    asked = row.events.filter(what="query").order_by("at", "pk").last()
    run_events.keep_queried(row)
    note_event(row, "query", note=asked.note if asked else "")


def _moved(row: PendingAction, state: str, what: str, note: str = "") -> bool:
    """Whether the finding was still in the state that was read."""
    same = PendingAction.objects.filter(pk=row.pk, state=row.state, open_key__isnull=False)
    was, row.state = row.state, state
    if is_same := same.update(state=state) == 1:
        note_event(row, what, note=note)
        if was == State.QUERIED:
            run_events.keep_settled(row)
    return is_same


def _record(action: str, project: Project, record_id: str, count: int) -> None:
    if count:
        about = {"findings": count}
        audit.record(action, actor="system", project=project, record_id=record_id, new=about)
