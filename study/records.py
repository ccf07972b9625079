"""The only way the product reads subject data from REDCap.

Nothing is kept: every call asks REDCap, says when, and says what it was not shown. "Not your site"
and "no such record" read the same (design.md 9.7, edge case E43).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from zoneinfo import ZoneInfo

from integrations.redcap import RecordExport, RedcapUnavailable, Row
from integrations.redcap.export import SITE
from projects.models import Member, Project
from study.client import redcap_client
from study.dates import read_date
from study.dictionary import ensure_fresh, load
from study.metadata import StudyMetadata
from study.models import Subject


@dataclass(frozen=True)
class RecordData:
    """One subject as read at `read_at` (UTC).

    `complete` is False when the token does not show `missing_columns`: then nothing may be called
    clean (design.md 9.8). `site` is "" where the record belongs to no data access group.
    """

    record_id: str
    site: str
    rows: tuple[Row, ...] = field(repr=False)
    read_at: datetime
    missing_columns: tuple[str, ...]
    complete: bool

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
    export = _export(project, metadata, record_ids, fields)
    if export.missing_columns:
        # Perhaps the dictionary has changed since we read it; a token's rights stay as they are.
        newer = ensure_fresh(project)
        if newer is not metadata and newer.export_field_names != metadata.export_field_names:
            metadata, export = newer, _export(project, newer, record_ids, fields)
    if not export.rows and record_ids is None and Subject.objects.filter(project=project).exists():
        raise EmptyRosterError(200, "no record", "record")
    return [data for data in _by_record(metadata, export) if _visible(data.site, member)]


def list_records(
    *, project: Project, member: Member | None = None, record_ids: Collection[str] | None = None
) -> list[RecordRef]:
    """Ids and sites only, in one narrow request. Raises RedcapError, NotConfiguredError."""
    found = read_records(project=project, member=member, record_ids=record_ids, fields=[])
    return [RecordRef(data.record_id, data.site) for data in found]


def visible_to(found: Sequence[RecordData], member: Member) -> list[RecordData]:
    """Those of subjects that a job has read for a whole study which one member may see."""
    may_read = _may_read(member.project, member)
    return [data for data in found if may_read and _visible(data.site, member)]


def _export(
    project: Project,
    metadata: StudyMetadata,
    record_ids: Collection[str] | None,
    fields: Sequence[str] | None,
) -> RecordExport:
    return redcap_client(project, metadata.shape).records(record_ids, fields=fields)


def _may_read(project: Project, member: Member | None) -> bool:
    return member is None or (member.is_active and member.project_id == project.pk)


def _visible(site: str, member: Member | None) -> bool:
    return member is None or not member.site or member.site == site


def _by_record(metadata: StudyMetadata, export: RecordExport) -> list[RecordData]:
    grouped: dict[str, list[Row]] = {}
    for row in export.rows:
        grouped.setdefault(str(row[metadata.record_id_field]), []).append(row)
    return [
        RecordData(
            record_id=record_id,
            site=_site(rows),
            rows=tuple(rows),
            read_at=export.read_at,
            missing_columns=export.missing_columns,
            complete=not export.missing_columns,
        )
        for record_id, rows in grouped.items()
    ]


def _site(rows: Sequence[Row]) -> str:
    """The one data access group of a record; "" when there is none or the rows disagree."""
    sites = {str(row.get(SITE, "")) for row in rows}
    return sites.pop() if len(sites) == 1 else ""
