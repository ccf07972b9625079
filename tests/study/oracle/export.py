"""The flat export of a study whose files have the form of demo/study/redcap."""

from __future__ import annotations

import csv
import json
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

from tests.study.oracle import cells

TOKEN = re.compile(r"\{\{T([+-]\d+)?\}\}")
DEMO = Path(__file__).resolve().parents[3] / "demo" / "study"
DEMO_SETTINGS: dict[str, Any] = {
    "status_field": "subject_status",
    "sex_field": "sex",
    "birth_field": "birth_date",
    "consent_field": "icf_date",
    "form_dates": {
        "labs": "lab_date",
        "ae": "ae_end",
        "conmed": "cm_start",
        "consent": "icf_date",
        "demographics": "screening_date",
        "disposition": "withdraw_date",
        "enrollment": "enroll_date",
        **{f"visit_v{n}": f"v{n}_date" for n in range(1, 7)},
    },
    "unit_fields": {"glucose": "glucose_unit"},
    "ranges": {
        "hgb": [
            {"unit": "", "sex": "1", "low": "130", "high": "175"},
            {"unit": "", "sex": "2", "low": "115", "high": "150"},
        ],
        "glucose": [{"unit": "mmol/L", "sex": "", "low": "3.9", "high": "6.1"}],
        "tbil": [{"unit": "", "sex": "", "low": None, "high": "tbil_uln"}],
    },
}


def demo(today: date) -> dict[str, Any]:
    """The demo study as it stands on `today`, in the form of `generate.files`."""

    def load(name: str) -> Any:
        return json.loads((DEMO / name).read_text(encoding="utf-8"))

    with (DEMO / "redcap/metadata.csv").open(encoding="utf-8") as source:
        metadata = list(csv.DictReader(source))
    names = ("project", "events", "arms", "mapping", "instruments", "repeating", "dags")
    found = {name: load(f"redcap/{name}.json") for name in names}
    own = load("project.json")
    records = load("redcap/records.json")
    for row in records:
        row["values"] = {
            name: _resolved(str(value), today) for name, value in row["values"].items()
        }
    settings = DEMO_SETTINGS | {
        "start": own["start_date"],
        "target": own["target_enrolment"],
        "timezone": own["timezone"],
        "enrolment_field": own["enrolment_field"],
        "mapped": {row["alias_name"]: row["actual_name"] for row in load("field_mappings.json")},
        "plan": {
            "anchor_is_day": own["anchor_is_day"],
            "withdraw_field": own["withdraw_field"],
            "visits": load("visit_plan.json"),
        },
    }
    return found | {"metadata": metadata, "records": records, "settings": settings}


def _resolved(text: str, today: date) -> str:
    return TOKEN.sub(lambda m: (today + timedelta(days=int(m[1] or 0))).isoformat(), text)


def columns(files: dict[str, Any]) -> list[dict[str, str]]:
    """REDCap's exportFieldNames."""
    missing = cells.split_choices(files["project"]["missing_data_codes"])
    found, forms = [], []
    for row in files["metadata"]:
        name = row["field_name"]
        if row["field_type"] == "checkbox":
            for code in {**cells.choices_of(row), **missing}:
                found.append(
                    {
                        "original_field_name": name,
                        "choice_value": code,
                        "export_field_name": cells.column(name, code),
                    }
                )
        elif row["field_type"] != "descriptive":
            found.append(
                {"original_field_name": name, "choice_value": "", "export_field_name": name}
            )
        if row["form_name"] not in forms:
            forms.append(row["form_name"])
    for form in forms:
        found.append(
            {
                "original_field_name": f"{form}_complete",
                "choice_value": "",
                "export_field_name": f"{form}_complete",
            }
        )
    return found


def flat_rows(files: dict[str, Any]) -> list[dict[str, str]]:
    """The export: every column in every row, "" where there is nothing, "0" for an unticked box."""
    names = columns(files)
    form_of = {row["field_name"]: row["form_name"] for row in files["metadata"]}
    mapped = {(row["unique_event_name"], row["form"]) for row in files["mapping"]}
    repeated = {(row["event_name"], row["form_name"]) for row in files["repeating"]}
    rows = []
    for record in files["records"]:
        row = {
            "record_id": record["record"],
            "redcap_event_name": record["event"],
            "redcap_repeat_instrument": record["instrument"],
            "redcap_repeat_instance": str(record["instance"] or ""),
            "redcap_data_access_group": record["dag"],
        }
        for item in names:
            name = item["export_field_name"]
            if name == "record_id":
                continue
            form = form_of.get(item["original_field_name"], name.removesuffix("_complete"))
            here = (record["event"], form)
            if record["instrument"]:
                is_held = form == record["instrument"]
            else:
                is_held = here in mapped and here not in repeated
            unticked = "0" if item["choice_value"] and is_held else ""
            row[name] = str(record["values"].get(name, unticked))
        rows.append(row)
    return _with_age(files["settings"], rows)


def _with_age(settings: dict[str, Any], rows: list[dict[str, str]]) -> list[dict[str, str]]:
    """Years at consent, worked out as the record is read."""
    days: dict[tuple[str, str], date] = {}
    for row in rows:
        for name in (settings["birth_field"], settings["consent_field"]):
            if row.get(name):
                days[row["record_id"], name] = date.fromisoformat(row[name])
    for row in rows:
        born = days.get((row["record_id"], settings["birth_field"]))
        at = days.get((row["record_id"], settings["consent_field"]))
        had = born and at and (at.month, at.day) >= (born.month, born.day)
        row["@age"] = str(at.year - born.year - (0 if had else 1)) if born and at else ""
    return rows
