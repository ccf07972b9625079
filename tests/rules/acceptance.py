"""Acceptance tables for `check_rules`, written from contracts.md, and how to read and run them.

A line that starts at the margin is a rule, `field: logic`, where "$age" stands for {"var": "age"}.
Each indented line below it is a row and, after two blanks, outcome and reason. In a row, cells are
separated by "; ": `age=5` is text, `age:=5` JSON, `-` a row without any column; EX stands for four
unticked boxes, MED for the boxes of `med`. `@today`, `@zone`, `@anchor` change the study, `@bare`
takes its dictionary away.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from core.rules.context import StudyContext
from core.rules.results import RuleResult
from core.rules.ruleset import compile_rule_set
from engines.hard_rules import record_rows, resolve_today
from tests.fuzz.checks import agreed
from tests.rules.support import TODAY, field

ONLY_WOMEN = '[sex]="0"'
NESTED = "([sex]='0' and [age]>=18) or not ([ecog] <> '0')"
DICTIONARY = [
    field("record_id"),
    field("age", validation="integer"),
    *(field(n, validation="number") for n in ("alt", "ast", "tbil", "tbil_uln")),
    field("sex", "radio", choices="0, Female | 1, Male"),
    field("preg_test", "radio", choices="0, Negative | 1, Positive", shown_if=ONLY_WOMEN),
    field("ecog", "dropdown", choices="0, A | 1, B | 2, C, more | 3, D | 4, E"),
    field("grade", "radio", choices="a, mild | b, severe"),
    field("consent", "yesno"),
    field("elig", "truefalse"),
    field("exclusion", "checkbox", choices="1, Pregnant | 2, Liver | 3, Allergy, severe | 4, X"),
    field("med", "checkbox", choices="-1, None | 1, Aspirin | k>=9, Potassium | AB, Combo"),
    field("dob", validation="date_ymd"),
    field("icf", validation="date_dmy"),
    field("first_dose", validation="date_ymd"),
    field("icf_dt", validation="datetime_ymd"),
    field("dose_dt", validation="datetime_seconds_mdy"),
    field("ae_start"),
    field("bmi", "calc"),
    *(field(n, validation="number") for n in ("height", "weight", "gluc", "crea")),
    field("gunit", "radio", choices="1, mg/dL | 2, mmol/L | 9, jars"),
    field("gunit_t"),
    field("vas", "slider"),
    field("hba", validation="number_1dp_comma_decimal"),
    field("wake", validation="time"),
    field("notes", "notes"),
    field("code"),
    field("b_chk", validation="number", shown_if='[exclusion(3)] = "1"'),
    field("b_nest", validation="number", shown_if=NESTED),
    field("b_blank", validation="number", shown_if='[sex] <> ""'),
    field("b_chkf", "checkbox", choices="1, x | 2, y", shown_if=ONLY_WOMEN),
    field("b_dd", validation="number", shown_if="datediff([dob],'today','y') >= 18"),
    field("b_odd", validation="number", shown_if="[sex] ~~ 3 )("),
]
MISSING_CODES = "NA, Not applicable | UNK, Unknown | -999, Lost"
_SHORT = {
    "EX": {f"exclusion___{code}": "0" for code in range(1, 5)},
    "MED": {"med____1": "1", "med___1": "0", "med___k__9": "0", "med___ab": "0"},
}


@dataclass(frozen=True)
class Case:
    """One row of a table."""

    about: str
    logic: Any
    cells: str
    expected: str

    def __str__(self) -> str:
        return f"{json.dumps(self.logic)[:60]} {self.cells[:40]}"


def cases(table: str) -> list[Case]:
    """The rows of a table."""
    found: list[Case] = []
    about, logic = "", None
    for line in filter(None, map(str.rstrip, table.splitlines())):
        if line[0] != " ":
            about, _colon, text = line.partition(": ")
            logic = _long(json.loads(text))
        else:
            cells, _blanks, expected = line.strip().rpartition("  ")
            found.append(Case(about, logic, cells.strip(), expected))
    return found


def _long(logic: Any) -> Any:
    if isinstance(logic, str) and logic.startswith("$"):
        return {"var": logic[1:]}
    if isinstance(logic, list):
        return [_long(part) for part in logic]
    return {key: _long(part) for key, part in logic.items()} if isinstance(logic, dict) else logic


def row_of(text: str) -> dict[str, Any]:
    """The cells of a row, and its @options."""
    row: dict[str, Any] = {}
    for cell in [] if text == "-" else text.split("; "):
        name, _sign, value = cell.partition("=")
        if cell in _SHORT:
            row |= _SHORT[cell]
        else:
            row[name.rstrip(":")] = json.loads(value) if name.endswith(":") else value
    return row


def judged(case: Case) -> RuleResult:
    """The one result of a case."""
    row = row_of(case.cells)
    options = {name: row.pop(name) for name in list(row) if name.startswith("@")}
    project = {
        "missing_data_codes": MISSING_CODES,
        "timezone": options.get("@zone", "Asia/Shanghai"),
        "anchors": {"anchor_is_day": int(options.get("@anchor", 1))},
    }
    context = StudyContext.build(None if "@bare" in options else DICTIONARY, project)
    rule = {"id": "R", "field": case.about, "logic": case.logic, "message": "m"}
    rules = compile_rule_set([rule], context)
    today = resolve_today(options.get("@today", TODAY), context)
    _record_id, rows = record_rows({"record_id": "1", **row}, context)
    [found] = agreed(rules, rows, today)
    json.dumps(found.as_dict(), allow_nan=False)
    return found


def verdict(case: Case) -> str:
    """Outcome and reason of a case."""
    found = judged(case)
    return f"{found.outcome} {found.reason or ''}".strip()
