"""The raw export of the demo study, as the judges of answers read it: nothing of the product is imported.

A cell is one value with all that a claim about it may name; visits' windows are worked out of the visit plan
(target = anchor + day - 1, both ends inclusive; there is no Day 0).
"""

from __future__ import annotations

import csv
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, timedelta
from functools import cache
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parents[2] / "demo" / "study"
TODAY = date(2026, 11, 23)
BLANK = "未填写"
ROLES = {"open": "窗口开放", "close": "窗口截止", "target": "目标日期", "actual": "实际日期"}
_PLACES = {"baseline_arm_1": "基线"} | {f"v{n}_arm_1": f"V{n}" for n in range(1, 7)}
_HIDDEN = {"subject_name", "id_card", "phone", "hospital_no", "address", "birth_date"}
_HIDDEN |= {"egfr_mutation", "record_id"}


@dataclass(frozen=True, slots=True)
class Cell:
    """One value of a subject. `place`: 基线, V1 … or ""; `number`: of a repeated row, else 0."""

    subject: str
    site: str
    field: str
    label: str
    place: str
    number: int
    value: str

    @property
    def key(self) -> tuple[str, str, str, int]:
        """What the value is of."""
        return self.subject, self.field, self.place, self.number

    @property
    def line(self) -> str:
        """All that a token may stand in, folded."""
        row = f"#{self.number}" if self.number else ""
        return folded(f"{self.subject}·{self.label}·{self.place}·{row}={self.value}")


def folded(text: str) -> str:
    """Full width as half width, no spaces."""
    return "".join(unicodedata.normalize("NFKC", text).split())


@cache
def cells() -> tuple[Cell, ...]:
    """Every value of the export and every end of a visit window, in the order of the export."""
    return (*_values(), *_windows())


@cache
def values() -> dict[tuple[str, str, str, int], str]:
    """(subject, field, place, number) → value."""
    return {cell.key: cell.value for cell in cells()}


@cache
def subjects() -> dict[str, str]:
    """Subject → site."""
    return {row["record"]: row["dag"] for row in _json("redcap/records.json")}


def cell_of(tokens: Sequence[str]) -> Cell | None:
    """The first cell that holds all the tokens of a placeholder, whose first is a subject."""
    wanted = [folded(token) for token in tokens]
    mine = (cell for cell in _of(wanted[0]) if wanted[-1] in folded(cell.value))
    return next((cell for cell in mine if all(token in cell.line for token in wanted)), None)


def holds(cell: Cell) -> bool:
    """Whether the export says so; a value that is not there says nothing."""
    known = values().get(cell.key)
    return known is not None and _plain(known) == _plain(cell.value)


def moved(cell: Cell, **changes: Any) -> Cell:
    """The same claim about something else."""
    return replace(cell, **changes)


@cache
def choices(field: str) -> tuple[str, ...]:
    """The labels of a coded field, () for others."""
    return tuple(_codes(_dictionary().get(field, {})).values())


@cache
def _of(subject: str) -> tuple[Cell, ...]:
    return tuple(cell for cell in cells() if cell.subject == subject)


def _plain(value: str) -> str:
    return f"{float(value):g}" if re.fullmatch(r"\d+(\.\d+)?", value) else folded(value)


def _values() -> Iterator[Cell]:
    dictionary = _dictionary()
    for row in _json("redcap/records.json"):
        place, number = _PLACES.get(row["event"], ""), row["instance"] or 0
        form = {name for name, field in dictionary.items() if _is_in(field, row)}
        for name in sorted(form | set(row["values"])):
            if name in _HIDDEN or name.endswith("_complete") or "___" in name:
                continue
            raw = _dated(row["values"].get(name, ""))
            value = _codes(dictionary[name]).get(raw, raw) or BLANK
            label = dictionary[name]["field_label"]
            yield Cell(row["record"], row["dag"], name, label, place, number, value)


def _is_in(field: dict[str, str], row: dict[str, Any]) -> bool:
    """Whether a row shows a field that may be blank in it: one of its forms was begun."""
    if row["instrument"]:
        return bool(field["form_name"] == row["instrument"])
    return f"{field['form_name']}_complete" in row["values"]


def _windows() -> Iterator[Cell]:
    known = {cell.key: cell for cell in _values()}
    for visit in _json("visit_plan.json"):
        name = visit["visit"]
        for subject, site in subjects().items():
            anchor = known.get((subject, visit["anchor_field"], "基线", 0))
            if anchor is None or anchor.value == BLANK:
                continue
            target = date.fromisoformat(anchor.value) + timedelta(days=visit["day"] - 1)
            ends = {
                "open": target - timedelta(days=visit["minus"]),
                "close": target + timedelta(days=visit["plus"]),
                "target": target,
            }
            for role, day in ends.items():
                label = f"{name} {ROLES[role]}"
                yield Cell(subject, site, f"@{role}", label, name, 0, day.isoformat())


def _dated(value: str) -> str:
    """`{{T-3}}` in the demo's records is three days before today."""

    def day(found: re.Match[str]) -> str:
        return (TODAY + timedelta(days=int(found[1] or 0))).isoformat()

    return re.sub(r"\{\{T([+-]\d+)?\}\}", day, value)


def _codes(field: dict[str, str]) -> dict[str, str]:
    if field.get("field_type") == "yesno":
        return {"1": "是", "0": "否"}
    if field.get("field_type") not in ("radio", "dropdown"):
        return {}
    pairs = field["select_choices_or_calculations"].split("|")
    return {code.strip(): label.strip() for code, label in (pair.split(",", 1) for pair in pairs)}


@cache
def _dictionary() -> dict[str, dict[str, str]]:
    with (HERE / "redcap" / "metadata.csv").open(encoding="utf-8") as lines:
        return {row["field_name"]: row for row in csv.DictReader(lines)}


def _json(name: str) -> Any:
    return json.loads((HERE / name).read_text(encoding="utf-8"))
