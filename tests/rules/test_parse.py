"""Text from REDCap into values: exactly the notations of redcap_dify.md 1.2 and 1.3."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rules import parse, units
from core.rules.labels import choices
from core.rules.values import DAY, MINUTE, SECOND, Clock, Moment, Range


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0", "0"), ("007", "7"), ("-3", "-3"), ("+3", "3"), (".5", "0.5"), ("-.5", "-0.5"),
        ("1e2", "100"), ("1E-2", "0.01"), ("3.30", "3.3"), ("9" * 400, "9" * 400),
    ],
)  # fmt: skip
def test_a_number(text: str, value: str) -> None:
    assert parse.exact(text) == Decimal(value)


@pytest.mark.parametrize(
    "text",
    ["", " ", "5.", "1,5", "1 000", "1_000", "0x10", "NaN", "Infinity", "1e9999", "１２", "--1",
     "1.2.3", "9" * 401, "<5", "5%", "٣"],
)  # fmt: skip
def test_no_number(text: str) -> None:
    assert parse.exact(text) is None


@pytest.mark.parametrize(
    ("text", "value"), [("1,5", "1.5"), (",5", "0.5"), ("15", "15"), ("1.5", None), ("1,5,0", None)]
)
def test_a_decimal_comma(text: str, value: str | None) -> None:
    assert parse.exact(text, decimal_comma=True) == (value and Decimal(value))


@pytest.mark.parametrize(
    ("text", "low", "high", "is_open"),
    [
        ("<0.5", None, "0.5", True), ("< 0.5", None, "0.5", True), ("<=0.5", None, "0.5", False),
        ("≤0.5", None, "0.5", False), ("＜0.5", None, "0.5", True), (">100", "100", None, True),
        (">=100", "100", None, False), ("≥ 100", "100", None, False), ("＞100", "100", None, True),
    ],
)  # fmt: skip
def test_a_censored_number(text: str, low: str | None, high: str | None, is_open: bool) -> None:
    found = parse.number(text)
    assert isinstance(found, Range)
    assert (found.low, found.high) == (low and Decimal(low), high and Decimal(high))
    assert (found.low_open or found.high_open) is is_open


@pytest.mark.parametrize("text", ["<", "<abc", "<<5", "5<", "<5 mg", "~5", "< "])
def test_no_censored_number(text: str) -> None:
    assert parse.number(text) is None


@pytest.mark.parametrize(
    ("text", "first", "last", "precision"),
    [
        ("2024-03-15", "2024-03-15", "2024-03-15", DAY),
        ("2024/3/5", "2024-03-05", "2024-03-05", DAY),
        ("2024年3月5日", "2024-03-05", "2024-03-05", DAY),
        ("2024-02", "2024-02-01", "2024-02-29", DAY),
        ("2023-02-UN", "2023-02-01", "2023-02-28", DAY),
        ("2024", "2024-01-01", "2024-12-31", DAY),
        ("2024-UN-UN", "2024-01-01", "2024-12-31", DAY),
        ("2024-unk-unk", "2024-01-01", "2024-12-31", DAY),
        ("UN-UN-UN", "0001-01-01", "9999-12-31", DAY),
        ("2024-03-15 10:30", "2024-03-15", "2024-03-15", MINUTE),
        ("2024-03-15T10:30:05", "2024-03-15", "2024-03-15", SECOND),
        ("2024-03-15 UN:UN", "2024-03-15", "2024-03-15", MINUTE),
    ],
)
def test_a_date_means_all_it_can_be(text: str, first: str, last: str, precision: int) -> None:
    found = parse.moment(text)
    assert isinstance(found, Moment)
    assert (found.low.date().isoformat(), found.high.date().isoformat()) == (first, last)
    assert found.precision == precision


@pytest.mark.parametrize(
    "text",
    ["", "2024-13", "2024-00-01", "2024-02-30", "2023-02-29", "24-03-01", "15-03-2024", "soon",
     "2024-03-15 24:00", "2024-03-15 10:60", "2024-03-15 10:30:61", "20240315", "２０２４-03-15"],
)  # fmt: skip
def test_no_date(text: str) -> None:
    assert parse.moment(text) is None


@given(st.dates())
def test_every_date_is_read_back(day: object) -> None:
    found = parse.moment(str(day))
    assert found is not None
    assert found.low == found.high
    assert str(found.low.date()) == str(day)


@pytest.mark.parametrize(
    ("text", "minutes_first", "expected"),
    [
        ("07:30", False, Clock(27000, MINUTE)), ("7:30", False, Clock(27000, MINUTE)),
        ("07:30:15", False, Clock(27015, SECOND)), ("23:59", False, Clock(86340, MINUTE)),
        ("24:00", False, None), ("12:60", False, None), ("noon", False, None), ("", False, None),
        ("59:59", True, Clock(3599, SECOND)), ("60:00", True, None), ("1:02:03", True, None),
    ],
)  # fmt: skip
def test_a_time_of_day(text: str, minutes_first: bool, expected: Clock | None) -> None:
    assert parse.clock(text, minutes_first=minutes_first) == expected


def test_choices_keep_commas_and_order() -> None:
    found = choices("2, B, or not | -1, None |1,A | k>=9")
    assert list(found.items()) == [("2", "B, or not"), ("-1", "None"), ("1", "A"), ("k>=9", "k>=9")]


# --- units ----------------------------------------------------------------------------------------


def converted(value: str, unit: str, target: str, analyte: str) -> Decimal | None:
    found = units.factor(unit, target, analyte)
    return None if found is None else Decimal(value) * found.numerator / found.denominator


@pytest.mark.parametrize(
    ("value", "unit", "target", "analyte", "expected"),
    [
        ("18.016", "mg/dL", "mmol/L", "glucose", "1"),
        ("1", "mmol/L", "mg/dL", "glucose", "18.016"),
        ("5.5", "mmol/l", "mmol/L", "血糖", "5.5"),
        ("1", " MG / DL ", "mg/L", "Creatinine", "10"),
        ("1", "g/dL", "g/L", "albumin", "10"),
        ("2", "mEq/L", "mmol/L", "calcium", "1"),
        ("140", "mmol/L", "meq/l", "sodium", "140"),
        ("1", "µg/L", "ng/mL", "ferritin", "1"),
        ("1", "\u03bcmol/L", "umol/L", "total bilirubin", "1"),
    ],
)
def test_a_unit_is_converted_exactly(
    value: str, unit: str, target: str, analyte: str, expected: str
) -> None:
    assert converted(value, unit, target, analyte) == Decimal(expected)


@pytest.mark.parametrize(
    ("value", "analyte", "target", "expected"),
    [
        ("1", "creatinine", "umol/L", "88.4"), ("38.67", "cholesterol", "mmol/L", "1.00"),
        ("88.57", "triglycerides", "mmol/L", "1.00"), ("1", "bilirubin", "umol/L", "17.1"),
        ("2.801", "bun", "mmol/L", "1.00"),
    ],
)  # fmt: skip
def test_the_table_gives_the_textbook_factors(
    value: str, analyte: str, target: str, expected: str
) -> None:
    found = converted(value, "mg/dL", target, analyte)
    assert found is not None
    assert found.quantize(Decimal(expected)) == Decimal(expected)


@pytest.mark.parametrize(
    ("unit", "target", "analyte"),
    [("", "mmol/L", "glucose"), ("jars", "mmol/L", "glucose"), ("g/L", "mmol/L", "albumin"),
     ("meq/l", "mmol/L", "glucose"), ("mg/dL", "mmol/L", "moonlight")],
)  # fmt: skip
def test_no_factor_where_the_table_can_not_tell(unit: str, target: str, analyte: str) -> None:
    assert units.factor(unit, target, analyte) is None


@given(
    st.sampled_from(["glucose", "creatinine", "uric_acid", "calcium"]),
    st.sampled_from(["mg/dL", "g/L", "mmol/L", "umol/L", "ug/mL"]),
    st.sampled_from(["mg/dL", "g/L", "mmol/L", "umol/L", "ug/mL"]),
)
def test_there_and_back_is_the_same_value(analyte: str, unit: str, target: str) -> None:
    there, back = units.factor(unit, target, analyte), units.factor(target, unit, analyte)
    assert there is not None
    assert back is not None
    assert there.numerator * back.numerator == there.denominator * back.denominator
