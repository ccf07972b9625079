"""The operators beyond the standard, and arithmetic as a clinic needs it."""

from __future__ import annotations

from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.rules.support import result, untyped, var, verdict

ICF, DOSE, ALT = var("icf"), var("first_dose"), var("alt")


@pytest.mark.parametrize(
    ("logic", "expected"),
    [
        ({"==": [{"*": [3, 1.1]}, 3.3]}, "PASS"),
        ({"==": [{"+": [0.1, 0.2]}, 0.3]}, "PASS"),
        ({"==": [{"*": [{"/": [1, 3]}, 3]}, 1]}, "PASS"),
        ({"==": [{"%": [-1, 3]}, -1]}, "PASS"),
        ({"==": [{"-": [5]}, -5]}, "PASS"),
        ({"==": [{"max": [1, 3, 2]}, 3]}, "PASS"),
        ({"==": [{"min": [[4, 3]]}, 3]}, "PASS"),
        ({"==": [{"round_half_up": [31.25, 1]}, 31.3]}, "PASS"),
        ({"==": [{"round_half_up": [-31.25, 1]}, -31.3]}, "PASS"),
        ({"==": [{"round_half_up": [1250, -2]}, 1300]}, "PASS"),
        ({"==": [{"round_half_up": [2.5]}, 3]}, "PASS"),
        ({"==": [{"round_half_up": [{"/": [1, 3]}, 2]}, 0.33]}, "PASS"),
        ({"==": [{"/": [1, 0]}, 1]}, "ERROR"),
        ({"==": [{"%": [1, 0]}, 1]}, "ERROR"),
        ({"or": [True, {"==": [{"/": [1, 0]}, 1]}]}, "PASS"),
        ({"==": [{"reduce": [[1, 2, 3], {"+": [var("current"), var("accumulator")]}, 0]}, 6]},
         "PASS"),
        ({"==": [{"cat": ["A-", 7, "-", 1.50]}, "A-7-1.5"]}, "PASS"),
        ({"==": [{"substr": ["试验A-001", 2, 1]}, "A"]}, "PASS"),
        ({"all": [[], True]}, "FAIL"),
        ({"in": [2, {"merge": [1, [2, 3]]}]}, "PASS"),
        ({"in": [4, {"map": [[1, 2], {"*": [var(""), 2]}]}]}, "PASS"),
        ({"==": [{"max": ["2024-01-01", {"today": []}]}, "2024-06-01"]}, "PASS"),
    ],
)  # fmt: skip
def test_written_values(logic: Any, expected: str) -> None:
    assert verdict(logic, {}) == expected
    assert untyped(logic, {}) == expected


@settings(deadline=None)
@given(st.integers(-(10**6), 10**6), st.integers(0, 4))
def test_rounding_is_commercial(thousandths: int, digits: int) -> None:
    value = Decimal(thousandths) / 1000
    rounded = value.quantize(Decimal(1).scaleb(-digits), rounding=ROUND_HALF_UP)
    logic = {"==": [{"round_half_up": [ALT, digits]}, str(rounded)]}
    assert verdict(logic, {"alt": str(value)}) == "PASS"


@pytest.mark.parametrize(
    ("a", "b", "days"),
    [
        ("2024-02-28", "2024-03-01", 2),
        ("2023-02-28", "2023-03-01", 1),
        ("2024-03-01", "2024-02-28", -2),
        ("2024-03-01 23:59", "2024-03-02 00:01", 1),
        ("2024-03-01", "2024-03-01", 0),
    ],
)
def test_days_between_is_to_minus_from(a: str, b: str, days: int) -> None:
    logic = {"==": [{"days_between": [var("a"), var("b")]}, days]}
    assert untyped(logic, {"a": a, "b": b}) == "PASS"


@pytest.mark.parametrize(
    ("birth", "at", "age"),
    [
        ("2000-02-29", "2018-02-28", 17),
        ("2000-02-29", "2018-03-01", 18),
        ("2000-02-29", "2020-02-29", 20),
        ("2000-06-15", "2018-06-14", 17),
        ("2000-06-15", "2018-06-15", 18),
        ("2000-06-15", "2018-06-15 00:00", 18),
        ("2000-06-15", "2000-06-14", -1),
    ],
)
def test_age_at_counts_completed_years(birth: str, at: str, age: int) -> None:
    assert untyped({"==": [{"age_at": [var("a"), var("b")]}, age]}, {"a": birth, "b": at}) == "PASS"


@pytest.mark.parametrize(
    ("anchor_is_day", "day", "visit", "expected"),
    [
        (1, 28, "2024-04-04", "PASS"),
        (1, 28, "2024-03-21", "PASS"),
        (1, 28, "2024-04-05", "FAIL"),
        (1, 28, "2024-03-20", "FAIL"),
        (0, 28, "2024-04-05", "PASS"),
        (0, 28, "2024-04-06", "FAIL"),
        (1, 1, "2024-03-08", "PASS"),
        (1, -7, "2024-02-15", "FAIL"),
        (1, -7, "2024-02-23", "PASS"),
        (1, -1, "2024-02-22", "PASS"),
        (0, 0, "2024-02-23", "PASS"),
        (0, -7, "2024-02-15", "FAIL"),
    ],
)
def test_in_window_uses_the_project_convention(
    anchor_is_day: int, day: int, visit: str, expected: str
) -> None:
    project = {"anchors": {"anchor_is_day": anchor_is_day}}
    logic = {"in_window": [var("visit_date"), DOSE, day, 7, 7]}
    row = {"visit_date": visit, "first_dose": "2024-03-01"}
    assert verdict(logic, row, about="visit_date", project=project) == expected


def test_the_first_day_is_day_1_unless_the_project_says_otherwise() -> None:
    logic = {"in_window": [var("visit_date"), DOSE, 28, 7, 7]}
    row = {"visit_date": "2024-04-05", "first_dose": "2024-03-01"}
    assert verdict(logic, row, about="visit_date", project={}) == "FAIL"


def test_a_window_without_its_anchor_is_open_and_names_it() -> None:
    logic = {"in_window": [var("visit_date"), DOSE, ALT, 7, 7]}
    row = {"visit_date": "2024-04-05", "first_dose": "", "alt": "28"}
    assert verdict(logic, row, about="visit_date") == "UNKNOWN missing"
    row["first_dose"] = "2024-03-01"
    assert verdict(logic, {**row, "alt": "28.5"}, about="visit_date") == "ERROR"
    assert verdict(logic, {**row, "alt": "0"}, about="visit_date") == "ERROR"
    assert verdict(logic, {**row, "alt": "<3"}, about="visit_date") == "UNKNOWN censored"


@settings(deadline=None)
@given(
    st.integers(-400, 400).filter(bool),
    st.integers(0, 30),
    st.integers(0, 30),
    st.integers(-500, 500),
)
def test_in_window_agrees_with_the_oracle(day: int, minus: int, plus: int, offset: int) -> None:
    anchor = date(2024, 3, 1)
    target = anchor + timedelta(days=day if day < 0 else day - 1)
    visit = anchor + timedelta(days=offset)
    is_in = target - timedelta(minus) <= visit <= target + timedelta(plus)
    logic = {"in_window": [str(visit), str(anchor), day, minus, plus]}
    assert verdict(logic, {}) == ("PASS" if is_in else "FAIL")


def test_dates_of_different_precision() -> None:
    row = {"icf": "2024-03-01", "icf_time": "2024-03-01 09:30", "dose_time": "2024-03-01 09:30:20"}
    assert verdict({"<=": [var("icf_time"), ICF]}, row) == "PASS"
    assert verdict({"<": [ICF, var("icf_time")]}, row) == "FAIL"
    assert verdict({"==": [ICF, var("icf_time")]}, row) == "PASS"
    assert verdict({"before": [var("icf_time"), var("dose_time")]}, row) == "FAIL"
    assert verdict({"before": [var("icf_time"), "2024-03-01 09:31"]}, row) == "PASS"
    assert verdict({"after": [var("dose_time"), "2024-03-01"]}, row) == "FAIL"


@pytest.mark.parametrize(
    ("today", "zone", "expected"),
    [
        ("2024-03-01T17:30:00Z", "Asia/Shanghai", "2024-03-02"),
        ("2024-03-01T17:30:00+00:00", "", "2024-03-02"),
        ("2024-03-01T15:59:59Z", "Asia/Shanghai", "2024-03-01"),
        ("2024-03-02T01:30:00+08:00", "UTC", "2024-03-01"),
        ("2024-03-02T01:30:00", "UTC", "2024-03-02"),
        ("2024-03-02", "America/New_York", "2024-03-02"),
    ],
)
def test_today_is_the_day_in_the_project_zone(today: str, zone: str, expected: str) -> None:
    project = {"timezone": zone} if zone else {}
    logic = {"==": [{"today": []}, expected]}
    assert verdict(logic, {}, today=today, project=project) == "PASS"


@pytest.mark.parametrize(
    ("value", "unit", "target", "analyte", "expected"),
    [
        ("18.016", "mg/dL", "mmol/L", "glucose", "1"),
        ("1", "mmol/L", "mg/dL", "glucose", "18.016"),
        ("1", "mg/dl", "umol/L", "creatinine", "88.4"),
        ("1", "mg/dL", "µmol/L", "bilirubin", "17.1"),
        ("1", "mg/dL", "μmol/L", "uric_acid", "59.5"),
        ("1", "mmol/L", "mg/dL", "BUN", "2.8"),
        ("1", "mmol/L", "mg/dL", "urea", "6.0"),
        ("1", "mmol/L", "mg/dL", "LDL", "38.7"),
        ("1", "mmol/L", "mg/dL", "triglycerides", "88.6"),
        ("1", "mmol/L", "mg/dL", "calcium", "4.0"),
        ("12.5", "g/dL", "g/L", "hemoglobin", "125"),
        ("40", "g/L", "g/dL", "albumin", "4"),
        ("5", "mg/L", "mg/dL", "CRP", "0.5"),
        ("1", "mEq/L", "mmol/L", "potassium", "1"),
        ("2", "mEq/L", "mmol/L", "calcium", "1"),
        ("7", "mmol / L", "mmol/L", "血糖", "7"),
    ],
)
def test_unit_conversion(value: str, unit: str, target: str, analyte: str, expected: str) -> None:
    digits = len(expected.partition(".")[2])
    converted = {"round_half_up": [{"to_unit": [ALT, var("text"), target, analyte]}, digits]}
    row = {"alt": value, "text": unit}
    assert verdict({"==": [converted, expected]}, row) == "PASS"
    assert untyped({"==": [converted, expected]}, row) == "PASS"


def test_a_unit_may_be_a_choice_by_label() -> None:
    logic = {"==": [{"to_unit": [ALT, var("unit"), "mmol/L", "glucose"]}, 7]}
    assert verdict(logic, {"alt": "126.112", "unit": "1"}) == "PASS"
    assert verdict(logic, {"alt": "7", "unit": "2"}) == "PASS"


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"alt": "7", "text": ""}, "UNKNOWN unit_missing"),
        ({"alt": "7", "text": "bottles"}, "UNKNOWN unit_missing"),
        ({"alt": "", "text": ""}, "UNKNOWN missing"),
        ({"alt": "7"}, "UNKNOWN not_exported"),
        ({"alt": "7", "text": "UNK"}, "UNKNOWN missing_code"),
        ({"alt": "ND", "text": "mmol/L"}, "FAIL type_mismatch"),
    ],
)
def test_a_value_without_its_unit_is_open(row: dict[str, str], expected: str) -> None:
    logic = {"<": [{"to_unit": [ALT, var("text"), "mmol/L", "glucose"]}, 11]}
    assert verdict(logic, row) == expected
    assert untyped(logic, row) == expected


def test_there_is_no_molar_unit_where_no_molar_mass_is_defined() -> None:
    logic = {"<": [{"to_unit": [ALT, "umol/L", "g/L", "albumin"]}, 11]}
    assert verdict(logic, {"alt": "7"}) == "UNKNOWN unit_missing"


@pytest.mark.parametrize(
    ("cell", "pattern", "expected"),
    [
        ("A-001", "[A-Z]-\\d{3}", "PASS"),
        ("A-0012", "[A-Z]-\\d{3}", "FAIL"),
        ("xA-001", "[A-Z]-\\d{3}", "FAIL"),
        ("A-001", "^[A-Z]-\\d{3}$", "PASS"),
        (" A-001", "[A-Z]-\\d{3}", "FAIL"),
        ("13800138000", "1[3-9]\\d{9}", "PASS"),
        ("１３８", "\\d{3}", "FAIL"),
        ("肺炎", "\\w+", "PASS"),
        ("007", "7", "FAIL"),
    ],
)
def test_matches_looks_at_the_whole_value(cell: str, pattern: str, expected: str) -> None:
    assert verdict({"matches": [var("text"), pattern]}, {"text": cell}) == expected


def test_matches_reads_numbers_and_choices_as_entered() -> None:
    assert verdict({"matches": [ALT, "\\d+\\.\\d{2}"]}, {"alt": "5.10"}) == "PASS"
    assert verdict({"matches": [var("sex"), "[01]"]}, {"sex": "1"}) == "PASS"
    assert verdict({"matches": [ICF, "2024-.*"]}, {"icf": "2024-03-01"}) == "PASS"
    assert verdict({"matches": [var("text"), "x*"]}, {"text": "x" * 200_000}) == "PASS"


def test_the_number_of_decimals_may_be_computed() -> None:
    for digits in ({"+": [1, 1]}, var("ecog"), {"if": [{"==": [var("ecog"), 2]}, 2, 0]}, "2"):
        logic = {"==": [{"round_half_up": [var("alt"), digits]}, 1.24]}
        assert verdict(logic, {"alt": "1.235", "ecog": "2"}) == "PASS"
    logic = {"==": [{"round_half_up": [var("alt"), var("ast")]}, 1.2]}
    for digits, expected in (("", "UNKNOWN missing"), ("1.5", "ERROR"), ("99", "ERROR"), ("1", "PASS"),
                             ("<2", "UNKNOWN censored"), ("ND", "FAIL type_mismatch")):  # fmt: skip
        assert verdict(logic, {"alt": "1.2", "ast": digits}) == expected


def test_a_pattern_may_be_computed_or_read() -> None:
    logic = {"matches": [var("text"), {"cat": ["S-", var("note"), "\\d+"]}]}
    assert verdict(logic, {"text": "S-A12", "note": "A"}) == "PASS"
    assert verdict(logic, {"text": "S-B12", "note": "A"}) == "FAIL"
    logic = {"matches": [var("text"), var("note")]}
    for pattern, expected in (("a+", "PASS"), ("b+", "FAIL"), ("", "UNKNOWN missing"),
                              ("(a+)+$", "PASS"), ("(?=a)a", "ERROR"), ("(", "ERROR")):  # fmt: skip
        assert verdict(logic, {"text": "aaa", "note": pattern}) == expected
    found = result(logic, {"text": "aaa", "note": "(李四"})
    assert "李四" not in found.message


def test_a_computed_window_is_not_negative() -> None:
    logic = {"in_window": [var("icf"), var("icf"), 1, var("alt"), 0]}
    found = [verdict(logic, {"icf": "2024-03-01", "alt": cell}) for cell in ("0", "3", "-3")]
    assert found == ["PASS", "PASS", "ERROR"]


def test_a_text_that_would_take_seconds_is_an_error() -> None:
    random = Random(1)
    text = "".join(random.choice("ab") for _ in range(200_000))
    logic = {"matches": [var("text"), "(a|b)*a(a|b){150}c"]}
    assert verdict(logic, {"text": text}) == "ERROR"
