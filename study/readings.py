"""What was read of subjects, kept in versions: the store that questions over many subjects stand on.

No field that identifies a person is kept; of the date of birth only the age at consent is, in years, worked out
as the record is read (contracts.md, Columns). A version ends where another was read, or the row was gone.
"""

from __future__ import annotations

import json
import logging
import secrets
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.utils.timezone import now

from core.house import clock, key_ring
from core.house.crypto import DecryptionError
from core.house.db import atomic
from core.house.request_cache import once_each
from core.house.task_queue import wake_later
from core.integrations.redcap import RedcapError
from core.integrations.redcap.export import EVENT, INSTANCE, SITE
from projects.models import Member, Project
from study import roster
from study.dictionary import load
from study.identifier_filter import AGE, IdentifierFilter, hidden_columns
from study.metadata import StudyMetadata
from study.models import Reading, ReadingState, Subject, SyncState
from study.records import RecordData, noting_failure, read_records

logger = logging.getLogger(__name__)

CHUNK = 400
FORM = "redcap_repeat_instrument"
PLACE = (EVENT, FORM, INSTANCE, SITE)
FOLLOW = roster.FOLLOW

Key = tuple[str, str, str, int]
Row = dict[str, Any]


def read_all(project: Project) -> datetime:
    """Read all subjects in one export and keep what is new; returns when it was read (UTC).

    Raises RedcapError or NotConfiguredError and then leaves everything as it was.
    """
    with noting_failure(project):
        read = read_records(project=project)
        metadata = load(project)  # as the reading left it
    at = min((data.read_at for data in read), default=now())
    with atomic():
        roster.keep_roster(project, metadata, read)
        state = _state_row(project)
        # A row that was not read is there no more.
        known = {"read_at": at, "missing_columns": roster.missing_columns(read)}
        if state.whole_since is None:
            known["whole_since"] = clock.to_study_clock(at)
        _keep(project, metadata, read, at, None, follows=state.read_at is not None, **known)
        SyncState.objects.filter(project=project).update(swept_at=at, polled_at=at)
    return at


def keep_readings(project: Project, read: Sequence[RecordData]) -> None:
    """Keep what was read of some subjects, whole as `study.records.read_record` gives them."""
    at = min((data.read_at for data in read), default=now())
    ids, follows = [data.record_id for data in read], _state_row(project).read_at is not None
    _keep(project, load(project), read, at, ids, follows=follows)


def keep_changed(
    project: Project,
    metadata: StudyMetadata,
    read: Sequence[RecordData],
    gone: Collection[str],
    at: datetime,
) -> None:
    """Keep all that has changed since the last reading: from here on everything is known as of `at`."""
    ids = [*gone, *(data.record_id for data in read)]
    _keep(project, metadata, read, at, ids, follows=True, read_at=at)


def current_rows(
    project: Project, metadata: StudyMetadata, record_ids: Collection[str] | None = None
) -> dict[str, list[Row]]:
    """The rows of subjects as last read, flat as REDCap exports them, without identifiers: {record id: rows}.

    A column that REDCap did not show is absent. Without `record_ids`: of all subjects.
    """
    state = _state(project)
    if state is None:
        return {}
    whole = _whole(project.pk, state.version)
    wanted = whole if record_ids is None else {i: whole[i] for i in record_ids if i in whole}
    return with_blanks(metadata, state.missing_columns, wanted)


def _state(project: Project) -> ReadingState | None:
    return once_each("readings", project.pk, _states)


def _states(keys: Collection[UUID]) -> dict[UUID, ReadingState | None]:
    found = ReadingState.objects.in_bulk(keys)
    return {key: found.get(key) for key in keys}


def with_blanks(
    metadata: StudyMetadata, missing: Sequence[str], rows: Mapping[str, Sequence[Row]]
) -> dict[str, list[Row]]:
    """Kept rows as REDCap exports them: with the columns that are blank, without those it does not show."""
    left_out = {*missing} | hidden_columns(metadata)
    blank: Row = {name: "" for name in metadata.columns if name not in left_out}

    def shown(row: Row) -> Row:
        return {n: v for n, v in row.items() if n not in left_out} if missing else row

    return {i: [blank | shown(row) for row in some] for i, some in rows.items()}


@lru_cache(maxsize=4)
def _whole(project_id: UUID, version: int) -> dict[str, list[Row]]:
    """Decrypted rows of a study, kept until the next change (`version` is part of the key)."""
    return decrypted_rows(Reading.objects.filter(project_id=project_id, is_current=True))


def decrypted_rows(found: QuerySet[Reading]) -> dict[str, list[Row]]:
    """{record id: rows} of kept readings. Raises RedcapError where one cannot be decrypted."""
    rows: defaultdict[str, list[Row]] = defaultdict(list)
    try:
        for row in found:
            rows[row.record_id].append(json.loads(row.values))
    except DecryptionError as error:
        logger.error("a reading cannot be decrypted")
        raise RedcapError(0, "what was read before cannot be decrypted") from error
    return dict(rows)


def of_members(
    project: Project, metadata: StudyMetadata, member: Member | None, ids: Collection[str] | None
) -> list[RecordData]:
    """The stored subjects that `member` may see (None: the house itself), in the order of their ids."""
    state = _state(project)
    if state is None or state.read_at is None:
        return []
    sites = _sites(project, member)
    rows = current_rows(project, metadata, [i for i in sites if ids is None or i in ids])
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


def _state_row(project: Project) -> ReadingState:
    return ReadingState.objects.get_or_create(project=project)[0]


def _keep(
    project: Project,
    metadata: StudyMetadata,
    read: Sequence[RecordData],
    at: datetime,
    ids: Collection[str] | None,
    *,
    follows: bool,
    **state: Any,
) -> None:
    """Store what was read of the subjects `ids` (None: of all); what was read later than this stays.

    `follows`: others hear of the changes; `state`: columns of the reading state that change with it.
    """
    since = clock.to_study_clock(at)
    current = Reading.objects.filter(project=project, is_current=True)
    with atomic():
        rows = current if ids is None else current.filter(record_id__in=ids)
        rows = rows if roster.missing_columns(read) else rows.defer("values")
        before = {key_of(row): row for row in rows}
        made = _made(IdentifierFilter(project, metadata), project, read, since, before)
        fresh = {key_of(row): row for row in made}
        newer = {key for key, row in before.items() if row.first_seen > since}
        new = {
            key: row
            for key, row in fresh.items()
            if key not in newer and (key not in before or before[key].digest != row.digest)
        }
        over = [row.pk for key, row in before.items() if key not in newer and key not in fresh]
        superseded = [before[key].pk for key in new if key in before]
        for row in new.values():
            row.is_followed = not follows
        ended = {"is_current": False, "last_seen": since}
        for start in range(0, len(over), CHUNK):
            gone = current.filter(pk__in=over[start : start + CHUNK])
            gone.update(**ended, is_followed=not follows)
        # Of these the new version bears the mark: that they were followed up tells what is old.
        for start in range(0, len(superseded), CHUNK):
            current.filter(pk__in=superseded[start : start + CHUNK]).update(**ended)
        Reading.objects.bulk_create(new.values(), CHUNK, ignore_conflicts=True)
        if new or over:
            state["version"] = secrets.randbits(62)
            if follows:
                wake_later(FOLLOW, str(project.pk))
        if state:
            ReadingState.objects.filter(project=project).update(**state)


def _made(
    filtered: IdentifierFilter,
    project: Project,
    read: Sequence[RecordData],
    since: datetime,
    before: Mapping[Key, Reading],
) -> Iterator[Reading]:
    """The rows that were read, without identifiers, as they are kept."""
    for data in read:
        for position, row in enumerate(filtered.rows(data)):
            reading = Reading(
                project=project,
                record_id=data.record_id,
                event=str(row.get(EVENT, "")),
                instrument=str(row.get(FORM, "")),
                instance=int(row.get(INSTANCE) or 0),
                position=position,
                first_seen=since,
            )
            answered = {n: v for n, v in row.items() if v != "" or n in PLACE}
            known = before.get(key_of(reading)) if data.missing_columns else None
            # What REDCap does not show now has not become blank.
            stored: Row = json.loads(known.values) if known else {}
            unseen = {n: stored[n] for n in (*data.missing_columns, AGE) if n in stored}
            reading.values = _as_json(unseen | answered)
            reading.digest = key_ring.digest(reading.values)
            yield reading


def _as_json(row: Row) -> str:
    return json.dumps(row, ensure_ascii=False, sort_keys=True)


def key_of(row: Reading) -> Key:
    """Which row of REDCap a version is of."""
    return row.record_id, row.event, row.instrument, row.instance


def forget_versions(project: Project) -> int:
    """Delete versions that ended before the project keeps them; how many. A current one always stays.

    From then on no earlier time can be asked for.
    """
    horizon = clock.now() - timedelta(days=project.reading_days)
    ended = Reading.objects.filter(project=project, is_current=False, last_seen__lt=horizon)
    earlier = ReadingState.objects.filter(project=project, whole_since__lt=horizon)
    with atomic():
        earlier.update(whole_since=horizon)
        gone, _of_models = ended.filter(is_followed=True).delete()
    return gone


def forget_identifiers(project: Project, metadata: StudyMetadata) -> None:
    """Take fields that identify a person by now out of the versions of before."""
    hidden = hidden_columns(metadata)
    rows = Reading.objects.filter(project=project, is_current=False)
    changed = []
    for row in rows.iterator(CHUNK):
        values = json.loads(row.values)
        if hidden.isdisjoint(values):
            continue
        kept = {name: value for name, value in values.items() if name not in hidden}
        row.values = _as_json(kept)
        row.digest = key_ring.digest(row.values)
        changed.append(row)
    Reading.objects.bulk_update(changed, ["values", "digest"], CHUNK)
