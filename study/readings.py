"""What was read of subjects, kept in versions: the store that questions over many subjects stand on.

One export fills it for all subjects. No field that identifies a person is kept; of the date of birth only
the age at consent is, in years, worked out as the record is read (contracts.md, Columns).
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
from zoneinfo import ZoneInfo

from django.utils.timezone import now

from house import crypto
from house.db import atomic
from integrations.redcap.export import EVENT, INSTANCE, SITE
from projects.models import Member, Project
from study import roster
from study.caches import cache_by_dictionary
from study.dates import read_date
from study.designs import age_fields, identifying
from study.dictionary import load
from study.metadata import StudyMetadata
from study.models import Reading, ReadingState, Subject
from study.records import RecordData, read_records

AGE = "@age"
CHUNK = 400
_FORM = "redcap_repeat_instrument"
_PLACE = (EVENT, _FORM, INSTANCE, SITE)

Key = tuple[str, str, str, int]


def refresh(project: Project) -> datetime:
    """Read all subjects in one export and keep what is new; returns when it was read (UTC).

    Raises RedcapError or NotConfiguredError and then leaves everything as it was.
    """
    with roster.noted(project):
        metadata = load(project)
        read = read_records(project=project)
    roster.keep(project, metadata, read)
    _keep(project, metadata, read, whole=True)
    return min((data.read_at for data in read), default=now())


def keep(project: Project, read: Sequence[RecordData]) -> None:
    """Keep what was read of some subjects, whole as `study.records.read_record` gives them."""
    _keep(project, load(project), read, whole=False)


def current(
    project: Project, metadata: StudyMetadata, record_ids: Collection[str] | None = None
) -> dict[str, list[dict[str, Any]]]:
    """The rows of subjects as last read, flat as REDCap exports them, without identifiers: {record id: rows}.

    A column that REDCap did not show is absent. Without `record_ids`: of all subjects.
    """
    state = ReadingState.objects.filter(project=project).first()
    if state is None:
        return {}
    whole = _whole(project.pk, state.version)
    wanted = whole if record_ids is None else {i: whole[i] for i in record_ids if i in whole}
    shown = [name for name in metadata.columns if name not in set(state.missing_columns)]
    blank = dict.fromkeys((n for n in shown if n not in _hidden_columns(metadata)), "")
    return {i: [blank | row for row in rows] for i, rows in wanted.items()}


@lru_cache(maxsize=4)
def _whole(project_id: UUID, version: int) -> dict[str, list[dict[str, Any]]]:
    """Decrypted rows of a study, kept until the next change (`version` is part of the key)."""
    rows: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
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


def stripped(project: Project, metadata: StudyMetadata, data: RecordData) -> list[dict[str, Any]]:
    """The rows of a subject without identifiers, with the age at consent in the first.

    What identifies the subject is masked in what people typed elsewhere, too: `[姓名]入院`.
    """
    hidden, typed = _hidden_columns(metadata), typed_columns(metadata)
    own = _identifiers(metadata, data.rows)
    rows: list[dict[str, Any]] = [
        {
            name: _masked(value, own) if own and name in typed else value
            for name, value in row.items()
            if name not in hidden
        }
        for row in data.rows
    ]
    age = _age(project, metadata, data.rows)
    if rows and age is not None:
        rows[0][AGE] = str(age)
    return rows


def _keep(
    project: Project, metadata: StudyMetadata, read: Sequence[RecordData], *, whole: bool
) -> None:
    at = min((data.read_at for data in read), default=now())
    fresh = {key: row for data in read for key, row in _rows(project, metadata, data)}
    known = Reading.objects.filter(project=project, is_current=True)
    if not whole:
        known = known.filter(record_id__in=[data.record_id for data in read])
    before = {_key(row): row for row in known.defer("values")}
    changed = {
        k: row for k, row in fresh.items() if k not in before or before[k].digest != row.digest
    }
    over = [row.pk for key, row in before.items() if key in changed or key not in fresh]
    missing = sorted({name for data in read for name in data.missing_columns})
    with atomic():
        _close(over, at)
        Reading.objects.bulk_create(changed.values(), CHUNK, ignore_conflicts=True)
        _note(project, at if whole else None, missing, changed=bool(changed or over))


def _close(keys: Sequence[int], at: datetime) -> None:
    for start in range(0, len(keys), CHUNK):
        rows = Reading.objects.filter(pk__in=keys[start : start + CHUNK], is_current=True)
        rows.update(is_current=False, last_seen=at)


def _note(project: Project, at: datetime | None, missing: list[str], *, changed: bool) -> None:
    ReadingState.objects.get_or_create(project=project)
    values: dict[str, Any] = {"version": secrets.randbits(62)} if changed else {}
    if at is not None:
        values |= {"read_at": at, "missing_columns": missing}
    if values:
        ReadingState.objects.filter(project=project).update(**values)


def _rows(
    project: Project, metadata: StudyMetadata, data: RecordData
) -> Iterable[tuple[Key, Reading]]:
    kept = stripped(project, metadata, data)
    for position, row in enumerate(kept):
        answered = {name: value for name, value in row.items() if value != "" or name in _PLACE}
        text = json.dumps(answered, ensure_ascii=False, sort_keys=True)
        reading = Reading(
            project=project,
            record_id=data.record_id,
            event=str(row.get(EVENT, "")),
            instrument=str(row.get(_FORM, "")),
            instance=int(row.get(INSTANCE) or 0),
            position=position,
            values=text,
            digest=crypto.digest(text),
            first_seen=data.read_at,
        )
        yield _key(reading), reading


def _key(row: Reading) -> Key:
    return row.record_id, row.event, row.instrument, row.instance


def _hidden_columns(metadata: StudyMetadata) -> frozenset[str]:
    hidden = identifying(metadata)
    return frozenset(column for column, (name, _code) in metadata.columns.items() if name in hidden)


@cache_by_dictionary
def typed_columns(metadata: StudyMetadata) -> frozenset[str]:
    """Fields in which people write what they like."""
    validated = "text_validation_type_or_show_slider_number"
    return frozenset(
        name
        for name, row in metadata.fields.items()
        if row.get("field_type") in ("text", "notes") and not row.get(validated)
    )


def _identifiers(metadata: StudyMetadata, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """What was answered to identifying fields -> what stands for it; choices say nothing of a person."""
    fields = [n for n in identifying(metadata) if n in metadata.fields and not metadata.choices(n)]
    told = ((str(row.get(name, "")).strip(), name) for row in rows for name in fields)
    found = {value: f"[{metadata.label(name)}]" for value, name in told if len(value) > 1}
    return dict(sorted(found.items(), key=lambda pair: -len(pair[0])))


def _masked(value: Any, own: Mapping[str, str]) -> str:
    text = str(value)
    for identifier, mark in own.items():
        text = text.replace(identifier, mark)
    return text


def _age(
    project: Project, metadata: StudyMetadata, rows: Sequence[Mapping[str, Any]]
) -> int | None:
    """Completed years at consent; a 29 February birthday counts from 1 March (contracts.md, age_at)."""
    zone = ZoneInfo(project.timezone)
    birth, consent = (
        next((day for row in rows if (day := read_date(n, str(row.get(n, "")), zone).day)), None)
        for n in age_fields(project, metadata)
    )
    if birth is None or consent is None:
        return None
    return consent.year - birth.year - ((consent.month, consent.day) < (birth.month, birth.day))
