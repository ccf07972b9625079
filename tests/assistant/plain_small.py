"""Readings for the small study of diabetic feet: other labels, no events, no sites."""

from __future__ import annotations

from typing import Any

from study.records import RecordData
from tests.assistant import studies
from tests.study.query.studies import READ_AT, Study

_BASE: dict[str, dict[str, str]] = {
    "07-012": {"gender": "M", "age": "66", "smoker": "1", "op_date": "2026-04-02", "wagner": "3"},
    "07-013": {"gender": "F", "age": "71", "smoker": "0", "op_date": "2026-10-20", "wagner": "2"},
    "08-001": {"gender": "M", "age": "58", "smoker": "0", "op_date": "", "wagner": "4"},
}
_MORE = {
    "07-012": {"phase": "2", "hba1c": "9.4", "k": "4.1", "crp": "62", "dm_years": "12"},
    "07-013": {"phase": "3", "hba1c": "7.8", "k": "", "crp": "8", "dm_years": "20"},
    "08-001": {"phase": "1", "hba1c": "10.2", "k": "5.6", "crp": "15", "dm_years": "4"},
}
_WOUNDS = {
    "07-012": [("2026-04-10", "12.5", "1"), ("2026-05-08", "9", "0"), ("2026-06-05", "4.2", "0")],
    "08-001": [("2026-11-01", "20", "1")],
}
_EVENTS = {"07-012": [("骨髓炎", "2026-04-20", "3", ""), ("低血糖", "2026-05", "1", "2026-05-11")]}


def small() -> Study:
    """The study with three subjects."""
    design, _known = studies.small()
    return Study(design, [_record(name) for name in _BASE])


def _record(name: str) -> RecordData:
    rows = [_row("", 0, _BASE[name] | _MORE[name] | {"base_complete": "2", "tests_complete": "2"})]
    for number, (day, area, pus) in enumerate(_WOUNDS.get(name, ()), 1):
        values = {"wound_date": day, "wound_area": area, "wound_pus": pus, "wound_complete": "2"}
        rows.append(_row("wound", number, values))
    for number, (term, start, level, end) in enumerate(_EVENTS.get(name, ()), 1):
        values = {"comp_name": term, "comp_start": start, "comp_level": level, "comp_end": end}
        rows.append(_row("comp", number, values | {"comp_complete": "2"}))
    return RecordData(name, "", tuple({"sid": name} | row for row in rows), READ_AT, (), True)


def _row(form: str, number: int, values: dict[str, Any]) -> dict[str, Any]:
    design, _known = studies.small()
    blank = dict.fromkeys(design.metadata.fields, "")
    place = {"redcap_repeat_instrument": form, "redcap_repeat_instance": number or ""}
    return blank | place | values
