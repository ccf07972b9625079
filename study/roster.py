"""Keeps `iit_subjects` like REDCap: who is in the study, at which site, called what."""

import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.utils import timezone

from house.db import atomic
from integrations.redcap import RedcapError, Row
from projects import audit
from projects.models import Project
from study.dictionary import load, stored
from study.metadata import StudyMetadata
from study.models import Dictionary, Subject
from study.records import RecordData, read_records
from study.sync_state import note_roster, noted

logger = logging.getLogger(__name__)

CHUNK = 500
PAUSE_S = 15
"""While one process reads the roster, others use the stored one for this long."""


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What one reading of the roster found and changed."""

    present: int
    added: int
    changed: int
    vanished: int


def sync(project: Project) -> SyncResult:
    """Read ids, sites and identifiers from REDCap and store them; subjects are never deleted.

    Raises RedcapError or NotConfiguredError and then leaves the stored roster as it was, with the
    failure in `SyncState`.
    """
    with noted(project):
        metadata = load(project)
        wanted = sorted(metadata.identifier_fields - {metadata.record_id_field})
        read = read_records(project=project, fields=wanted)
    return keep(project, metadata, read)


def keep(project: Project, metadata: StudyMetadata, read: Sequence[RecordData]) -> SyncResult:
    """Store who was read in an export of all subjects that holds their identifiers."""
    known = {subject.record_id: subject for subject in Subject.objects.filter(project=project)}
    here = {data.record_id for data in read}
    gone = [s.record_id for s in known.values() if s.is_present and s.record_id not in here]
    at = timezone.now()
    with atomic():
        result = _store(project, metadata, known, read, gone)
        Subject.objects.filter(project=project, is_present=True).update(synced_at=at)
        note_roster(project, at, missing_columns(read), len(read))
    return result


def missing_columns(read: Sequence[RecordData]) -> list[str]:
    """What the token did not show of any of these subjects."""
    return sorted({name for data in read for name in data.missing_columns})


def keep_some(
    project: Project,
    metadata: StudyMetadata,
    read: Sequence[RecordData],
    gone: Collection[str] = (),
) -> SyncResult:
    """Store some subjects that were read whole; `gone`: those that REDCap has no more."""
    ids = [*gone, *(data.record_id for data in read)]
    named = Subject.objects.filter(project=project, record_id__in=ids)
    known = {subject.record_id: subject for subject in named}
    left = [s.record_id for s in known.values() if s.is_present and s.record_id in gone]
    return _store(project, metadata, known, read, left)


def ensure_fresh(project: Project, max_age_s: float = 60, known: Dictionary | None = None) -> bool:
    """Read the roster again when it is older than `max_age_s`; True when it is fresh afterwards.

    `known`: what `study.dictionary.stored` gave this request; it tells when the roster was read.

    An outage leaves the stored roster in place (False). Raises RedcapError or NotConfiguredError
    where there never was one: without it no identifier could be recognised.
    """
    found: Any = known or stored(project)
    read_at = found.roster_at if found else None
    if read_at is None:
        sync(project)
        return True
    if (timezone.now() - read_at).total_seconds() <= max_age_s:
        return True
    if not cache.add(f"roster-sync:{project.pk}", 1, PAUSE_S):
        return False
    try:
        sync(project)
    except RedcapError as error:
        logger.warning("The roster of %s stays as it was: %s", project.code, error)
        return False
    return True


def _store(
    project: Project,
    metadata: StudyMetadata,
    known: Mapping[str, Subject],
    read: Sequence[RecordData],
    gone: Sequence[str],
) -> SyncResult:
    now = timezone.now()
    fresh = [_subject(project, metadata, known.get(data.record_id), data, now) for data in read]
    added = [subject for subject in fresh if subject.record_id not in known]
    changed = [s for s in fresh if s.record_id in known and _differs(known[s.record_id], s)]
    result = SyncResult(len(fresh), len(added), len(changed), len(gone))
    with atomic():
        _upsert(added + changed)
        _mark_gone(project, gone)
        if added or changed or gone:
            _record(project, result, known, fresh)
    return result


def _subject(
    project: Project,
    metadata: StudyMetadata,
    known: Subject | None,
    data: RecordData,
    now: datetime,
) -> Subject:
    found = identifiers_of(metadata, data.rows)
    if known is not None and data.missing_columns:
        # A token without identifiers must not make us forget names that still have to be masked.
        kept: dict[str, str] = json.loads(known.identifiers)
        hidden = {name.partition("___")[0] for name in data.missing_columns}
        found |= {k: v for k, v in kept.items() if k.partition("#")[0] in hidden}
    return Subject(
        project=project,
        record_id=data.record_id,
        site=data.site,
        identifiers=json.dumps(found, ensure_ascii=False, sort_keys=True),
        is_present=True,
        synced_at=now,
    )


def identifiers_of(metadata: StudyMetadata, rows: Sequence[Row]) -> dict[str, str]:
    """{field: value} of the identifier fields; further different values as `field#2`, `field#3` …"""
    found: dict[str, list[str]] = {}
    for row in rows:
        for column, value in row.items():
            name, code = metadata.columns.get(column, (column, ""))
            text = str(value).strip()
            if name in metadata.identifier_fields and name != metadata.record_id_field and text:
                values = found.setdefault(name, [])
                if not code and text not in values:
                    values.append(text)
    return {
        name if number == 1 else f"{name}#{number}": value
        for name, values in found.items()
        for number, value in enumerate(values, 1)
    }


def _differs(old: Subject, new: Subject) -> bool:
    return (old.site, old.identifiers, old.is_present) != (new.site, new.identifiers, True)


def _upsert(subjects: Sequence[Subject]) -> None:
    Subject.objects.bulk_create(
        subjects,
        batch_size=CHUNK,
        update_conflicts=True,
        unique_fields=["project", "record_id"],
        update_fields=["site", "identifiers", "is_present", "synced_at"],
    )


def _mark_gone(project: Project, gone: Sequence[str]) -> None:
    for start in range(0, len(gone), CHUNK):
        part = gone[start : start + CHUNK]
        Subject.objects.filter(project=project, record_id__in=part).update(is_present=False)


def _record(
    project: Project,
    result: SyncResult,
    known: Mapping[str, Subject],
    fresh: Sequence[Subject],
) -> None:
    """One audit entry a change, with the moves between sites, which decide who sees a subject."""
    moved = {
        subject.record_id: [known[subject.record_id].site, subject.site]
        for subject in fresh
        if subject.record_id in known and known[subject.record_id].site != subject.site
    }
    audit.record(
        "roster.sync",
        actor="system",
        project=project,
        new={
            "present": result.present,
            "added": result.added,
            "changed": result.changed,
            "vanished": result.vanished,
            "moved": moved,
        },
    )
