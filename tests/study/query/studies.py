"""Studies as the query engine is given them: the demo study, and small ones made by hand. No database."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from functools import cache
from typing import Any

from core.rules.context import StudyContext, checkbox_column
from demo import files
from study.design import StudyDesign
from study.facts import Answer
from study.metadata import StudyMetadata
from study.proposals import ReferenceRange
from study.query.errors import QueryError
from study.query.run import answer_query, no_work
from study.query.schema import parse_query
from study.records import RecordData
from study.visits.calendar import VisitPlanSpec

TODAY = date(2026, 11, 23)
READ_AT = datetime(2026, 11, 23, 1, 0, tzinfo=UTC)
_META = ("field_name", "form_name", "field_type", "field_label", "field_note", "branching_logic")
_MORE = (
    "select_choices_or_calculations",
    "text_validation_type_or_show_slider_number",
    "identifier",
)


@dataclass
class Study:
    """A design with its records, asked in JSON."""

    design: StudyDesign
    records: list[RecordData]
    today: date = TODAY
    work: Any = field(default=no_work)

    def ask(self, **query: Any) -> Answer:
        """The answer to a query."""
        return answer_query(
            parse_query(query), self.design, self.records, today=self.today, work=self.work
        )

    def refused(self, **query: Any) -> QueryError:
        """The refusal of a query that must be refused."""
        try:
            told = self.ask(**query)
        except QueryError as error:
            return error
        raise AssertionError(f"answered: {told}")

    def subjects(self, *where: Any, **query: Any) -> list[str]:
        """Whom conditions hold for."""
        told = self.ask(where=list(where), **query)
        return [fact.subject for fact in told.facts if fact.kind == "subjects"]

    def values(self, *select: Any, **query: Any) -> list[tuple[Any, ...]]:
        """(subject, event, instance, value) of each fact; whole numbers and codes as they are."""
        told = self.ask(select=list(select), **query).as_json()["facts"]
        return [(f["subject"], f["event"], f["instance"], f["value"]) for f in told]

    def groups(self, **query: Any) -> dict[Any, Any]:
        """{by: value}; a single `by` without its list."""
        told = self.ask(**query).as_json()["groups"]
        return {(g["by"][0] if len(g["by"]) == 1 else tuple(g["by"])): g["value"] for g in told}

    def value(self, **query: Any) -> Any:
        """The one aggregate."""
        (fact,) = self.ask(**query).as_json()["facts"]
        return fact["value"]


@cache
def demo() -> Study:
    """The demo study on the day that it is laid around."""
    redcap = "redcap"
    rows = list(csv.DictReader(io.StringIO(files.text(f"{redcap}/metadata.csv", TODAY))))
    metadata = _metadata(
        rows,
        project=files.load(f"{redcap}/project.json", TODAY),
        events=files.load(f"{redcap}/events.json", TODAY),
        mapping=files.load(f"{redcap}/mapping.json", TODAY),
        repeating=files.load(f"{redcap}/repeating.json", TODAY),
        instruments=files.load(f"{redcap}/instruments.json", TODAY),
        dags=files.load(f"{redcap}/dags.json", TODAY),
    )
    study = files.load("project.json", TODAY)
    plan = VisitPlanSpec(
        withdraw_field="withdraw_date", visits=files.load("visit_plan.json", TODAY)
    )
    limit = Decimal(40)
    design = _design(
        metadata,
        plan,
        start=date.fromisoformat(study["start_date"]),
        target=study["target_enrolment"],
        enrolment_field="enroll_date",
        status_field="subject_status",
        sex_field="sex",
        mapped={
            r["alias_name"]: r["actual_name"] for r in files.load("field_mappings.json", TODAY)
        },
        form_dates=_form_dates(rows) | {"ae": "ae_start"},
        unit_fields={"glucose": "glucose_unit"},
        ranges={
            "alt": (ReferenceRange("alt", "", "", None, limit),),
            "ast": (ReferenceRange("ast", "", "", None, limit),),
            "tbil": (ReferenceRange("tbil", "", "", None, "tbil_uln"),),
        },
        hidden=metadata.identifier_fields,
    )
    return Study(design, _records(metadata, files.load(f"{redcap}/records.json", TODAY)))


def small(
    fields: Sequence[Mapping[str, str]],
    records: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    events: Mapping[str, Sequence[str]] | None = None,
    repeating: Sequence[str] = (),
    visits: Sequence[Mapping[str, Any]] = (),
    sites: Mapping[str, str] | None = None,
    **settings: Any,
) -> Study:
    """A study made by hand; `events`: event -> forms, `repeating`: forms; `sites`: subject -> site."""
    rows = [{key: str(f.get(key, "")) for key in (*_META, *_MORE)} for f in fields]
    mapping = [
        {"arm_num": 1, "unique_event_name": event, "form": form}
        for event, forms in (events or {}).items()
        for form in forms
    ]
    metadata = _metadata(
        rows,
        project={"is_longitudinal": int(bool(events)), "missing_data_codes": "UNK, 未知"},
        events=[
            {"event_name": event.upper(), "unique_event_name": event, "arm_num": 1}
            for event in events or {}
        ],
        mapping=mapping,
        repeating=[
            {"event_name": row["unique_event_name"], "form_name": row["form"]}
            for row in mapping
            if row["form"] in repeating
        ],
        instruments=[
            {"instrument_name": form, "instrument_label": form.upper()}
            for form in dict.fromkeys(row["form_name"] for row in rows)
        ],
        dags=[],
    )
    plan = VisitPlanSpec.model_validate({"visits": [dict(visit) for visit in visits]})
    usual: dict[str, Any] = {"start": date(2026, 1, 5), "target": 10, "enrolment_field": ""}
    design = _design(metadata, plan, **usual | {"form_dates": _form_dates(rows)} | settings)
    sites = sites or {}
    found = [
        RecordData(
            name,
            sites.get(name, ""),
            tuple(_row(metadata, name, row) for row in lines),
            READ_AT,
            (),
            complete=True,
        )
        for name, lines in records.items()
    ]
    return Study(design, found)


def _design(metadata: StudyMetadata, plan: VisitPlanSpec, **settings: Any) -> StudyDesign:
    project = {
        "missing_data_codes": metadata.project["missing_data_codes"],
        "form_event_mapping": metadata.mapping,
        "repeating": metadata.repeating,
    }
    context = StudyContext.build(metadata.metadata, project)
    return StudyDesign(metadata=metadata, context=context, plan=plan, **settings)


def _metadata(rows: list[dict[str, Any]], **parts: Any) -> StudyMetadata:
    names = []
    for row in rows:
        codes = [
            part.partition(",")[0].strip()
            for part in row["select_choices_or_calculations"].split("|")
        ]
        for code in codes if row["field_type"] == "checkbox" else [""]:
            name = row["field_name"]
            names.append(
                {
                    "original_field_name": name,
                    "choice_value": code,
                    "export_field_name": checkbox_column(name, code) if code else name,
                }
            )
    return StudyMetadata(metadata=rows, export_field_names=names, **parts)


def _form_dates(rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    found: dict[str, str] = {}
    for row in rows:
        is_date = row["text_validation_type_or_show_slider_number"].startswith("date")
        if is_date and row["identifier"] != "y":
            found.setdefault(row["form_name"], row["field_name"])
    return found


def _records(metadata: StudyMetadata, cells: list[dict[str, Any]]) -> list[RecordData]:
    """The demo's rows as REDCap exports them."""
    rows: dict[str, list[dict[str, Any]]] = {}
    sites: dict[str, str] = {}
    for cell in cells:
        row = cell["values"] | {
            "redcap_event_name": cell["event"],
            "redcap_repeat_instrument": cell["instrument"],
            "redcap_repeat_instance": cell["instance"] or "",
        }
        rows.setdefault(cell["record"], []).append(_row(metadata, cell["record"], row))
        sites[cell["record"]] = cell["dag"]
    return [
        RecordData(name, sites[name], tuple(found), READ_AT, (), complete=True)
        for name, found in rows.items()
    ]


def _row(metadata: StudyMetadata, name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """A full export row: what was not given is blank, boxes of an opened form are unticked."""
    row: dict[str, Any] = dict.fromkeys(metadata.columns, "")
    forms = {str(field["form_name"]) for field in metadata.metadata}
    row |= {f"{form}_complete": "" for form in forms}
    head = {"event": "redcap_event_name", "form": "redcap_repeat_instrument"}
    head["n"] = "redcap_repeat_instance"
    told = {head.get(key, key): value for key, value in given.items()}
    row |= {metadata.record_id_field: name, **told}
    for column, (field_name, code) in metadata.columns.items():
        form = str(metadata.fields[field_name]["form_name"])
        if code and row[column] == "" and row[f"{form}_complete"] != "":
            row[column] = "0"
    return row


def text(name: str, form: str = "f", **more: str) -> dict[str, str]:
    """A field; `kind` its validation or field type, `choices` its codes."""
    kind = more.pop("kind", "")
    typed = kind in {"radio", "checkbox", "yesno", "calc", "notes"}
    return {
        "field_name": name,
        "form_name": form,
        "field_type": kind if typed else "text",
        "field_label": more.pop("label", name),
        "field_note": more.pop("note", ""),
        "branching_logic": more.pop("branching", ""),
        "select_choices_or_calculations": more.pop("choices", ""),
        "text_validation_type_or_show_slider_number": "" if typed else kind,
        "identifier": more.pop("identifier", ""),
    }


__all__ = ["READ_AT", "TODAY", "Study", "demo", "json", "small", "text"]
