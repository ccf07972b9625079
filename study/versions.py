"""What changed in a study: consecutive versions of its rows, compared column by column."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from uuid import UUID

from django.db.models import Q

from projects.models import Project
from study.metadata import StudyMetadata
from study.models import Reading, ReadingState
from study.readings import PLACE, Key, Row, key_of
from study.stripping import AGE

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
    for change in sorted(_changes(rows, since), key=lambda one: one.at):
        found[change.record_id].append(change)
    return dict(found)


def columns_of(
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
    form_of = {name: str(field["form_name"]) for name, field in metadata.fields.items()}
    return {
        column
        for column, (name, _code) in metadata.columns.items()
        if not forms or form_of.get(name, name.removesuffix("_complete")) in forms
    }


def _changes(rows: Iterable[Reading], since: datetime) -> Iterator[Change]:
    for before, after, at in _steps(rows, since):
        yield from _between(before, after, at)


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
            if row.last_seen is not None and not _goes_on(row, versions):
                yield row, None, row.last_seen
            before = row


def _goes_on(row: Reading, versions: Sequence[Reading]) -> bool:
    return any(other.first_seen == row.last_seen for other in versions if other.pk != row.pk)


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
