"""`detail` names the value as compared after a unit conversion, beside the raw one."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rules import units
from tests.rules.support import DICTIONARY, field, result, results, var

ALT = var("alt")
MMOL = {"to_unit": [ALT, var("text"), "mmol/L", "glucose"]}


def entry(found: Any, name: str = "alt", event: str | None = None) -> dict[str, Any]:
    """The one entry of `detail` about a column at an event."""
    [one] = [e for e in found.detail if (e["var"], e["event"]) == (name, event)]
    return dict(one)


@pytest.mark.parametrize("dictionary", [DICTIONARY, None])
@pytest.mark.parametrize(
    "logic",
    [
        {"<": [MMOL, 7]},
        {"<=": [3, MMOL, 7]},
        {"==": [{"round_half_up": [MMOL, 0]}, 7]},
        {"and": [{">": [ALT, 0]}, {"<": [MMOL, 7]}]},
        {"if": [{">": [ALT, 0]}, {"<": [MMOL, 7]}, True]},
        {"<": [{"max": [MMOL, 1]}, 7]},
        {"<": [{"+": [MMOL, 0]}, 7]},
        {"!": {">": [MMOL, 7]}},
    ],
)
def test_a_converted_value_stands_beside_the_raw_one(logic: Any, dictionary: Any) -> None:
    for about in ("alt", "age"):
        row = {"alt": "126", "text": "mg/dL", "age": "1"}
        shown = entry(result(logic, row, about=about, dictionary=dictionary))
        assert (shown["raw"], shown["unit"], shown["reason"]) == ("126", "mmol/L", None)
        assert shown["value"] == pytest.approx(6.9938, abs=1e-4)


def test_what_is_not_converted_has_no_unit() -> None:
    found = result({"<": [MMOL, 7]}, {"alt": "126", "text": "mg/dL"})
    assert "unit" not in entry(found, "text")
    assert "unit" not in entry(result({"<": [ALT, 7]}, {"alt": "126"}))


@pytest.mark.parametrize(
    ("row", "shown"),
    [
        ({"alt": "7", "text": ""}, ("7", None, "unit_missing")),
        ({"alt": "7", "text": "bottles"}, ("7", None, "unit_missing")),
        ({"alt": "7", "text": "UNK"}, ("7", None, "missing_code")),
        ({"alt": "", "text": "mg/dL"}, ("", None, "missing")),
        ({"alt": "NA", "text": "mg/dL"}, ("NA", None, "missing_code")),
        ({"alt": "ND", "text": "mg/dL"}, ("ND", None, "type_mismatch")),
        ({"alt": "<126", "text": "mg/dL"}, ("<126", None, "censored")),
        ({"alt": "7", "text": "mmol/L"}, ("7", 7, None)),
    ],
)
def test_what_could_not_be_converted_says_why(row: dict[str, str], shown: Any) -> None:
    one = entry(result({"<": [MMOL, 7]}, row))
    assert (one["raw"], one["value"], one["reason"]) == shown


def test_each_conversion_of_a_value_is_shown() -> None:
    both = [MMOL, {"to_unit": [ALT, var("text"), "g/L", "glucose"]}]
    found = result({"<": [both[0], {"*": [9, both[1]]}]}, {"alt": "180.16", "text": "mg/dL"})
    shown = [(e["value"], e["unit"]) for e in found.detail if e["var"] == "alt"]
    assert shown == [(10, "mmol/L"), (pytest.approx(1.8016), "g/L")]


@pytest.mark.parametrize(
    "logic",
    [
        {"<": [{"across_events": ["v1", {"to_unit": [ALT, "mg/dL", "mmol/L", "glucose"]}]}, 7]},
        {"<": [{"to_unit": [{"across_events": ["v1", ALT]}, "mg/dL", "mmol/L", "glucose"]}, 7]},
    ],
)
def test_a_value_of_another_event_is_shown_converted_at_its_event(logic: Any) -> None:
    rows = [
        {"record_id": "1", "redcap_event_name": "base", "alt": "90", "age": "1"},
        {"record_id": "1", "redcap_event_name": "v1", "alt": "126", "age": "2"},
    ]
    found = results(logic, {"record_id": "1", "rows": rows})
    assert [entry(one, event="v1")["raw"] for one in found] == ["126", "126"]
    assert [entry(one, event="v1")["value"] for one in found] == [
        pytest.approx(6.9938, abs=1e-4)
    ] * 2
    absent = results(logic, {"record_id": "1", "rows": rows[:1]})[0]
    assert (entry(absent, event="v1")["raw"], entry(absent, event="v1")["reason"]) == (
        None,
        "not_exported",
    )


def test_a_choice_of_units_is_converted_too() -> None:
    dictionary = [*DICTIONARY, field("gluc", validation="number")]
    logic = {"<": [{"to_unit": [var("gluc"), var("unit"), "mmol/L", "glucose"]}, 7]}
    found = result(logic, {"gluc": "126", "unit": "1"}, about="gluc", dictionary=dictionary)
    assert entry(found, "gluc")["value"] == pytest.approx(6.9938, abs=1e-4)
    assert entry(found, "unit")["label"] == "mg/dL"


@given(
    st.decimals(min_value="0.001", max_value=99999, places=3),
    st.sampled_from(["mg/dL", "mmol/L", "g/L", "umol/L"]),
    st.sampled_from(["mg/dL", "mmol/L", "g/L"]),
)
def test_what_is_shown_is_what_was_compared(amount: Decimal, unit: str, target: str) -> None:
    """The rule that compares with the shown value, rounded either way, is decided by it."""
    factor = units.factor(unit, target, "glucose")
    assert factor is not None
    logic = {"<": [{"to_unit": [ALT, var("text"), target, "glucose"]}, 1000]}
    found = result(logic, {"alt": str(amount), "text": unit})
    one = entry(found)
    assert one["raw"] == str(amount)
    assert one["value"] == pytest.approx(float(amount * factor.numerator / factor.denominator))
    assert (one["value"] < 1000) == (found.outcome == "PASS")
