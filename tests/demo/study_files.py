"""Reading the files of the demo study, without any of the product's code."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from datetime import date, timedelta
from pathlib import Path
from typing import Any

STUDY = Path(__file__).resolve().parents[2] / "demo" / "study"
FIRST_TODAY = date(2026, 8, 15)
TODAYS = [FIRST_TODAY, FIRST_TODAY + timedelta(days=98), FIRST_TODAY + timedelta(days=250)]
SUBJECTS = [f"P{number:03d}" for number in range(1, 37)]
TOKEN = re.compile(r"\{\{T([+-]\d+)?\}\}")


def load(name: str) -> Any:
    return json.loads((STUDY / name).read_text(encoding="utf-8"))


def text(name: str) -> str:
    return (STUDY / name).read_text(encoding="utf-8")


def dictionary() -> dict[str, dict[str, str]]:
    rows = csv.DictReader(text("redcap/metadata.csv").splitlines())
    return {row["field_name"]: row for row in rows}


def records() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = load("redcap/records.json")
    return rows


def choices(field: dict[str, str]) -> list[str]:
    parts = field["select_choices_or_calculations"].split("|")
    return [part.split(",", 1)[0].strip() for part in parts]


def resolve(value: str, today: date) -> str:
    return TOKEN.sub(lambda m: (today + timedelta(days=int(m[1] or 0))).isoformat(), value)


def value_of(record: str, event: str, field: str) -> str:
    for row in records():
        if (row["record"], row["event"], row["instrument"]) == (record, event, ""):
            return str(row["values"].get(field, ""))
    return ""


def planted() -> dict[str, list[str]]:
    """Subject → the cells of its row in the README's table of planted errors."""
    section = text("README.md").split("## Planted errors")[1].split("\n## ")[0]
    rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("| P")]
    return {row[0].strip(): [cell.strip() for cell in row[1:]] for row in rows}


def clean() -> list[str]:
    section = text("README.md").split("## Clean subjects")[1]
    return re.findall(r"P\d{3}", section.split(":")[0])


def rules() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for skill in load("skills.json"):
        for name, node in skill["config"]["nodes"].items():
            for rule in node.get("rules", []):
                yield skill["skill_type"], name, rule


def variables(logic: Any) -> Iterator[str]:
    if isinstance(logic, dict):
        for operator, arguments in logic.items():
            if operator == "var":
                yield arguments if isinstance(arguments, str) else arguments[0]
            else:
                yield from variables(arguments)
    elif isinstance(logic, list):
        for item in logic:
            yield from variables(item)


def events_named(logic: Any) -> Iterator[str]:
    if isinstance(logic, dict):
        for operator, arguments in logic.items():
            if operator == "across_events":
                yield arguments[0]
            yield from events_named(arguments)
    elif isinstance(logic, list):
        for item in logic:
            yield from events_named(item)
