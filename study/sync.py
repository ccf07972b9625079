"""Keeping the readings of a study current (design.md 4, data change).

A sweep reads everything; a poll reads what REDCap's log says has changed since the last one, a little of it
twice, because entries may come late. A trigger of REDCap (DET) is a hint to read one subject at once; what a
lost one would have told, the next poll does. One sweep or poll a study at a time; one that fails or dies leaves
the readings as they were and the study "incomplete", and the next begins where it began.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.db.models import Q
from django.utils.timezone import now

from core.house import clock, cron
from core.house.db import atomic
from core.house.leases import LEASE, kept
from core.integrations.redcap import RedcapPermissionError, RedcapProtocolError
from core.integrations.redcap.export import JsonRow
from projects.models import Project
from study import dictionary, readings, roster
from study.client import redcap_client
from study.metadata import StudyMetadata
from study.models import Reading, ReadingState, SyncState
from study.records import RecordData, list_records, note_roster, noting_failure, read_records
from study.redcap_queries import read_queries

log = logging.getLogger(__name__)

SWEEPS_AT = "30 2 * * *"
"""Every night, in the project's zone."""
OVERLAP = timedelta(minutes=10)
WHOLE_DAY = timedelta(hours=26)
"""So far back the log is read to learn what time it is at REDCap, whatever zone its server is in."""


@dataclass(frozen=True)
class Changes:
    """What REDCap says has changed: subjects to read again, and until when its log was read."""

    record_ids: Collection[str]
    cursor: str
    listed: frozenset[str] | None = None


def tick(project: Project) -> bool:
    """The sweep where one is due, else a poll, then REDCap's own queries; False when another process is at it.

    Raises RedcapError or NotConfiguredError, which also stand in the study's SyncState; not for the queries,
    without which the readings are as good.
    """
    is_done = sweep(project) if _is_sweep_due(project) else poll(project)
    if is_done and project.reads_queries:
        read_queries(project)
    return is_done


def sweep(project: Project) -> bool:
    """Read all subjects; False when another process is at it. Raises as `tick` does."""
    return _alone(project, _sweep)


def poll(project: Project) -> bool:
    """Read what has changed, everything where nothing was ever read. Raises as `tick` does."""
    return _alone(project, _poll)


def keep_some(project: Project, read: Sequence[RecordData]) -> None:
    """Keep subjects that were read because REDCap said that they were saved."""
    metadata = dictionary.load(project)
    with atomic():
        roster.keep_some_subjects(project, metadata, read)
        readings.keep_readings(project, read)


def _alone(project: Project, work: Callable[[Project], None]) -> bool:
    """Whether the study was ours to read; it stays marked incomplete unless the work succeeds."""
    SyncState.objects.get_or_create(project=project)
    at, mine = now(), SyncState.objects.filter(project=project)
    free = mine.filter(Q(lease_until=None) | Q(lease_until__lt=at))
    if free.update(lease_until=at + LEASE, is_incomplete=True) != 1:
        return False
    try:
        with kept(mine.exclude(lease_until=None)), noting_failure(project):
            work(project)
        mine.update(is_incomplete=False)
    finally:
        mine.update(lease_until=None)
    return True


def _is_sweep_due(project: Project) -> bool:
    state = SyncState.objects.filter(project=project).first()
    if state is None or state.swept_at is None:
        return True
    due = cron.last_due(SWEEPS_AT, zone=project.timezone, at=now())
    return due is not None and state.swept_at < due


def _sweep(project: Project) -> None:
    dictionary.ensure_fresh(project)
    cursor = _time_at_redcap(project)
    readings.read_all(project)
    metadata, state = dictionary.load(project), SyncState.objects.filter(project=project)
    if not state.filter(design=metadata.digest).exists():
        readings.forget_identifiers(project, metadata)
    state.update(cursor=cursor, design=metadata.digest)


def _poll(project: Project) -> None:
    state = SyncState.objects.get(project=project)
    known = ReadingState.objects.filter(project=project, read_at__isnull=False).first()
    if known is None or state.polled_at is None:
        _sweep(project)
        return
    at = now()
    metadata = dictionary.ensure_fresh(project)
    if metadata.digest != state.design:
        # What identifies a person may be another now, and what was not shown before.
        _sweep(project)
        return
    changes = _changes(project, metadata, state.cursor, state.polled_at)
    read = (
        read_records(project=project, record_ids=changes.record_ids) if changes.record_ids else []
    )
    missing = roster.missing_columns(read) if read else known.missing_columns
    if missing != known.missing_columns or dictionary.load(project).digest != state.design:
        # The token's rights have changed: what it shows of the others is another, too. Or the reading found
        # that the dictionary has.
        _sweep(project)
        return
    gone = _gone(project, changes, read, state.polled_at)
    with atomic():
        roster.keep_some_subjects(project, metadata, read, gone)
        readings.keep_changed(project, metadata, read, gone, at)
        note_roster(project, at, missing, len(roster.present_ids(project)))
        SyncState.objects.filter(project=project).update(polled_at=at, cursor=changes.cursor)


# --- what REDCap says has changed -----------------------------------------------------------------


def _changes(
    project: Project, metadata: StudyMetadata, cursor: str, polled_at: datetime
) -> Changes:
    """From the log where the token may read it, else from the times REDCap keeps of its records."""
    if cursor:
        try:
            return _of_log(project, cursor)
        except RedcapPermissionError:
            log.warning("%s: the log may not be read, times of change are asked for", project.code)
    return _of_times(project, metadata, polled_at)


def _of_log(project: Project, cursor: str) -> Changes:
    """Raises RedcapProtocolError for a log without the entry that was its last one a while ago."""
    begin = datetime.fromisoformat(cursor) - OVERLAP
    entries = redcap_client(project).log(begin=begin)
    if not entries:
        raise RedcapProtocolError(200, "the log has lost its last entry", "log")
    named = {str(entry.get("record") or "") for entry in entries} - {""}
    return Changes(sorted(named), max(cursor, _newest(entries)))


def _of_times(project: Project, metadata: StudyMetadata, polled_at: datetime) -> Changes:
    """REDCap's server is taken to be in the study's zone; the next sweep makes up for one that is not."""
    listed = _listed(project)
    since = (polled_at - 6 * OVERLAP).astimezone(ZoneInfo(project.timezone))
    client = redcap_client(project, metadata.shape)
    found = client.records(None, fields=[], date_range_begin=since)
    changed = {str(row[metadata.record_id_field]) for row in found.rows}
    known = roster.present_ids(project)
    return Changes(sorted(changed | (listed - known) | (known - listed)), "", listed)


def _gone(
    project: Project, changes: Changes, read: Sequence[RecordData], since: datetime
) -> frozenset[str]:
    """Subjects that REDCap has no more. Raises RedcapProtocolError where it contradicts itself.

    One that has come `since` may be an old one with a new id: of a renaming the log names that only.
    """
    ids = {data.record_id for data in read}
    unread = {*changes.record_ids} - ids
    kept = Reading.objects.filter(project=project, is_current=True).order_by()
    before = kept.filter(record_id__in=ids, first_seen__lte=clock.to_study_clock(since))
    has_come = not ids <= {*before.values_list("record_id", flat=True)}
    if not (unread or has_come):
        return frozenset()
    # The roster is read more often than the readings.
    known = roster.present_ids(project) | {*kept.values_list("record_id", flat=True).distinct()}
    lost = unread & known
    if not (lost or has_come):
        return frozenset()
    listed = _listed(project) if changes.listed is None else changes.listed
    if lost & listed:
        raise RedcapProtocolError(200, "records that it lists are missing", "record")
    return frozenset(lost | (known - listed - ids if has_come else set()))


def _listed(project: Project) -> frozenset[str]:
    return frozenset(ref.record_id for ref in list_records(project=project))


def _time_at_redcap(project: Project) -> str:
    """The time of the log's newest entry, our own last question; "" where the log tells nothing."""
    here = now().astimezone(ZoneInfo(project.timezone))
    try:
        return _newest(redcap_client(project).log(begin=here - WHOLE_DAY))
    except RedcapPermissionError:
        return ""


def _newest(entries: Sequence[JsonRow]) -> str:
    """Raises RedcapProtocolError for a time that is none."""
    times = [str(entry.get("timestamp") or "") for entry in entries]
    try:
        for told in times:
            datetime.fromisoformat(told)
    except ValueError:
        raise RedcapProtocolError(200, "a time of the log is none", "log") from None
    return max(times, default="")
