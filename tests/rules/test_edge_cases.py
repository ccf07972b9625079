"""The worked cases of edge_cases_examples.json that belong to check_rules, through the command."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from tests.rules.support import REFERENCE, field, var

EXAMPLES = REFERENCE / "edge_cases_examples.json"
OURS = {
    *("E01", "E02", "E03", "E04", "E06", "E07", "E08", "E13", "E16", "E18", "E24", "E25", "E28"),
    "E40",
}
AGE = {"<=": [18, var("age"), 75]}
ALT = {"<": [var("alt"), 120]}
PREG = {"==": [var("preg_test"), "0"]}
BMI = {
    "==": [
        var("bmi"),
        {
            "round_half_up": [
                {"/": [{"*": [var("weight"), 10000]}, {"*": [var("height"), var("height")]}]},
                1,
            ]
        },
    ]
}
SAE = {"if": [{"==": [var("ae_serious"), "1"]}, {"!!": var("sae_report_date")}, True]}
DICTIONARY = [
    field("record_id"),
    field("age", validation="integer"),
    field("alt", validation="number"),
    field("vas", "slider"),
    field("sex", "radio", choices="0, Female | 1, Male"),
    field("preg_test", "radio", choices="0, Neg | 1, Pos", shown_if='[sex]="0"'),
    field("tbil", validation="number_1dp"),
    field("tbil_uln", validation="number_1dp"),
    field("exclusion", "checkbox", choices="1, A | 2, B | 3, Third reason | 4, D"),
    field("med", "checkbox", choices="-1, None of the above | 1, Aspirin"),
    field("height", validation="number"),
    field("weight", validation="number"),
    field("bmi", "calc"),
    field("ae_start"),
    field("first_dose", validation="date_ymd"),
    field("visit_date", validation="date_ymd"),
    field("ae_serious", "yesno", form="ae"),
    field("sae_report_date", form="ae", validation="date_ymd"),
]
PROJECT = {
    "missing_data_codes": "NA, Not applicable | UNK, Unknown",
    "timezone": "Asia/Shanghai",
    "repeating": [{"form_name": "ae"}],
}
TICKS = {f"exclusion___{code}": "1" if code == 3 else "0" for code in (1, 2, 3, 4)}
NOT_EXCLUDED = {"==": [var("exclusion"), []]}
NONE_TICKED = {"and": [{"==": [var("med____1"), 1]}, {"==": [var("med___1"), 0]}]}


@pytest.fixture
def check(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Run check_rules on one line, with dictionary and project file; the list of results."""

    def run(about: str, logic: Any, line: dict[str, Any], *, typed: bool = True) -> Any:
        files = {"rules": [{"id": "r", "field": about, "logic": logic, "message": "m"}]}
        if typed:
            files |= {"dictionary": DICTIONARY, "project": PROJECT}
        paths = {}
        for name, content in files.items():
            paths[name] = tmp_path / f"{name}.json"
            paths[name].write_text(json.dumps(content), "utf-8")
        monkeypatch.setattr(sys, "stdin", io.StringIO(json.dumps(line) + "\n"))
        out = io.StringIO()
        call_command(
            "check_rules",
            **{name: str(path) for name, path in paths.items()},
            today="2024-03-01T17:30:00Z",
            stdout=out,
        )
        return json.loads(out.getvalue())["results"]

    return run


@pytest.mark.parametrize(
    ("about", "logic", "line", "outcome", "reason"),
    [
        pytest.param("age", AGE, {"record_id": "1", "age": ""}, "UNKNOWN", "missing", id="E01"),
        pytest.param("alt", ALT, {"age": "5"}, "UNKNOWN", "not_exported", id="E02"),
        pytest.param("vas", {"<=": [0, var("vas"), 10]}, {"vas": "0"}, "PASS", None, id="E03"),
        pytest.param("alt", ALT, {"alt": "NA"}, "UNKNOWN", "missing_code", id="E04"),
        pytest.param(
            "preg_test", PREG, {"sex": "1", "preg_test": ""}, "NOT_APPLICABLE", None, id="E06"
        ),
        pytest.param(
            "preg_test",
            PREG,
            {"sex": "1", "preg_test": "0"},
            "FAIL",
            "hidden_with_value",
            id="E07",
        ),
        pytest.param(
            "tbil",
            {"<": [var("tbil"), {"*": [3, var("tbil_uln")]}]},
            {"tbil": "3.3", "tbil_uln": "1.1"},
            "FAIL",
            None,
            id="E13",
        ),
        pytest.param(
            "exclusion", NOT_EXCLUDED, {**TICKS, "base_complete": "2"}, "FAIL", None, id="E16"
        ),
        pytest.param("med", NONE_TICKED, {"med____1": "1", "med___1": "0"}, "PASS", None, id="E18"),
        pytest.param(
            "bmi",
            BMI,
            {"height": "160", "weight": "80", "bmi": "31.3"},
            "PASS",
            None,
            id="E24 right",
        ),
        pytest.param(
            "bmi",
            BMI,
            {"height": "160", "weight": "80", "bmi": "28.0"},
            "FAIL",
            None,
            id="E24 wrong",
        ),
        pytest.param(
            "visit_date",
            {"<=": [var("visit_date"), {"today": []}]},
            {"visit_date": "2024-03-02"},
            "PASS",
            None,
            id="E28",
        ),
    ],
)
def test_one_row(
    check: Any, about: str, logic: Any, line: Any, outcome: str, reason: str | None
) -> None:
    [found] = check(about, logic, line)
    assert (found["outcome"], found["reason"], found["field"]) == (outcome, reason, about)


def test_e04_names_the_missing_code(check: Any) -> None:
    [found] = check("alt", ALT, {"alt": "NA"})
    [entry] = found["detail"]
    assert (entry["raw"], entry["label"], entry["value"]) == ("NA", "Not applicable", None)


def test_e08_the_finding_is_on_the_undecided_field(check: Any) -> None:
    [found] = check("preg_test", PREG, {"sex": "", "preg_test": ""})
    assert found["outcome"] == "UNKNOWN"
    assert found["reason"] == "applicability_unknown"
    assert found["field"] == "sex"


def test_e16_the_finding_names_the_choice_by_its_label(check: Any) -> None:
    for logic in (NOT_EXCLUDED, {"!": var("exclusion")}, {"!": var("exclusion___3")}):
        [found] = check("exclusion", logic, TICKS)
        assert found["outcome"] == "FAIL"
        assert "Third reason" in json.dumps(found["detail"])
        assert found["value"] == ["3"]


@pytest.mark.parametrize("typed", [True, False])
@pytest.mark.parametrize(
    ("start", "outcome", "reason"),
    [
        ("2024-03", "UNKNOWN", "partial_date"),
        ("2024-02", "FAIL", None),
        ("2024-04", "PASS", None),
        ("2024-UN-UN", "UNKNOWN", "partial_date"),
    ],
)
def test_e25_partial_dates(
    check: Any, typed: bool, start: str, outcome: str, reason: str | None
) -> None:
    row = {"ae_start": start, "first_dose": "2024-03-15"}
    for limit in (var("first_dose"), "2024-03-15"):
        [found] = check("ae_start", {">=": [var("ae_start"), limit]}, row, typed=typed)
        assert (found["outcome"], found["reason"]) == (outcome, reason)


@pytest.mark.parametrize("typed", [True, False])
def test_e40_exactly_one_failure_at_its_instance(check: Any, typed: bool) -> None:
    base = {"redcap_repeat_instrument": "", "redcap_repeat_instance": "", "ae_serious": ""}
    events = [
        {
            "redcap_repeat_instrument": "ae",
            "redcap_repeat_instance": number,
            "ae_serious": "1" if number == 2 else "0",
            "sae_report_date": "",
        }
        for number in (1, 2, 3)
    ]
    rows = [{**base, "sae_report_date": ""}, *events]
    found = check("sae_report_date", SAE, {"record_id": "1", "rows": rows}, typed=typed)
    assert [(r["instrument"], r["instance"], r["outcome"]) for r in found] == [
        ("ae", 1, "PASS"),
        ("ae", 2, "FAIL"),
        ("ae", 3, "PASS"),
    ]


def test_every_example_of_ours_has_a_test_here() -> None:
    if not EXAMPLES.exists():
        pytest.skip("NOT RUN: edge_cases_examples.json is not beside this checkout")
    by_others = {"E10", "E31", "E32", "E35", "E43", "E47"}
    listed = {case["id"] for case in json.loads(EXAMPLES.read_text("utf-8"))}
    assert listed - by_others == OURS
    source = Path(__file__).read_text("utf-8").lower()
    assert all(f"{case.lower()}" in source for case in OURS)
