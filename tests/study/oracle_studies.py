"""The two studies of the comparison, once as the oracle reads them and once as the product does."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any

from core.rules.context import StudyContext
from study.design import StudyDesign
from study.metadata import StudyMetadata
from study.proposals import ReferenceRange
from study.records import RecordData
from study.visits.calendar import VisitPlanSpec
from tests.study.oracle import export, generate
from tests.study.oracle.study import Study

TODAY = date(2026, 11, 23)
READ_AT = datetime(2026, 11, 23, 1, 0, tzinfo=UTC)
BLINDED = {"demo": frozenset({"egfr_mutation"}), "generated": frozenset({"treatment"})}


@dataclass(frozen=True)
class Both:
    """One study for the oracle (`study`) and for the product (`design`, `records`)."""

    name: str
    study: Study
    design: StudyDesign
    records: list[RecordData]


def files_of(name: str) -> dict[str, Any]:
    """The study as its files say it."""
    return export.demo(TODAY) if name == "demo" else generate.files(TODAY)


def without(files: dict[str, Any], field: str) -> dict[str, Any]:
    """The same study if it had never had a field."""
    rows = [row for row in files["metadata"] if row["field_name"] != field]
    records = [
        row | {"values": {key: value for key, value in row["values"].items() if key != field}}
        for row in files["records"]
    ]
    mapped = {k: v for k, v in files["settings"]["mapped"].items() if v != field}
    return files | {
        "metadata": rows,
        "records": records,
        "settings": files["settings"] | {"mapped": mapped},
    }


def both(name: str, site: str = "", files: dict[str, Any] | None = None) -> Both:
    """The study `name`, or what became of its `files`; with `site` as a member of that site sees it."""
    files = files or files_of(name)
    rows = [
        row
        for row in export.flat_rows(files)
        if not site or row["redcap_data_access_group"] == site
    ]
    study = Study(files, rows, TODAY, set(BLINDED[name]))
    return Both(name, study, design_of(files, BLINDED[name]), records_of(rows))


def records_of(rows: list[dict[str, str]]) -> list[RecordData]:
    """Export rows by subject, as study.records hands them out."""
    grouped: dict[str, list[dict[str, str]]] = {}
    for row in rows:
        grouped.setdefault(row["record_id"], []).append(row)
    return [
        RecordData(name, own[0]["redcap_data_access_group"], tuple(own), READ_AT, (), True)
        for name, own in grouped.items()
    ]


def design_of(files: dict[str, Any], blinded: frozenset[str]) -> StudyDesign:
    """The study's settings as the console keeps them; none for limits that stand in field notes."""
    settings = files["settings"]
    metadata = StudyMetadata(
        metadata=files["metadata"],
        project=files["project"],
        events=files["events"],
        mapping=files["mapping"],
        repeating=files["repeating"],
        export_field_names=export.columns(files),
        instruments=files["instruments"],
        dags=files["dags"],
    )
    project = {
        "missing_data_codes": files["project"]["missing_data_codes"],
        "timezone": settings["timezone"],
        "form_event_mapping": files["mapping"],
        "repeating": files["repeating"],
        "anchors": {"anchor_is_day": settings["plan"]["anchor_is_day"]},
    }
    console = {
        name: tuple(_range(name, entry) for entry in entries)
        for name, entries in settings["ranges"].items()
    }
    return StudyDesign(
        metadata=metadata,
        context=StudyContext.build(files["metadata"], project),
        plan=VisitPlanSpec(timezone=settings["timezone"], arms=metadata.arms, **settings["plan"]),
        start=date.fromisoformat(settings["start"]),
        target=settings["target"],
        enrolment_field=settings["enrolment_field"],
        status_field=settings["status_field"],
        sex_field=settings["sex_field"],
        mapped=settings["mapped"],
        form_dates=settings["form_dates"],
        unit_fields=settings["unit_fields"],
        ranges=console,
        hidden=metadata.identifier_fields | blinded,
    )


def _range(name: str, entry: dict[str, str | None]) -> ReferenceRange:
    return ReferenceRange(
        name, entry["unit"] or "", entry["sex"] or "", _limit(entry["low"]), _limit(entry["high"])
    )


def _limit(text: str | None) -> Decimal | str | None:
    return Decimal(text) if text and text[0].isdigit() else text
