"""The only way the product reads subject data from REDCap.

Nothing is kept: every call asks REDCap, says when, and says what it was not shown. "Not your site"
and "no such record" read the same (design.md 9.7, edge case E43).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from zoneinfo import ZoneInfo

from django.utils import timezone

from core.house.db import atomic
from core.house.request_cache import once
from core.integrations.redcap import (
    RecordExport,
    RedcapError,
    RedcapPermissionError,
    RedcapProtocolError,
    RedcapUnavailable,
    Row,
)
from core.integrations.redcap.export import CHOICE, EVENT, SITE
from projects.models import Member, Project
from study.client import NotConfiguredError, OtherProjectError, redcap_client
from study.dates import read_date
from study.dictionary import ensure_fresh, load, read_again
from study.metadata import StudyMetadata
from study.models import Subject, SyncState


@dataclass(frozen=True)
class RecordData:
    """One subject as read at `read_at` (UTC).

    `complete` is False when the token does not show `missing_columns`, or the dictionary does not know what
    the rows hold (`is_known`): then nothing may be called clean (design.md 9.8). `site` is "" where the record
    belongs to no data access group.
    """

    record_id: str
    site: str
    rows: tuple[Row, ...] = field(repr=False)
    read_at: datetime
    missing_columns: tuple[str, ...]
    complete: bool
    is_known: bool = True

    def day(self, field: str, zone: str) -> date | None:
        """The first row's date in `field` as `zone` counts days; None where none is a whole date."""
        read = (read_date(field, str(row.get(field, "")), ZoneInfo(zone)) for row in self.rows)
        return next((reading.day for reading in read if reading.day), None)


@dataclass(frozen=True, slots=True)
class RecordRef:
    """A subject by id and site, without data."""

    record_id: str
    site: str


class EmptyRosterError(RedcapUnavailable):
    """REDCap showed no record at all where subjects are known: taken for a failure, not for data."""


def read_record(
    *, project: Project, record_id: str, member: Member | None = None
) -> RecordData | None:
    """Everything about one subject; None when absent or not the member's to see.

    `record_id` is compared exactly: "7" is not "007" (E10). Raises RedcapError, NotConfiguredError.
    """
    found = read_records(project=project, member=member, record_ids=[record_id])
    return found[0] if found else None


def read_records(
    *,
    project: Project,
    member: Member | None = None,
    record_ids: Collection[str] | None = None,
    fields: Sequence[str] | None = None,
) -> list[RecordData]:
    """The subjects `member` may see (None: a job of the house), in the order of REDCap.

    `fields` narrows the read to these fields. Raises RedcapError (EmptyRosterError where the whole study
    is read as if it had nobody), NotConfiguredError.
    """
    if not _may_read(project, member):
        return []
    metadata = load(project)

    def read(known: StudyMetadata) -> RecordExport:
        return redcap_client(project, known.shape).records(record_ids, fields=fields)

    export = read(metadata)
    if export.missing_columns:
        # Perhaps the dictionary has changed since we read it; a token's rights stay as they are.
        newer = ensure_fresh(project)
        if newer is not metadata and newer.export_field_names != metadata.export_field_names:
            metadata, export = newer, read(newer)
    if unknown := _unknown(metadata, export.rows):
        # Rules would find no column, and no form that belongs to the event: nothing would fail.
        newer = read_again(project, unknown)
        if newer.export_field_names != metadata.export_field_names:
            export = read(newer)
        metadata = newer
    if not export.rows and record_ids is None and Subject.objects.filter(project=project).exists():
        raise EmptyRosterError(200, "no record", "record")
    return _visible(_by_record(metadata, export), member)


def list_records(
    *, project: Project, member: Member | None = None, record_ids: Collection[str] | None = None
) -> list[RecordRef]:
    """Ids and sites only, in one narrow request. Raises RedcapError, NotConfiguredError."""
    found = read_records(project=project, member=member, record_ids=record_ids, fields=[])
    return [RecordRef(data.record_id, data.site) for data in found]


def visible_to(found: Sequence[RecordData], member: Member) -> list[RecordData]:
    """Those of subjects that a job has read for a whole study which one member may see."""
    return _visible(found, member) if _may_read(member.project, member) else []


def _may_read(project: Project, member: Member | None) -> bool:
    return member is None or (member.is_active and member.project_id == project.pk)


def _visible(found: Sequence[RecordData], member: Member | None) -> list[RecordData]:
    """What a member with a site sees is of that site in REDCap, and not of another one in the stored roster:

    a move opens nothing before it was taken over (`study.roster`).
    """
    if member is None or not member.site:
        return [*found]
    subjects = Subject.objects.filter(project=member.project_id).exclude(site=member.site)
    elsewhere = {*subjects.values_list("record_id", flat=True)}
    return [one for one in found if one.site == member.site and one.record_id not in elsewhere]


def _by_record(metadata: StudyMetadata, export: RecordExport) -> list[RecordData]:
    grouped: dict[str, list[Row]] = {}
    for row in export.rows:
        grouped.setdefault(str(row[metadata.record_id_field]), []).append(row)
    are_known = not _unknown(metadata, export.rows)
    known = {name: are_known or not _unknown(metadata, rows) for name, rows in grouped.items()}
    return [
        RecordData(
            record_id=record_id,
            site=site_of(rows),
            rows=tuple(rows),
            read_at=export.read_at,
            missing_columns=export.missing_columns,
            complete=not export.missing_columns and known[record_id],
            is_known=known[record_id],
        )
        for record_id, rows in grouped.items()
    ]


def _unknown(metadata: StudyMetadata, rows: Iterable[Row]) -> frozenset[str]:
    """Columns of checkbox choices, and events, that the rows hold and the dictionary does not know."""
    rows = [*rows]
    held = {name for name in set[str]().union(*rows) if CHOICE in name}
    events = {str(event) for row in rows if (event := row.get(EVENT))}
    return frozenset((held | events) - metadata.known_names)


def site_of(rows: Iterable[Row]) -> str:
    """The one data access group of a record; "" when there is none or the rows disagree."""
    sites = {str(row.get(SITE, "")) for row in rows}
    return sites.pop() if len(sites) == 1 else ""


Cause = SyncState.Cause


@contextmanager
def noting_failure(project: Project) -> Iterator[None]:
    """A reading of the study's REDCap: why it failed is kept, then raised."""
    try:
        yield
    except (RedcapError, NotConfiguredError) as error:
        with atomic():
            SyncState.objects.update_or_create(
                project=project,
                defaults={
                    "cause": cause_of(error),
                    "error": str(error),
                    "failed_at": timezone.now(),
                },
            )
        raise


def state_of(project: Project) -> SyncState | None:
    """What the readings of a study left behind; read once a request."""
    return once(("sync", project.pk), lambda: SyncState.objects.filter(project=project).first())


def outage(project: Project) -> tuple[datetime, str] | None:
    """When REDCap failed last and why, in the reader's language; None where it was read since."""
    state = state_of(project)
    if state is None or not state.is_failing or state.failed_at is None:
        return None
    return state.failed_at, str(state.get_cause_display())


def note_roster(project: Project, at: datetime, missing: Sequence[str], records: int) -> None:
    """Who is in the study was read; a token that hides `missing` columns leaves the state failing."""
    told = f"not exported: {', '.join(missing)}" if missing else ""
    SyncState.objects.update_or_create(
        project=project,
        defaults={
            "roster_at": at,
            "records": records,
            "cause": Cause.COLUMNS if missing else "",
            "error": told,
        },
    )


_CAUSES: tuple[tuple[type[Exception], Cause], ...] = (
    (NotConfiguredError, Cause.SETUP),
    (OtherProjectError, Cause.OTHER),
    (EmptyRosterError, Cause.EMPTY),
    (RedcapPermissionError, Cause.REFUSED),
    (RedcapProtocolError, Cause.UNREADABLE),
)


def cause_of(error: RedcapError | NotConfiguredError) -> Cause:
    """Why a reading failed."""
    if isinstance(error, RedcapUnavailable) and not error.status:
        return Cause.TIMEOUT if "Timeout" in error.text else Cause.NETWORK
    return next((cause for kind, cause in _CAUSES if isinstance(error, kind)), Cause.SERVER)
