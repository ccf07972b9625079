"""Two studies that differ in who has which arm: kits, notes, words of events, order of rows, versions.

Twin b gives every subject the other arm of twin a, and with it: another kit number in field and notes, the
other arm's name in an adverse event, another lab value that tells it, its rows in another order.
"""

from __future__ import annotations

import csv
import json
import shutil
from pathlib import Path
from typing import Any

from demo.simulators.__main__ import DEMO_STUDY
from study.models import BlindedField

ARMS = {"1": "试验组", "2": "对照组"}
FORM = "enrollment"
EVENT = "baseline_arm_1"
FIELDS = {
    "arm": {"field_type": "radio", "field_label": "分组", "choices": "1, 试验组 | 2, 对照组"},
    "kit_no": {"field_type": "text", "field_label": "药盒号", "choices": ""},
    "study_drug": {
        "field_type": "radio",
        "field_label": "所用药物",
        "choices": "1, 甲药 | 2, 乙药",
        "branching": "[arm] <> ''",
    },
    "drug_a_start": {
        "field_type": "text",
        "field_label": "甲药首剂日期",
        "choices": "",
        "number": "date_ymd",
        "branching": "[arm] = '1'",
    },
    "marker": {"field_type": "text", "field_label": "药物浓度", "choices": "", "number": "number"},
}
BLINDED = {"arm": "arm", "kit_no": "kit", "marker": "lab"}
"""study_drug and drug_a_start are not named: they are shown by the arm."""
SECRETS = (
    "试验组",
    "对照组",
    "KT-",
    "甲药",
    "乙药",
    "分组",
    "药盒",
    "药物浓度",
    "kit_no",
    "study_drug",
    "drug_a_start",
)


def folder(path: Path, twin: str) -> Path:
    """The demo study with arms, as one twin has them."""
    made = path / f"twin_{twin}"
    shutil.copytree(DEMO_STUDY, made)
    _dictionary(made / "redcap" / "metadata.csv")
    _records(made / "redcap" / "records.json", twin)
    return made


def arm_of(record_id: str, twin: str) -> str:
    """The code of a subject's arm."""
    odd = sum(map(ord, record_id)) % 2
    return "1" if bool(odd) == (twin == "a") else "2"


def kit_of(record_id: str, twin: str) -> str:
    """A number that differs between the twins, of one shape."""
    number = 1000 + int(record_id.lstrip("P")) * 7 + (0 if twin == "a" else 4111)
    return f"KT-{number}"


KITS = [kit_of(f"P{number:03}", "a") for number in range(1, 41)]


def fields() -> list[BlindedField]:
    """What the twins blind, not saved."""
    words = {"arm": "甲药\n乙药"}
    return [
        BlindedField(field=name, kind=kind, words=words.get(name, ""))
        for name, kind in BLINDED.items()
    ]


def _dictionary(path: Path) -> None:
    with path.open(encoding="utf-8-sig", newline="") as lines:
        reader = csv.DictReader(lines)
        columns, rows = reader.fieldnames or [], [*reader]
    last = max(n for n, row in enumerate(rows) if row["form_name"] == FORM)
    made = [
        {
            **dict.fromkeys(columns, ""),
            "field_name": name,
            "form_name": FORM,
            "field_type": told["field_type"],
            "field_label": told["field_label"],
            "select_choices_or_calculations": told["choices"],
            "branching_logic": told.get("branching", ""),
            "text_validation_type_or_show_slider_number": told.get("number", ""),
        }
        for name, told in FIELDS.items()
    ]
    rows[last + 1 : last + 1] = made
    with path.open("w", encoding="utf-8", newline="") as out:
        writer = csv.DictWriter(out, columns)
        writer.writeheader()
        writer.writerows(rows)


def _records(path: Path, twin: str) -> None:
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    for row in rows:
        arm, kit = arm_of(row["record"], twin), kit_of(row["record"], twin)
        values = row["values"]
        if row["event"] == EVENT and not row["instrument"]:
            values |= {"arm": arm, "kit_no": kit, "study_drug": arm}
            values |= {"drug_a_start": "2026-03-02"} if arm == "1" else {}
            values["marker"] = "88.5" if arm == "1" else "0.1"
        if row["instrument"] == "ae" and "ae_term" in values:
            values["ae_term"] = f"{values['ae_term']}({ARMS[arm]},{kit})"
        if "medical_history_text" in values:
            values["medical_history_text"] += f" 发药 {kit},{ARMS[arm]}"
        if "cm_indication" in values:
            values["cm_indication"] += f"({kit.lower()} 后)"
    # The export's order hangs on the arm, too.
    rows.sort(key=lambda row: (arm_of(row["record"], twin), row["record"]))
    path.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")
