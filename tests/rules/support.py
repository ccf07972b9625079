"""A small study for rule tests, and one call that runs one rule on one row."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from core.rules.compiler import Problem
from core.rules.context import StudyContext
from core.rules.results import RuleResult
from core.rules.ruleset import compile_rule_set
from engines.hard_rules import record_rows, resolve_today
from tests.fuzz.checks import agreed, validate_rules

REFERENCE = Path(__file__).resolve().parents[2].parent / "shared" / "reference"
TODAY = "2024-06-01"


def field(
    name: str,
    kind: str = "text",
    *,
    form: str = "base",
    validation: str = "",
    choices: str = "",
    shown_if: str = "",
) -> dict[str, str]:
    """One metadata row as REDCap exports it."""
    return {
        "field_name": name,
        "form_name": form,
        "section_header": "",
        "field_type": kind,
        "field_label": f"Label of {name}",
        "select_choices_or_calculations": choices,
        "text_validation_type_or_show_slider_number": validation,
        "branching_logic": shown_if,
        "identifier": "",
        "required_field": "",
    }


DICTIONARY = [
    field("record_id"),
    field("age", validation="integer"),
    field("alt", validation="number"),
    field("ast", validation="number"),
    field("comma", validation="number_2dp_comma_decimal"),
    field("vas", "slider"),
    field("bmi", "calc"),
    field("weight", validation="number"),
    field("height", validation="number"),
    field("sex", "radio", choices="0, Female | 1, Male"),
    field("ecog", "dropdown", choices="0, Active | 1, Restricted | 2, Ambulatory, > 50 % | 3, Ill"),
    field("grade", "radio", choices="A, Mild | B, Severe"),
    field("consent", "yesno"),
    field("eligible", "truefalse"),
    field("dob", validation="date_ymd"),
    field("icf", validation="date_dmy"),
    field("first_dose", validation="date_mdy"),
    field("icf_time", validation="datetime_ymd"),
    field("dose_time", validation="datetime_seconds_dmy"),
    field("wake", validation="time"),
    field("lap", validation="time_mm_ss"),
    field("note", "notes"),
    field("text"),
    field("ae_start"),
    field("exclusion", "checkbox", choices="1, Pregnant | 2, Dialysis | 3, Allergy, severe"),
    field("med", "checkbox", choices="-1, None of the above | 1, Aspirin | k>=9, Potassium"),
    field("preg", "radio", choices="0, Negative | 1, Positive", shown_if='[sex] = "0"'),
    field("unit", "radio", choices="1, mg/dL | 2, mmol/L | 3, bottles"),
    field("banner", "descriptive"),
    field("visit_date", form="visit", validation="date_ymd"),
    field("visit_alt", form="visit", validation="number"),
    field("ae_term", form="ae"),
    field("ae_day", form="ae", validation="date_ymd"),
    field("ae_serious", "yesno", form="ae"),
    field("sae_report", form="ae", validation="date_ymd"),
]
MISSING_CODES = {"missing_data_codes": "NA, Not applicable | UNK, Unknown | -999, Lost"}


def var(name: str) -> dict[str, Any]:
    return {"var": name}


def results(
    logic: Any,
    data: Mapping[str, Any],
    *,
    about: str = "age",
    dictionary: Sequence[Mapping[str, Any]] | None = DICTIONARY,
    project: Mapping[str, Any] | None = None,
    today: str = TODAY,
) -> list[RuleResult]:
    """Every result of one rule on a row or record."""
    context = StudyContext.build(dictionary, MISSING_CODES if project is None else project)
    rule = {"id": "R1", "field": about, "logic": logic, "message": "message of R1"}
    rule_set = compile_rule_set([rule], context)
    _record_id, rows = record_rows(data, context)
    found = agreed(rule_set, rows, resolve_today(today, context))
    json.dumps([result.as_dict() for result in found], allow_nan=False)
    return found


def result(logic: Any, data: Mapping[str, Any], **options: Any) -> RuleResult:
    """The one result of one rule on one row."""
    [only] = results(logic, data, **options)
    return only


def verdict(logic: Any, data: Mapping[str, Any], **options: Any) -> str:
    """Outcome and reason: `PASS`, `UNKNOWN missing`."""
    found = result(logic, data, **options)
    return f"{found.outcome} {found.reason}" if found.reason else str(found.outcome)


def untyped(logic: Any, data: Mapping[str, Any], **options: Any) -> str:
    """`verdict` without a dictionary."""
    return verdict(logic, data, dictionary=None, **options)


def problems(logic: Any, *, about: str = "age", project: Any = None) -> list[Problem]:
    """Why a rule would be refused."""
    context = StudyContext.build(DICTIONARY, MISSING_CODES if project is None else project)
    return validate_rules([{"field": about, "logic": logic, "message": "m"}], context)


def nested(depth: int, leaf: Any = True) -> Any:
    """`!` around `!` around … `leaf`, so many operators deep."""
    logic = leaf
    for _ in range(depth):
        logic = {"!": [logic]}
    return logic
