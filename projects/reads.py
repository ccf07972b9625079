"""Who was shown which subject's data: noted at each door, in the trail once a person, subject and hour.

An entry of the trail is a transaction of its own that waits for others of its chain; a note is one row, within
the transaction that is there anyway, if there is one. `write` turns the notes of past hours into entries.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from uuid import UUID

from django.utils.timezone import now

from core.house import current_login
from core.house.db import atomic, later
from projects import audit
from projects.models import Project, Read

HOUR = timedelta(hours=1)
SETTLED = timedelta(minutes=5)
"""So long after its end an hour is written: whatever noted a read in it has committed."""


class _Taken(Exception):
    """Another process writes the same hour, or a read came late: nothing is written, the next turn does it."""


def note(*, actor: object, project: Project | UUID, record_ids: Iterable[str], door: str) -> None:
    """Note that a person or member is shown data of subjects; `door` is the way: chat, console, api."""
    project_id = project.pk if isinstance(project, Project) else project
    name, login = audit.actor_name(actor), current_login.login()
    shared = {"project_id": project_id, "actor": name, "login": login, "door": door, "at": now()}
    later(*(Read(record_id=record_id, **shared) for record_id in dict.fromkeys(record_ids)))


def write() -> int:
    """Put the reads of all hours that are over into the trail; how many entries that made."""
    over, made = _hour(now() - SETTLED), 0
    with suppress(_Taken):
        while first := Read.objects.filter(at__lt=over).order_by("at").first():
            made += _write_hour(_hour(first.at))
    return made


def _write_hour(hour: datetime) -> int:
    with atomic():
        found = Read.objects.filter(at__gte=hour, at__lt=hour + HOUR)
        rows = list(found.select_related("project").order_by("pk"))
        groups: dict[tuple[UUID, str, str], list[Read]] = defaultdict(list)
        for row in rows:
            groups[row.project_id, row.actor, row.record_id].append(row)
        for (_project, actor, record_id), reads in groups.items():
            doors = Counter(read.door for read in reads)
            with current_login.through(max(read.login for read in reads)):
                audit.record(
                    "record.read",
                    actor=actor,
                    project=reads[0].project,
                    record_id=record_id,
                    new={"hour": hour.isoformat(), "count": len(reads), "doors": doors},
                )
        if found.delete()[0] != len(rows):
            raise _Taken
    return len(groups)


def _hour(at: datetime) -> datetime:
    return at.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
