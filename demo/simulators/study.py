"""Reads a study directory: `redcap/*.json|csv` and `documents/*.md`, dates relative to one day."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache
from pathlib import Path
from typing import Any

Row = dict[str, Any]

METADATA_COLUMNS = (
    "field_name",
    "form_name",
    "section_header",
    "field_type",
    "field_label",
    "select_choices_or_calculations",
    "field_note",
    "text_validation_type_or_show_slider_number",
    "text_validation_min",
    "text_validation_max",
    "identifier",
    "branching_logic",
    "required_field",
    "custom_alignment",
    "question_number",
    "matrix_group_name",
    "matrix_ranking",
    "field_annotation",
)
_DAY_TOKEN = re.compile(r"\{\{T([+-]\d+)?\}\}")


@dataclass
class Study:
    """One REDCap project as the files say it (reference/redcap_dify.md 1.2-1.6)."""

    project: Row
    metadata: list[dict[str, str]]
    arms: list[Row] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    mapping: list[Row] = field(default_factory=list)
    instruments: list[Row] = field(default_factory=list)
    repeating: list[Row] = field(default_factory=list)
    dags: list[Row] = field(default_factory=list)
    users: list[Row] = field(default_factory=list)
    records: list[Row] = field(default_factory=list)
    queries: list[Row] = field(default_factory=list)


def place_dates(value: Any, today: date) -> Any:
    """`value` with `{{T}}`, `{{T-12}}`, `{{T+3}}` in its strings replaced by ISO dates."""
    if isinstance(value, str):
        return _DAY_TOKEN.sub(
            lambda match: (today + timedelta(days=int(match[1] or 0))).isoformat(), value
        )
    if isinstance(value, list):
        return [place_dates(item, today) for item in value]
    if isinstance(value, dict):
        return {key: place_dates(item, today) for key, item in value.items()}
    return value


def stamp(directory: Path) -> tuple[tuple[str, int, int], ...]:
    """Name, time of change and size of each file below `directory`: read again only where one differs."""
    found = [(str(path), path.stat()) for path in sorted(directory.glob("*/*"))]
    return tuple((name, stat.st_mtime_ns, stat.st_size) for name, stat in found)


def load_study(directory: Path, today: date) -> Study:
    """The study in `directory`/redcap, else a built-in one of two fields. Nobody changes it."""
    return _study_of(directory, today, stamp(directory))


@lru_cache(maxsize=4)
def _study_of(directory: Path, today: date, _stamp: object) -> Study:
    root = directory / "redcap"
    if not (root / "metadata.csv").exists():
        return _built_in()
    parts: dict[str, Any] = {}
    for name in Study.__dataclass_fields__:
        path = root / f"{name}.json"
        if path.exists():
            parts[name] = place_dates(json.loads(path.read_text("utf-8")), today)
    parts["metadata"] = place_dates(_read_metadata(root / "metadata.csv"), today)
    parts.setdefault("project", {})
    return Study(**parts)


def load_documents(directory: Path, today: date) -> dict[str, str]:
    """File name -> text of `directory`/documents/*.md, sorted by name."""
    paths = sorted((directory / "documents").glob("*.md"))
    return {path.name: place_dates(path.read_text("utf-8"), today) for path in paths}


def _read_metadata(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8-sig", newline="") as handle:
        rows = list(csv.DictReader(handle))
    return [{name: row.get(name) or "" for name in METADATA_COLUMNS} for row in rows]


def _built_in() -> Study:
    blank = dict.fromkeys(METADATA_COLUMNS, "")
    names = (("record_id", "Record ID"), ("note", "Note"))
    metadata = [
        {
            **blank,
            "field_name": name,
            "form_name": "basics",
            "field_type": "text",
            "field_label": label,
        }
        for name, label in names
    ]
    return Study(
        project={"project_id": 1, "project_title": "Empty study", "is_longitudinal": 0},
        metadata=metadata,
        instruments=[{"instrument_name": "basics", "instrument_label": "Basics"}],
    )
