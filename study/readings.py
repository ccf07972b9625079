"""What was read of subjects, kept in versions: the store that questions over many subjects stand on.

No field that identifies a person is kept; of the date of birth only the age at consent is, in years, worked out
as the record is read (contracts.md, Columns). A version ends where another was read, or the row was gone.
"""

from __future__ import annotations

import json
import secrets
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.timezone import now

from house import clock, crypto
from house.db import atomic
from house.wakes import wake_later
from integrations.redcap.export import EVENT, INSTANCE, SITE
from projects.models import Member, Project
from study import roster
from study.dictionary import load
from study.metadata import StudyMetadata
from study.models import Reading, ReadingState, Subject, SyncState
from study.records import RecordData, read_records
from study.stripping import AGE, Stripper, hidden_columns
from study.sync_state import noted

CHUNK = 400
FORM = "redcap_repeat_instrument"
PLACE = (EVENT, FORM, INSTANCE, SITE)
FOLLOW = "study.tasks.follow_changes"

Key = tuple[str, str, str, int]
Row = dict[str, Any]


def refresh(project: Project) -> datetime:
    """Read all subjects in one export and keep what is new; returns when it was read (UTC).

    Raises RedcapError or NotConfiguredError and then leaves everything as it was.
    """
    with noted(project):
        metadata = load(project)
        read = read_records(project=project)
    at = min((data.read_at for data in read), default=now())
    with atomic():
        roster.keep(project, metadata, read)
        _Keeping(project, metadata, read, at).all()
        SyncState.objects.filter(project=project).update(swept_at=at, polled_at=at)
    return at


def keep(project: Project, read: Sequence[RecordData]) -> None:
    """Keep what was read of some subjects, whole as `study.records.read_record` gives them."""
    at = min((data.read_at for data in read), default=now())
    _Keeping(project, load(project), read, at).some()


def keep_changed(
    project: Project,
    metadata: StudyMetadata,
    read: Sequence[RecordData],
    gone: Collection[str],
    at: datetime,
) -> None:
    """Keep all that has changed since the last reading: from here on everything is known as of `at`."""
    _Keeping(project, metadata, read, at).changed(gone)


def current(
    project: Project, metadata: StudyMetadata, record_ids: Collection[str] | None = None
) -> dict[str, list[Row]]:
    """The rows of subjects as last read, flat as REDCap exports them, without identifiers: {record id: rows}.

    A column that REDCap did not show is absent. Without `record_ids`: of all subjects.
    """
    state = ReadingState.objects.filter(project=project).first()
    if state is None:
        return {}
    whole = _whole(project.pk, state.version)
    wanted = whole if record_ids is None else {i: whole[i] for i in record_ids if i in whole}
    return filled(metadata, state.missing_columns, wanted)


def filled(
    metadata: StudyMetadata, missing: Sequence[str], rows: Mapping[str, Sequence[Row]]
) -> dict[str, list[Row]]:
    """Kept rows as REDCap exports them: with the columns that are blank, without those it does not show."""
    left_out = {*missing} | hidden_columns(metadata)
    blank: Row = {name: "" for name in metadata.columns if name not in left_out}
    if not missing:
        return {i: [blank | row for row in some] for i, some in rows.items()}
    return {
        i: [blank | {n: v for n, v in row.items() if n not in left_out} for row in some]
        for i, some in rows.items()
    }


@lru_cache(maxsize=4)
def _whole(project_id: UUID, version: int) -> dict[str, list[Row]]:
    """Decrypted rows of a study, kept until the next change (`version` is part of the key)."""
    rows: defaultdict[str, list[Row]] = defaultdict(list)
    for row in Reading.objects.filter(project_id=project_id, is_current=True):
        rows[row.record_id].append(json.loads(row.values))
    return dict(rows)


def of_members(
    project: Project, metadata: StudyMetadata, member: Member | None, ids: Collection[str] | None
) -> list[RecordData]:
    """The stored subjects that `member` may see (None: the house itself), in the order of their ids."""
    state = ReadingState.objects.filter(project=project).first()
    if state is None or state.read_at is None:
        return []
    sites = _sites(project, member)
    rows = current(project, metadata, [i for i in sites if ids is None or i in ids])
    missing = tuple(state.missing_columns)
    return [
        RecordData(i, sites[i], tuple(found), state.read_at, missing, not missing)
        for i, found in sorted(rows.items())
    ]


def values_of_members(
    project: Project, member: Member | None, names: Collection[str]
) -> dict[str, set[str]]:
    """{field: its stored values that are not blank}, of the subjects that `member` may see."""
    state = ReadingState.objects.filter(project=project, read_at__isnull=False).first()
    if state is None or not names:
        return {name: set() for name in names}
    mine = frozenset(_sites(project, member))
    return {
        n: set(v) for n, v in _values(project.pk, state.version, mine, frozenset(names)).items()
    }


@lru_cache(maxsize=16)
def _values(
    project_id: UUID, version: int, record_ids: frozenset[str], names: frozenset[str]
) -> dict[str, set[str]]:
    """What `values_of_members` gives, kept until the next change: every message asks for it."""
    found: dict[str, set[str]] = {name: set() for name in names}
    whole = _whole(project_id, version)
    for record_id in record_ids & whole.keys():
        for row in whole[record_id]:
            for name in names & row.keys():
                found[name].add(str(row[name]))
    return {name: values - {""} for name, values in found.items()}


def _sites(project: Project, member: Member | None) -> dict[str, str]:
    """Record id -> site of the subjects that are there and that `member` may see."""
    subjects = Subject.objects.filter(project=project, is_present=True)
    mine = subjects if member is None else subjects.for_member(member)
    return dict(mine.values_list("record_id", "site"))


class _Keeping:
    """One reading on its way into the store."""

    def __init__(
        self, project: Project, metadata: StudyMetadata, read: Sequence[RecordData], at: datetime
    ) -> None:
        self.project = project
        self.read = read
        self.at = at
        self.since = clock.told(at)
        self.missing = roster.missing_columns(read)
        self._stripper = Stripper(project, metadata)
        self._stored = Reading.objects.filter(project=project, is_current=True)

    def all(self) -> None:
        """All subjects: a row that was not read is there no more."""
        state = self._state()
        with atomic():
            changed = self._store(self._stored, follows=state.read_at is not None)
            self._note(changed, read_at=self.at, missing_columns=self.missing)
            if state.whole_since is None:
                ReadingState.objects.filter(project=self.project).update(whole_since=self.since)

    def some(self) -> None:
        """Some subjects; of the others nothing is known."""
        ids = [data.record_id for data in self.read]
        follows = self._state().read_at is not None
        with atomic():
            self._note(self._store(self._stored.filter(record_id__in=ids), follows=follows))

    def changed(self, gone: Collection[str]) -> None:
        """The subjects that have changed, and those that are gone: the others are as they were."""
        ids = [*gone, *(data.record_id for data in self.read)]
        with atomic():
            changed = self._store(self._stored.filter(record_id__in=ids), follows=True)
            self._note(changed, read_at=self.at)

    def _state(self) -> ReadingState:
        return ReadingState.objects.get_or_create(project=self.project)[0]

    def _store(self, stored: QuerySet[Reading], *, follows: bool) -> bool:
        """Whether anything is another than before. What was read later than this stays."""
        rows = stored if self.missing else stored.defer("values")
        before = {key_of(row): row for row in rows}
        fresh = {key_of(row): row for row in self._rows(before)}
        newer = {key for key, row in before.items() if row.first_seen > self.since}
        new = {
            key: row
            for key, row in fresh.items()
            if key not in newer and (key not in before or before[key].digest != row.digest)
        }
        over = [
            row.pk
            for key, row in before.items()
            if key not in newer and (key in new or key not in fresh)
        ]
        for row in new.values():
            row.is_followed = not follows
        _close(over, self.since, follows=follows)
        Reading.objects.bulk_create(new.values(), CHUNK, ignore_conflicts=True)
        if follows and (new or over):
            wake_later(FOLLOW, str(self.project.pk))
        return bool(new or over)

    def _note(self, is_changed: bool, **values: Any) -> None:
        version = {"version": secrets.randbits(62)} if is_changed else {}
        if version or values:
            ReadingState.objects.filter(project=self.project).update(**version, **values)

    def _rows(self, before: Mapping[Key, Reading]) -> Iterable[Reading]:
        for data in self.read:
            for position, row in enumerate(self._stripper.rows(data)):
                reading = Reading(
                    project=self.project,
                    record_id=data.record_id,
                    event=str(row.get(EVENT, "")),
                    instrument=str(row.get(FORM, "")),
                    instance=int(row.get(INSTANCE) or 0),
                    position=position,
                    first_seen=self.since,
                )
                answered = {n: v for n, v in row.items() if v != "" or n in PLACE}
                known = before.get(key_of(reading)) if data.missing_columns else None
                reading.values = _text(_unseen(known, data.missing_columns) | answered)
                reading.digest = crypto.digest(reading.values)
                yield reading


def _unseen(known: Reading | None, missing: Sequence[str]) -> Row:
    """What was read before of the columns that REDCap does not show now: they have not become blank."""
    stored: Row = json.loads(known.values) if known else {}
    return {name: stored[name] for name in (*missing, AGE) if name in stored}


def _text(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def _close(keys: Sequence[int], at: datetime, *, follows: bool) -> None:
    for start in range(0, len(keys), CHUNK):
        rows = Reading.objects.filter(pk__in=keys[start : start + CHUNK], is_current=True)
        rows.update(is_current=False, last_seen=at, is_followed=not follows)


def key_of(row: Reading) -> Key:
    """Which row of REDCap a version is of."""
    return row.record_id, row.event, row.instrument, row.instance
