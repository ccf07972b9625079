"""Sentences of contracts.md (Commands, check_rules) put to the command itself.

A case is a rule or several, an input line, and what each result must be: its place where that
matters, then outcome and reason.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.core.management import CommandError

from tests.rules.support import field, var

CODES = "NA, Not applicable | UNK, Unknown"
DICTIONARY = [
    field("subj"),
    field("age", validation="integer"),
    field("alt", validation="number"),
    field("uln", validation="number"),
    field("sex", "radio", choices="0, Female | 1, Male"),
    field("preg", "radio", choices="0, No | 1, Yes", shown_if='[sex]="0"'),
    field("ex", "checkbox", choices="1, Pregnant | 2, Liver | 3, Allergy, severe"),
    field("ok", "yesno"),
    field("dob", validation="date_ymd"),
    field("icf_dt", validation="datetime_ymd"),
    field("unit"),
    field("gluc", validation="number"),
    field("banner", "descriptive"),
    field("v_alt", form="visit", validation="number"),
    field("v_day", form="visit", validation="date_ymd"),
    field("ae_term", form="ae"),
    field("ae_day", form="ae", validation="date_ymd"),
]
MAPPED = [("b", "base"), ("b", "ae"), ("v1", "visit"), ("v2", "visit"), ("v3", "visit")]
PROJECT = {
    "missing_data_codes": CODES,
    "timezone": "Asia/Shanghai",
    "form_event_mapping": [
        {"arm_num": 1, "unique_event_name": event, "form": form} for event, form in MAPPED
    ],
    "repeating": [{"event_name": "b", "form_name": "ae"}],
    "anchors": {"anchor_is_day": 1},
}
PLAIN = {"missing_data_codes": CODES}
STAYS = {
    "repeating": [{"event_name": "b"}, {"event_name": "v1", "form_name": ""}],
    "form_event_mapping": PROJECT["form_event_mapping"],
}
CLASSIC = {"repeating": [{"form_name": "ae"}]}


def row(event: str = "", instrument: str = "", instance: Any = "", **cells: Any) -> dict[str, Any]:
    return {
        "subj": "7",
        "redcap_event_name": event,
        "redcap_repeat_instrument": instrument,
        "redcap_repeat_instance": instance,
        **cells,
    }


RECORD = {
    "record_id": "7",
    "rows": [
        row("b", age="50", alt="30", uln="40", ae_day="", ae_term="", v_alt=""),
        row("b", "ae", "2", ae_day="2024-03-01", ae_term="x", age="", alt=""),
        row("b", "ae", 1, ae_day="2024-07", ae_term="", age="", alt=""),
        row("v1", v_alt="35", v_day="2024-04-01", age=""),
        row("v2", v_alt="", v_day="", age=""),
    ],
}
BOXES = {"ex___1": "0", "ex___2": "1", "ex___3": "0", "base_complete": "2"}
UNOPENED = {**BOXES, "ex___2": "0", "base_complete": ""}
AGE = ("age", {"<=": [18, var("age"), 75]})
CASES: list[tuple[str, Any, Any, Any, list[str]]] = [
    # rows and places
    ("a flat row", AGE, {"subj": "1", "age": "50"}, PLAIN, ["PASS"]),
    ("no rows, no results", AGE, {"record_id": "1", "rows": []}, PLAIN, []),
    ("an absent key is not exported", AGE, {"subj": "1"}, PLAIN, ["UNKNOWN not_exported"]),
    (
        "a row with an instrument holds that form only, instances are integers",
        ("ae_term", {"is_blank": [var("ae_term")]}),
        RECORD,
        PROJECT,
        ["b/ae/2 FAIL", "b/ae/1 PASS"],
    ),
    (
        "a repeated row reads the other forms of its event on the base row",
        ("ae_term", {"<": [var("alt"), var("uln")]}),
        RECORD,
        PROJECT,
        ["b/ae/2 PASS", "b/ae/1 PASS"],
    ),
    (
        "today against a partial date",
        ("ae_day", {"<=": [var("ae_day"), {"today": []}]}),
        RECORD,
        PROJECT,
        ["b/ae/2 PASS", "b/ae/1 FAIL"],
    ),
    (
        "each event of the form",
        ("v_alt", {"<": [var("v_alt"), 40]}),
        RECORD,
        PROJECT,
        ["v1// PASS", "v2// UNKNOWN missing"],
    ),
    (
        "rule order, then row order",
        [("v_alt", {"!!": [var("v_alt")]}), AGE, ("ae_term", {"!!": [var("ae_term")]})],
        RECORD,
        PROJECT,
        ["v1// PASS", "v2// FAIL", "b// PASS", "b/ae/2 PASS", "b/ae/1 FAIL"],
    ),
    (
        "a base row holds no repeating form",
        ("age", {"!!": [var("ae_term")]}),
        RECORD,
        PROJECT,
        ["b// UNKNOWN not_exported"],
    ),
    (
        "no instance, no result",
        ("ae_day", {"!!": [var("ae_day")]}),
        {"subj": "7", "ae_day": ""},
        CLASSIC,
        [],
    ),
    (
        "a repeating event repeats every form of it",
        ("v_alt", {"!!": [var("v_alt")]}),
        {"record_id": "7", "rows": [row("v1", "", 1, v_alt="3"), row("v1", "", "2", v_alt="")]},
        STAYS,
        ["v1//1 PASS", "v1//2 FAIL"],
    ),
    (
        "repeating without events",
        [("ae_day", {"after": [var("ae_day"), "2024-01-01"]}), AGE],
        {"record_id": "7", "rows": [row(age="50", ae_day=""), row("", "ae", 1, ae_day="2024-02")]},
        CLASSIC,
        ["/ae/1 PASS", "// PASS"],
    ),
    # across events
    (
        "the named event's base row",
        ("v_alt", {"<": [var("v_alt"), {"across_events": ["b", var("uln")]}]}),
        RECORD,
        PROJECT,
        ["v1// PASS", "v2// UNKNOWN missing"],
    ),
    (
        "an event without a row is not exported, for a test of blank too",
        [
            ("age", {">": [{"across_events": ["v3", var("v_alt")]}, 1]}),
            ("age", {"is_blank": [{"across_events": ["v3", var("v_alt")]}]}),
            ("age", {"is_blank": [{"across_events": ["v2", var("v_alt")]}]}),
        ],
        RECORD,
        PROJECT,
        ["b// UNKNOWN not_exported", "b// UNKNOWN not_exported", "b// PASS"],
    ),
    # blanks
    ("white space is blank", ("age", {"is_blank": [var("age")]}), {"age": " \t"}, PLAIN, ["PASS"]),
    ("null is blank", ("age", {"!": [var("age")]}), {"age": None}, PLAIN, ["PASS"]),
    ("zero is not", ("age", {"!": [var("age")]}), {"age": "0"}, PLAIN, ["FAIL"]),
    ("yes is ticked", ("ok", {"!!": [var("ok")]}), {"ok": "0"}, PLAIN, ["FAIL"]),
    ("other operators wait", AGE, {"age": ""}, PLAIN, ["UNKNOWN missing"]),
    ("a missing code", AGE, {"age": "UNK"}, PLAIN, ["UNKNOWN missing_code"]),
    (
        "a missing code is no blank",
        ("age", {"==": [var("age"), None]}),
        {"age": "NA"},
        PLAIN,
        ["FAIL"],
    ),
    ("a box not ticked", ("ex", {"!!": [var("ex___3")]}), BOXES, PLAIN, ["FAIL"]),
    ("the list of ticked codes", ("ex", {"in": ["2", var("ex")]}), BOXES, PLAIN, ["PASS"]),
    ("a form never opened", ("ex", {"!!": [var("ex___3")]}), UNOPENED, PLAIN, ["UNKNOWN missing"]),
    (
        "the status of a form",
        ("base_complete", {"==": [var("base_complete"), 2]}),
        BOXES,
        PLAIN,
        ["PASS"],
    ),
    # hidden fields
    (
        "hidden and blank",
        ("preg", {"==": [var("preg"), 0]}),
        {"sex": "1", "preg": " "},
        PLAIN,
        ["NOT_APPLICABLE"],
    ),
    (
        "hidden with a value",
        ("preg", {"==": [var("preg"), 0]}),
        {"sex": "1", "preg": "0"},
        PLAIN,
        ["FAIL hidden_with_value"],
    ),
    (
        "undecided",
        ("preg", {"==": [var("preg"), 0]}),
        {"sex": "", "preg": ""},
        PLAIN,
        ["UNKNOWN applicability_unknown"],
    ),
    # comparisons
    (
        "a datetime against a date",
        ("icf_dt", {"<=": [var("icf_dt"), var("dob")]}),
        {"icf_dt": "2024-03-01 23:59", "dob": "2024-03-01"},
        PLAIN,
        ["PASS"],
    ),
    ("censored and decided", ("alt", {"<": [var("alt"), 5]}), {"alt": "<3"}, PLAIN, ["PASS"]),
    (
        "censored and open",
        ("alt", {"<": [var("alt"), 2]}),
        {"alt": "<3"},
        PLAIN,
        ["UNKNOWN censored"],
    ),
    (
        "an impossible date fails whatever stands around",
        ("dob", {"or": [True, {"!!": [var("dob")]}]}),
        {"dob": "2023-02-29"},
        PLAIN,
        ["FAIL type_mismatch"],
    ),
    (
        "a code that is none fails whatever stands around",
        ("sex", {"if": [True, True, {"==": [var("sex"), 1]}]}),
        {"sex": "9"},
        PLAIN,
        ["FAIL invalid_choice"],
    ),
    (
        "if with an undecided condition and one answer",
        ("age", {"if": [{"<": [var("alt"), 1]}, {">": [var("age"), 1]}, {">": [var("age"), 1]}]}),
        {"alt": "", "age": "5"},
        PLAIN,
        ["PASS"],
    ),
    # operators
    (
        "29 February counts from 1 March",
        ("dob", {"==": [{"age_at": [var("dob"), "2022-02-28"]}, 17]}),
        {"dob": "2004-02-29"},
        PLAIN,
        ["PASS"],
    ),
    (
        "to minus from, calendar days",
        ("icf_dt", {"==": [{"days_between": [var("icf_dt"), "2024-03-01"]}, -1]}),
        {"icf_dt": "2024-03-02 00:01"},
        PLAIN,
        ["PASS"],
    ),
    (
        "the whole value",
        ("unit", {"matches": [var("unit"), "mg"]}),
        {"unit": "mg/dL"},
        PLAIN,
        ["FAIL"],
    ),
    (
        "the window ends with its last day",
        ("v_day", {"in_window": [var("v_day"), "2024-03-01", 28, 7, 7]}),
        {"v_day": "2024-04-04"},
        PLAIN,
        ["PASS"],
    ),
    (
        "half away from zero",
        ("alt", {"==": [{"round_half_up": [var("alt"), 1]}, 31.3]}),
        {"alt": "31.25"},
        PLAIN,
        ["PASS"],
    ),
    (
        "the shipped table",
        ("gluc", {"==": [{"to_unit": [var("gluc"), var("unit"), "mmol/L", "glucose"]}, 10]}),
        {"gluc": "180.16", "unit": "mg/dL"},
        PLAIN,
        ["PASS"],
    ),
    (
        "a blank unit",
        ("gluc", {"<": [{"to_unit": [var("gluc"), var("unit"), "mmol/L", "glucose"]}, 10]}),
        {"gluc": "180", "unit": ""},
        PLAIN,
        ["UNKNOWN unit_missing"],
    ),
]


def rules_of(given: Any) -> list[dict[str, Any]]:
    pairs = given if isinstance(given, list) else [given]
    return [{"field": about, "logic": logic, "message": "m"} for about, logic in pairs]


def shown(result: dict[str, Any], *, with_place: bool) -> str:
    place = "/".join(str(result[key] or "") for key in ("event", "instrument", "instance"))
    said = f"{result['outcome']} {result['reason'] or ''}".strip()
    return f"{place} {said}" if with_place else said


@pytest.mark.parametrize(
    ("given", "line", "project", "expected"), [c[1:] for c in CASES], ids=[c[0] for c in CASES]
)
def test_a_sentence_of_the_contract(
    run: Any, given: Any, line: Any, project: Any, expected: list[str]
) -> None:
    [answer] = run(
        json.dumps(line),
        rules=rules_of(given),
        dictionary=DICTIONARY,
        project=project,
        today="2024-06-01",
    )
    results = answer["results"]
    if project is not PLAIN:  # "no result or NOT_APPLICABLE" where a row can't hold the form
        results = [r for r in results if r["outcome"] != "NOT_APPLICABLE"]
    assert [shown(r, with_place=project is not PLAIN) for r in results] == expected


def test_the_undecided_field_is_named(run: Any) -> None:
    [answer] = run(
        '{"subj": "1", "sex": "", "preg": ""}',
        rules=rules_of(("preg", {"==": [var("preg"), 0]})),
        dictionary=DICTIONARY,
        project=PLAIN,
    )
    assert [r["field"] for r in answer["results"]] == ["sex"]


def test_detail_names_every_var_with_all_that_is_known_of_it(run: Any) -> None:
    logic = {
        "and": [
            {"==": [var("sex"), 1]},
            {"<": [var("v_alt"), {"across_events": ["b", var("uln")]}]},
            {"<": [{"across_events": ["b", var("dob")]}, var("v_day")]},
        ]
    }
    rows = [row("b", uln="4.50", dob="UNK", sex="1"), row("v1", v_alt="3", v_day="2024-04-01")]
    [answer] = run(
        json.dumps({"record_id": "7", "rows": rows}),
        rules=rules_of(("v_alt", logic)),
        dictionary=DICTIONARY,
        project=PROJECT,
    )
    [found] = [r for r in answer["results"] if r["outcome"] != "NOT_APPLICABLE"]
    entries = {d["var"]: (d["event"], d["raw"], d["label"], d["value"]) for d in found["detail"]}
    assert entries["uln"] == ("b", "4.50", None, 4.5)
    assert entries["dob"] == ("b", "UNK", "Unknown", None)
    assert entries["v_day"] == ("v1", "2024-04-01", None, "2024-04-01")
    assert set(entries) == {"sex", "v_alt", "uln", "dob", "v_day"}


def test_an_event_that_is_not_in_the_mapping_has_no_row(run: Any) -> None:
    logic = {"across_events": ["nowhere", {"!!": [var("age")]}]}
    line = json.dumps({"record_id": "7", "rows": [row("b", age="50")]})
    [answer] = run(line, rules=rules_of(("age", logic)), dictionary=DICTIONARY, project=PROJECT)
    found = [r["reason"] for r in answer["results"] if r["outcome"] != "NOT_APPLICABLE"]
    assert found == ["not_exported"]


@pytest.mark.parametrize(
    ("about", "logic"),
    [
        ("age", {"log": [1]}),
        ("banner", True),
        ("age", {"!!": [var("banner")]}),
        ("ex___9", True),
        ("age", {"!!": [var("redcap_event_name")]}),
        ("age", {"<": [var("age"), var("dob")]}),
        ("age", {"<": [var("ex"), 1]}),
        ("age", {"<": [var("age"), 1], ">": [var("age"), 0]}),
        ("age", {"!": [{"and": [var("sex"), True]}]}),
        ("age", {"or": ["x" * 70_000, True]}),
    ],
    ids=lambda value: str(value)[:40],
)
def test_what_is_refused_ends_with_exit_2(run: Any, about: str, logic: Any) -> None:
    with pytest.raises(CommandError) as caught:
        run("{}", rules=rules_of((about, logic)), dictionary=DICTIONARY, project=PROJECT)
    assert caught.value.returncode == 2
