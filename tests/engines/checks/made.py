"""A study of a generated dictionary, without a REDCap: its project, its records, what the checks say."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, date, datetime

from core.rules.context import Kind as Type
from core.rules.context import StudyContext
from engines.sop.checks.kinds import Kind as Check
from engines.sop.dry import walk
from engines.sop.findings import GOOD, Observation
from projects.models import Project
from study.models import Dictionary
from study.records import RecordData
from tests.support.dictionaries import Kind, row

ALL: dict[str, dict[str, object]] = {
    str(check): {} for check in Check if check is not Check.DUPLICATE
} | {str(Check.PROHIBITED): {"names": []}}
ON_FORM = {
    str(check): {}
    for check in (Check.REQUIRED, Check.RANGE, Check.TYPE, Check.CHOICE, Check.HIDDEN)
}


def project_of(kind: Kind) -> Project:
    """A project whose stored dictionary is the kind's."""
    project = Project.objects.create(code="MADE", name=kind.name, start_date=date(2026, 1, 1))
    Dictionary.objects.create(project=project, content=kind.content, digest=kind.name)
    return project


def classic_of(fields: Sequence[dict[str, str]], values: dict[str, str]) -> tuple[Kind, RecordData]:
    """A kind of one form each, with one subject of one row."""
    forms = {field["form_name"]: field["form_name"] for field in fields}
    kind = Kind("made", fields, forms, [row("1", values)], ("1",), "", frozenset())
    return kind, record(kind, "1")


def record(kind: Kind, name: str) -> RecordData:
    """A record as REDCap exports it: each row with every column, blank where nothing stands."""
    columns = StudyContext.build(kind.fields).columns
    blank = {
        column.name: "0" if column.kind is Type.TICK else ""
        for column in columns.values()
        if column.kind is not Type.TICKS
    }
    rows: dict[object, dict[str, object]] = {}
    for one in kind.records:
        if one["record"] == name:
            told = rows.setdefault(
                (one["event"], one["instrument"], one["instance"]),
                blank
                | {kind.fields[0]["field_name"]: name, "redcap_data_access_group": ""}
                | ({"redcap_event_name": one["event"]} if kind.events else {})
                | {"redcap_repeat_instrument": one["instrument"]}
                | {"redcap_repeat_instance": one["instance"] or ""},
            )
            told |= one["values"]
    return RecordData(name, "", tuple(rows.values()), datetime.now(UTC), (), True)


def found(
    project: Project, data: RecordData, checks: dict[str, dict[str, object]] = ALL
) -> list[Observation]:
    """What the checks would report of a record."""
    nodes = {"standard": {"type": "hard_rule", "checks": checks}}
    config = {"start_node": "standard", "nodes": nodes}
    told = walk(project=project, config=config, data=data).observations
    return [seen for seen in told if seen.outcome not in GOOD]
