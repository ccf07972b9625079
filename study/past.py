"""What was known of a study at an earlier time: answered from the versions of what was read."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from house import clock
from integrations.redcap.export import SITE
from projects.models import Member, Project
from study.metadata import StudyMetadata
from study.models import Reading, ReadingState, Subject
from study.query.errors import QueryError
from study.readings import Row, filled
from study.records import RecordData


def moment(project: Project, as_of: str | None) -> datetime | None:
    """The time that a query's `as_of` means, a date up to its end; None for now and what is still to come.

    Raises QueryError for a time of which nothing is known, or not all.
    """
    if as_of is None:
        return None
    at = _moment(as_of, ZoneInfo(project.timezone))
    if at >= clock.now():
        return None
    state = ReadingState.objects.filter(project=project).first()
    since = state.whole_since if state else None
    if since is None or at < since:
        told = _("What was known then is not kept; the readings begin at %(time)s.")
        zone = ZoneInfo(project.timezone)
        first = f"{localtime(since, zone):%Y-%m-%d %H:%M}" if since else "-"
        raise QueryError("as_of", told % {"time": first})
    return at


def _moment(text: str, zone: ZoneInfo) -> datetime:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        at = datetime.fromisoformat(text)
        return at if at.tzinfo else at.replace(tzinfo=zone)
    following = datetime.combine(day + timedelta(days=1), time.min, zone)
    return following - timedelta(microseconds=1)


def records(
    project: Project,
    metadata: StudyMetadata,
    member: Member | None,
    ids: Collection[str] | None,
    at: datetime,
) -> list[RecordData]:
    """The subjects as they were known at `at`, of those whom the member may see now."""
    state = ReadingState.objects.get(project=project)
    subjects = Subject.objects.filter(project=project)
    mine = subjects if member is None else subjects.for_member(member)
    visible = {i for i in mine.values_list("record_id", flat=True) if ids is None or i in ids}
    whole = _known(project.pk, state.version, at)
    rows = filled(metadata, state.missing_columns, {i: whole[i] for i in visible & whole.keys()})
    missing = tuple(state.missing_columns)
    return [
        RecordData(i, _site(some), tuple(some), at, missing, not missing)
        for i, some in sorted(rows.items())
    ]


@lru_cache(maxsize=4)
def _known(project_id: UUID, version: int, at: datetime) -> Mapping[str, list[Row]]:
    """Decrypted rows as of a time, kept until the next change (`version` is part of the key)."""
    held = Q(last_seen__isnull=True) | Q(last_seen__gt=at)
    found: defaultdict[str, list[Row]] = defaultdict(list)
    for row in Reading.objects.filter(held, project_id=project_id, first_seen__lte=at):
        found[row.record_id].append(json.loads(row.values))
    return dict(found)


def _site(rows: Collection[Row]) -> str:
    sites = {str(row.get(SITE, "")) for row in rows}
    return sites.pop() if len(sites) == 1 else ""
