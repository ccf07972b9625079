"""People reading conversations: the talk around a message, and the trail's entry of who read whose."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta
from uuid import UUID

from core.house.db import atomic
from memory.log import flow_log
from memory.log.flow_log import Row
from projects import audit
from projects.models import Project
from projects.scoping import User

# A pause so long begins another conversation.
PAUSE = timedelta(minutes=30)
_REACH = timedelta(hours=12)
_MOST = 200


def thread(row: Row, user: User) -> list[Row]:
    """The conversation that a message belongs to, as far as `user` may read it, oldest first."""
    mine = flow_log.for_user(user).filter(project=row.project_id, user_id=row.user_id)
    near = mine.filter(created_at__range=(row.created_at - _REACH, row.created_at + _REACH))
    # The question comes before its answer, which has its time.
    rows = list(near.order_by("created_at", "-role")[: 2 * _MOST])
    at = next((number for number, one in enumerate(rows) if one.pk == row.pk), None)
    if at is None:
        return [row]
    first = last = at
    while first and rows[first].created_at - rows[first - 1].created_at <= PAUSE:
        first -= 1
    while last + 1 < len(rows) and rows[last + 1].created_at - rows[last].created_at <= PAUSE:
        last += 1
    return rows[max(first, at - _MOST) : last + 1]


def note_reading(*, actor: object, rows: Iterable[Row]) -> None:
    """An entry in the trail of each study whose conversations are shown: of whom, how many messages.

    One's own conversation is nobody's secret from oneself.
    """
    name = audit.actor_name(actor).casefold()
    read: dict[UUID, list[str]] = defaultdict(list)
    for row in rows:
        if row.user_id.casefold() != name:
            read[row.project_id].append(row.user_id)
    if not read:
        return
    projects = Project.objects.in_bulk(read)
    with atomic():
        for pk, people in read.items():
            told = {"count": len(people), "people": sorted({*people})}
            audit.record("conversation.read", actor=actor, project=projects[pk], new=told)
