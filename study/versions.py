"""What changed in a study: consecutive versions of its rows, compared column by column."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from itertools import pairwise
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Q, QuerySet
from django.utils.timezone import localtime
from django.utils.translation import gettext as _

from core.house import clock
from projects.models import Member, Project
from study import registry
from study.blinding.mask import Mask, columns_of
from study.design import StudyDesign
from study.identifier_filter import AGE
from study.metadata import StudyMetadata, hidden_forms
from study.models import Reading, ReadingState, Subject
from study.query.errors import QueryError
from study.readings import PLACE, Key, Row, decrypted_rows, key_of, with_blanks
from study.records import RecordData, site_of

_NO_DATA = frozenset({*PLACE, AGE})
Step = tuple[Reading | None, Reading | None, datetime]
"""What a row was, what it became, and when; None: it was not there, or is no more."""


@dataclass(frozen=True, slots=True)
class Change:
    """One column of one row that is another since `at`; "" is blank, and what a new or a lost row has."""

    record_id: str
    event: str
    instrument: str
    instance: int
    column: str
    before: str
    after: str
    at: datetime


def of_project(project: Project) -> Mapping[str, Sequence[Change]]:
    """{record id: its changes, oldest first}, as far back as versions are kept."""
    state = ReadingState.objects.filter(project=project, whole_since__isnull=False).first()
    if state is None or state.whole_since is None:
        return {}
    return _of_project(project.pk, state.version, state.whole_since)


@lru_cache(maxsize=4)
def _of_project(project_id: UUID, version: int, since: datetime) -> Mapping[str, Sequence[Change]]:
    """Kept until the next change (`version` is part of the key)."""
    came_or_went = Q(last_seen__isnull=False) | Q(first_seen__gt=since)
    rows = Reading.objects.filter(came_or_went, project_id=project_id)
    found: defaultdict[str, list[Change]] = defaultdict(list)
    changes = (change for step in _steps(rows, since) for change in _between(*step))
    for change in sorted(changes, key=lambda one: one.at):
        found[change.record_id].append(change)
    return dict(found)


def changed_columns(
    project: Project, metadata: StudyMetadata, record_id: str, since: datetime
) -> set[str]:
    """Export columns of one subject that are another from `since` on.

    Of a row that came or went these are all that it can hold: a blank in a new row says something, too.
    """
    state = ReadingState.objects.filter(project=project, whole_since__isnull=False).first()
    if state is None or state.whole_since is None:
        return set()
    rows = Reading.objects.filter(project=project, record_id=record_id)
    found: set[str] = set()
    for before, after, at in _steps(rows, state.whole_since):
        if at >= since:
            found |= {change.column for change in _between(before, after, at)}
            if before is None or after is None:
                found |= _held(metadata, before or after)
    return found


def _held(metadata: StudyMetadata, row: Reading | None) -> set[str]:
    """Export columns of the forms that can stand in a row; of a classic project every one."""
    if row is None:
        return set()
    mapped = {str(m["form"]) for m in metadata.mapping if m["unique_event_name"] == row.event}
    forms = {row.instrument} if row.instrument else mapped
    return {
        column
        for column, (name, _code) in metadata.columns.items()
        if not forms or metadata.form_of(name) in forms
    }


def _steps(rows: Iterable[Reading], since: datetime) -> Iterator[Step]:
    """A row without a version before it is new, unless it was there in the first reading."""
    by_key: defaultdict[Key, list[Reading]] = defaultdict(list)
    for row in rows:
        by_key[key_of(row)].append(row)
    for versions in by_key.values():
        versions.sort(key=lambda row: (row.first_seen, row.pk))
        before: Reading | None = None
        for row in versions:
            if before is not None and before.last_seen == row.first_seen:
                yield before, row, row.first_seen
            elif row.first_seen > since:
                yield None, row, row.first_seen
            others = (other for other in versions if other.pk != row.pk)
            goes_on = any(other.first_seen == row.last_seen for other in others)
            if row.last_seen is not None and not goes_on:
                yield row, None, row.last_seen
            before = row


def _of_row(project: Project, key: Key) -> QuerySet[Reading]:
    place = dict(zip(("record_id", "event", "instrument", "instance"), key, strict=True))
    return Reading.objects.filter(project=project, **place)


def held_since(project: Project, key: Key, holds: Callable[[Row], bool]) -> datetime | None:
    """Since when a row has been so without a break, as far as versions go back; None: it is not so now."""
    since: datetime | None = None
    for row in _of_row(project, key).order_by("-first_seen", "-pk"):
        goes_on = row.is_current if since is None else row.last_seen == since
        if not goes_on or not holds(_values(row)):
            break
        since = row.first_seen
    return since


def followed_since(project: Project, key: Key, holds: Callable[[Row], bool]) -> datetime | None:
    """When the newest version of a row that is so, and was followed up, was first read; None: there is none.

    Before a study was read whole nobody follows up anything.
    """
    if not ReadingState.objects.filter(project=project, read_at__isnull=False).exists():
        return None
    rows = _of_row(project, key).filter(is_followed=True).order_by("-first_seen", "-pk")
    return next((row.first_seen for row in rows if holds(_values(row))), None)


def came_back(project: Project, key: Key, holds: Callable[[Row], bool]) -> datetime | None:
    """When a row was so again after it had not been; None: it is not so now, or as far as is kept ever was."""
    rows = _of_row(project, key).order_by("first_seen", "pk")
    spans = [(row.first_seen, row.last_seen) for row in rows if holds(_values(row))]
    if not spans or spans[-1][1] is not None:
        return None
    return max((new[0] for old, new in pairwise(spans) if old[1] != new[0]), default=None)


def _between(before: Reading | None, after: Reading | None, at: datetime) -> Iterator[Change]:
    old, new = _values(before), _values(after)
    row = after or before
    assert row is not None  # noqa: S101
    for column in [*new, *(name for name in old if name not in new)]:
        was, now = str(old.get(column, "")), str(new.get(column, ""))
        if was != now:
            yield Change(*key_of(row), column, was, now, at)


def _values(row: Reading | None) -> Row:
    stored: Row = json.loads(row.values) if row else {}
    return {name: value for name, value in stored.items() if name not in _NO_DATA}


def time_of(project: Project, as_of: str | None) -> datetime | None:
    """The time that a query's `as_of` means, a date up to its end; None for now and what is still to come.

    Raises QueryError for a time of which nothing is known, or not all.
    """
    if as_of is None:
        return None
    at = _last_moment(as_of, ZoneInfo(project.timezone))
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


def _last_moment(text: str, zone: ZoneInfo) -> datetime:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        at = datetime.fromisoformat(text)
        return at if at.tzinfo else at.replace(tzinfo=zone)
    following = datetime.combine(day + timedelta(days=1), time.min, zone)
    return following - timedelta(microseconds=1)


def records_at(
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
    whole = _known_at(project.pk, state.version, at)
    rows = with_blanks(
        metadata, state.missing_columns, {i: whole[i] for i in visible & whole.keys()}
    )
    missing = tuple(state.missing_columns)
    return [
        RecordData(i, site_of(some), tuple(some), at, missing, not missing)
        for i, some in sorted(rows.items())
    ]


@lru_cache(maxsize=4)
def _known_at(project_id: UUID, version: int, at: datetime) -> Mapping[str, list[Row]]:
    """Decrypted rows as of a time, kept until the next change (`version` is part of the key)."""
    held = Q(last_seen__isnull=True) | Q(last_seen__gt=at)
    return decrypted_rows(Reading.objects.filter(held, project_id=project_id, first_seen__lte=at))


def change_rows(
    project: Project, design: StudyDesign, mask: Mask, until: datetime | None = None
) -> registry.Rows:
    """{record id: [{"field", "from", "to", "at", "event", "instance"}]}, oldest first; choices by their labels.

    Without what the design hides from the reader, and what was read after `until`. Whose subjects they are is
    the caller's matter.
    """
    zone, metadata = ZoneInfo(project.timezone), design.metadata
    left_out = {*design.hidden, metadata.record_id_field}
    shown = {column for column, (name, _code) in metadata.columns.items() if name not in left_out}
    found = {}
    for record_id, changes in of_project(project).items():
        known = [one for one in changes if until is None or one.at <= until]
        seen = _unmasked_changes(known, metadata, mask, record_id)
        told = [_row(one, metadata, zone) for one in seen if one.column in shown]
        if told:
            found[record_id] = told
    return found


def _unmasked_changes(
    changes: Sequence[Change], metadata: StudyMetadata, mask: Mask, record_id: str
) -> Iterator[Change]:
    """Those that the reader may learn of, with what would unblind masked in what people typed."""
    if mask.metadata is None or record_id in mask.opened:
        yield from changes
        return
    hidden, forms = columns_of(metadata, mask.fields), hidden_forms(metadata, mask.fields)
    told = {
        text for one in changes if one.column in mask.numbers for text in (one.before, one.after)
    }
    own = replace(mask, known=mask.known | (told - {""}))
    for one in changes:
        if one.column not in hidden and one.instrument not in forms:
            yield replace(one, before=own.text(one.before), after=own.text(one.after))


def _row(change: Change, metadata: StudyMetadata, zone: ZoneInfo) -> registry.WorkRow:
    at = change.at.astimezone(zone).replace(tzinfo=None)
    return {
        "field": change.column,
        "from": _label(metadata, change.column, change.before),
        "to": _label(metadata, change.column, change.after),
        "at": at.isoformat(timespec="seconds"),
        "event": change.event,
        "instance": change.instance or None,
    }


def _label(metadata: StudyMetadata, column: str, value: str) -> str:
    name, code = metadata.columns[column]
    return value if code else metadata.choices(name).get(value, value)
