"""Keeps `iit_subjects` like REDCap: who is in the study, at which site, called what."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.core.cache import cache
from django.db.models import F, Model, OuterRef, QuerySet, Subquery, TextField
from django.utils import timezone

from core.house.db import atomic
from core.house.encrypted_fields import json_in, reading
from core.house.task_queue import wake_later
from core.integrations.redcap import RedcapError, Row
from projects import audit
from projects.models import Member, Project
from study.dictionary import load, stored
from study.metadata import StudyMetadata
from study.models import Dictionary, Reading, Subject
from study.records import RecordData, note_roster, noting_failure, read_records

logger = logging.getLogger(__name__)

CHUNK = 500
FOLLOW = "engines.tasks.follow_changes"
_STORED = ("site", "identifiers", "is_present", "synced_at", "site_waiting", "moved_at")
PAUSE_S = 15
"""While one process reads the roster, others use the stored one for this long."""


@dataclass(frozen=True, slots=True)
class SyncResult:
    """What one reading of the roster found and changed."""

    present: int
    added: int
    changed: int
    vanished: int


def sync_roster(project: Project) -> SyncResult:
    """Read ids, sites and identifiers from REDCap and store them; subjects are never deleted.

    Raises RedcapError or NotConfiguredError and then leaves the stored roster as it was, with the
    failure in `SyncState`.
    """
    with noting_failure(project):
        metadata = load(project)
        wanted = sorted(metadata.identifier_fields - {metadata.record_id_field})
        read = read_records(project=project, fields=wanted)
    return keep_roster(project, metadata, read)


def keep_roster(
    project: Project, metadata: StudyMetadata, read: Sequence[RecordData]
) -> SyncResult:
    """Store who was read in an export of all subjects that holds their identifiers."""
    with reading():  # what cannot be opened is stored anew
        known = {subject.record_id: subject for subject in Subject.objects.filter(project=project)}
    here = {data.record_id for data in read}
    gone = [s.record_id for s in known.values() if s.is_present and s.record_id not in here]
    at = timezone.now()
    with atomic():
        result = _store(project, metadata, known, read, gone)
        Subject.objects.filter(project=project, is_present=True).update(synced_at=at)
        note_roster(project, at, missing_columns(read), len(read))
    return result


def present_ids(project: Project) -> frozenset[str]:
    """The record ids of the stored subjects that REDCap still has."""
    rows = project.subjects.filter(is_present=True).order_by()
    return frozenset(rows.values_list("record_id", flat=True))


def missing_columns(read: Sequence[RecordData]) -> list[str]:
    """What the token did not show of any of these subjects."""
    return sorted({name for data in read for name in data.missing_columns})


def keep_some_subjects(
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
        sync_roster(project)
        return True
    if (timezone.now() - read_at).total_seconds() <= max_age_s:
        return True
    if not cache.add(f"roster-sync:{project.pk}", 1, PAUSE_S):
        return False
    try:
        sync_roster(project)
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
    held = hold_moves(project, known, fresh, now)
    added = [subject for subject in fresh if subject.record_id not in known]
    changed = [s for s in fresh if s.record_id in known and _differs(known[s.record_id], s)]
    result = SyncResult(len(fresh), len(added), len(changed), len(gone))
    with atomic():
        Subject.objects.bulk_create(
            added + changed,
            batch_size=CHUNK,
            update_conflicts=True,
            unique_fields=["project", "record_id"],
            update_fields=_STORED,
        )
        for start in range(0, len(gone), CHUNK):
            part = gone[start : start + CHUNK]
            Subject.objects.filter(project=project, record_id__in=part).update(is_present=False)
        if added or changed or gone:
            # With the moves between sites, which decide who sees a subject.
            before = ((known[s.record_id].site, s) for s in fresh if s.record_id in known)
            moved = {s.record_id: [site, s.site] for site, s in before if site != s.site}
            told = asdict(result) | {"moved": moved}
            audit.record("roster.sync", actor="system", project=project, new=told)
        renamed = [s for s in changed if known[s.record_id].identifiers != s.identifiers]
        _wake_followers(project, renamed)
        if held:
            audit.record("roster.moves_held", actor="system", project=project, new={"moves": held})
    return result


def _wake_followers(project: Project, renamed: Sequence[Subject]) -> None:
    """What identifies somebody stands in no reading: a change of it alone is to be followed up all the same."""
    current = Reading.objects.filter(project=project, is_current=True)
    for subject in renamed:
        newest = current.filter(record_id=subject.record_id).order_by("-first_seen", "-pk")[:1]
        Reading.objects.filter(pk__in=[*newest.values_list("pk", flat=True)]).update(
            is_followed=False
        )
    if renamed:
        wake_later(FOLLOW, str(project.pk))


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
        kept: dict[str, str] = json_in(known.identifiers)
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
    was = (old.site, old.identifiers, old.is_present, old.site_waiting)
    return was != (new.site, new.identifiers, True, new.site_waiting)


M = TypeVar("M", bound=Model)


def with_site(rows: QuerySet[M], record_id: str | OuterRef | None) -> QuerySet[M]:
    """Rows of a project, each with `subject_site`: the subject's there, None where there is none."""
    same = Subject.objects.filter(project=OuterRef("project"), record_id=record_id).order_by()
    with_it: QuerySet[Any] = rows.annotate(subject_site=Subquery(same.values("site")))
    return with_it


def with_identifiers(members: QuerySet[Member], record_id: str | None) -> QuerySet[Member]:
    """`with_site`, and the subject's identifiers as they are stored: encrypted, the same for everybody."""
    same = Subject.objects.filter(project=OuterRef("project"), record_id=record_id).order_by()
    stored = Subquery(same.values("identifiers"), output_field=TextField())
    return with_site(members, record_id).annotate(subject_identifiers=stored)


FREE = 3
"""So many moves a day are the daily life of a small study; in a large one a tenth of the subjects."""
WITHIN = timedelta(days=1)


def hold_moves(
    project: Project, known: Mapping[str, Subject], fresh: Sequence[Subject], at: datetime
) -> dict[str, list[str]]:
    """Let the subjects in `fresh` keep their site where too many move; {subject: [site, new site]} of new ones.

    Moves count together with those of the last day and those that wait: one by one is no way around.
    """
    moved = []
    for subject in fresh:
        was = known.get(subject.record_id)
        if was is not None:
            subject.moved_at = was.moved_at
            if was.site != subject.site:
                moved.append(subject)
    if not moved:
        return {}
    others = Subject.objects.filter(project=project).exclude(
        record_id__in=[one.record_id for one in moved]
    )
    waits = others.filter(site_waiting__isnull=False).count()
    lately = others.filter(moved_at__gte=at - WITHIN).count()
    free = max(FREE, Subject.objects.filter(project=project, is_present=True).count() // 10)
    held = {}
    for subject in moved:
        was = known[subject.record_id]
        if len(moved) + waits + lately <= free:
            subject.moved_at = at
            continue
        if was.site_waiting != subject.site:
            held[subject.record_id] = [was.site, subject.site]
        subject.site, subject.site_waiting = was.site, subject.site
    return held


def waiting_moves(project: Project) -> list[Subject]:
    """Subjects whose move waits, by id."""
    rows = Subject.objects.filter(project=project, site_waiting__isnull=False)
    return [*rows.order_by("record_id")]


def digest_of_moves(moves: Sequence[Subject]) -> str:
    """The hash of what was shown to whoever confirms."""
    told = [(one.record_id, one.site, one.site_waiting) for one in moves]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()


def accept_moves(*, project: Project, shown: str, actor: object) -> bool:
    """Take over the moves that were shown; False where they are others by now."""
    with atomic():
        moves = waiting_moves(project)
        if not moves or digest_of_moves(moves) != shown:
            return False
        told = {one.record_id: [one.site, one.site_waiting] for one in moves if _take_over(one)}
        audit.record("roster.moves_accepted", actor=actor, project=project, new={"moves": told})
    return True


def _take_over(move: Subject) -> bool:
    """False where the roster was read anew since the move was looked at: it stays as that says."""
    same = Subject.objects.filter(pk=move.pk, site=move.site, site_waiting=move.site_waiting)
    return same.update(site=F("site_waiting"), site_waiting=None) == 1
