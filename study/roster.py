"""Keeps `iit_subjects` like REDCap: who is in the study, at which site, called what."""

import json
import logging
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.cache import cache
from django.utils import timezone

from house.db import atomic
from integrations.redcap import RedcapError, Row
from projects import audit
from projects.models import Project
from study.client import NotConfiguredError
from study.dictionary import load, stored
from study.metadata import StudyMetadata
from study.models import Dictionary, Subject, SyncState
from study.records import RecordData, read_records

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
    known = {subject.record_id: subject for subject in _subjects(project)}
    return _store(project, metadata, known, read)


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


def _subjects(project: Project) -> list[Subject]:
    return list(Subject.objects.filter(project=project))


def _store(
    project: Project,
    metadata: StudyMetadata,
    known: Mapping[str, Subject],
    read: Sequence[RecordData],
) -> SyncResult:
    now = timezone.now()
    fresh = [_subject(project, metadata, known.get(data.record_id), data, now) for data in read]
    added = [subject for subject in fresh if subject.record_id not in known]
    changed = [s for s in fresh if s.record_id in known and _differs(known[s.record_id], s)]
    here = {subject.record_id for subject in fresh}
    gone = [s.record_id for s in known.values() if s.is_present and s.record_id not in here]
    result = SyncResult(len(fresh), len(added), len(changed), len(gone))
    with atomic():
        _upsert(added + changed)
        _mark_seen(project, now, gone)
        _note_success(project, now, read)
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


def _mark_seen(project: Project, now: datetime, gone: Collection[str]) -> None:
    of_project = Subject.objects.filter(project=project)
    for start in range(0, len(gone), CHUNK):
        part = list(gone)[start : start + CHUNK]
        of_project.filter(record_id__in=part).update(is_present=False)
    of_project.filter(is_present=True).update(synced_at=now)


def _note_success(project: Project, now: datetime, read: Sequence[RecordData]) -> None:
    missing = sorted({name for data in read for name in data.missing_columns})
    SyncState.objects.update_or_create(
        project=project,
        defaults={
            "roster_at": now,
            "records": len(read),
            "error": f"not exported: {', '.join(missing)}" if missing else "",
        },
    )


@contextmanager
def noted(project: Project) -> Iterator[None]:
    """A reading of the study's REDCap: why it failed is kept, then raised."""
    try:
        yield
    except (RedcapError, NotConfiguredError) as error:
        with atomic():
            SyncState.objects.update_or_create(
                project=project, defaults={"error": str(error), "failed_at": timezone.now()}
            )
        raise


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
