"""Codes become words: choices, checkboxes, missing codes, units, events and instances."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.rules.labels import choices as parse_choices
from study.display import DisplayValue, display_rows
from study.metadata import StudyMetadata
from tests.hospital import FIELDS, LOG, SCREENING


def metadata(*extra: dict[str, str]) -> StudyMetadata:
    blank = {
        "field_type": "text",
        "select_choices_or_calculations": "",
        "field_note": "",
        "identifier": "",
    }
    fields = [{**blank, **field} for field in [*FIELDS, *extra]]
    exclusion = [("1", "exclusion___1"), ("2", "exclusion___2"), ("-1", "exclusion____1")]
    names: list[dict[str, Any]] = [
        {"original_field_name": "exclusion", "choice_value": code, "export_field_name": column}
        for code, column in exclusion
    ]
    names += [
        {
            "original_field_name": f["field_name"],
            "choice_value": "",
            "export_field_name": f["field_name"],
        }
        for f in fields
        if f["field_name"] != "exclusion"
    ]
    return StudyMetadata(
        metadata=fields,
        project={"is_longitudinal": 1, "missing_data_codes": "NA, 不适用 | UNK, 未知"},
        events=[{"unique_event_name": SCREENING, "event_name": "筛选"}],
        mapping=[],
        repeating=[],
        export_field_names=names,
        instruments=[
            {"instrument_name": "demo", "instrument_label": "基本信息"},
            {"instrument_name": "ae", "instrument_label": "不良事件"},
        ],
    )


def shown(row: dict[str, str | int], *extra: dict[str, str]) -> dict[str, DisplayValue]:
    rows = display_rows(metadata(*extra), [{"record_id": "7", **row}])
    return {value.field: value for line in rows for value in line.values}


def test_a_choice_has_its_label() -> None:
    value = shown({"sex": "2"})["sex"]

    assert (value.label, value.raw, value.text, value.unit) == ("性别", "2", "女", "")


def test_an_unknown_code_stays_as_it_is() -> None:
    assert shown({"sex": "9"})["sex"].text == "9"


def test_ticked_boxes_are_joined_and_code_minus_one_is_its_own() -> None:
    """E18."""
    value = shown({"exclusion___1": "0", "exclusion___2": "1", "exclusion____1": "1"})["exclusion"]

    assert (value.label, value.raw, value.text) == ("排除标准", "2,-1", "妊娠, 哺乳、以上都无")


def test_boxes_without_a_tick_say_nothing() -> None:
    assert shown({"exclusion___1": "0", "exclusion___2": ""}) == {}


@pytest.mark.parametrize("name", ["weight", "sex", "enroll_date"])
def test_a_missing_code_is_explained_and_has_no_unit(name: str) -> None:
    value = shown({name: "UNK"})[name]

    assert (value.text, value.unit) == ("UNK (未知)", "")


def test_a_number_has_its_unit() -> None:
    assert (shown({"weight": "61.5"})["weight"].unit) == "kg"


@pytest.mark.parametrize(
    ("note", "unit"),
    [
        ("mmol/L", "mmol/L"),
        ("10^9/L", "10^9/L"),
        ("单位：×10⁹/L", "×10⁹/L"),
        ("Unit: g/L.", "g/L"),
        ("<i>kg</i>", "kg"),
        ("YYYY-MM-DD", ""),
        ("HH:MM", ""),
        ("请填写空腹血糖,不要漏填", ""),
        ("", ""),
    ],
)
def test_units_come_from_the_field_note(note: str, unit: str) -> None:
    field = {"field_name": "x", "form_name": "demo", "field_label": "X", "field_note": note}

    assert shown({"x": "5"}, field)["x"].unit == unit


def test_yes_and_no_and_zero_are_answers() -> None:
    assert shown({"ae_serious": "0"})["ae_serious"].text
    assert shown({"weight": "0"})["weight"].text == "0"


def test_status_of_a_form() -> None:
    value = shown({"demo_complete": "2"})["demo_complete"]

    assert "基本信息" in value.label
    assert value.text != "2"


def test_identifiers_are_flagged_for_the_gate() -> None:
    values = shown({"subject_name": "张三", "sex": "1"})

    assert values["subject_name"].identifier
    assert not values["sex"].identifier


def test_event_form_and_instance_are_named() -> None:
    rows = display_rows(
        metadata(),
        [
            {"record_id": "7", "redcap_event_name": SCREENING, "sex": "1", "ae_term": ""},
            {
                "record_id": "7",
                "redcap_event_name": LOG,
                "redcap_repeat_instrument": "ae",
                "redcap_repeat_instance": 2,
                "redcap_data_access_group": "site_a",
                "ae_term": "皮疹",
                "sex": "",
            },
            {"record_id": "7", "redcap_event_name": LOG, "redcap_data_access_group": "site_a"},
        ],
    )

    assert [(row.event, row.event_label, row.instrument_label, row.instance) for row in rows] == [
        (SCREENING, "筛选", "", None),
        (LOG, LOG, "不良事件", 2),
    ]
    assert [[value.field for value in row.values] for row in rows] == [["sex"], ["ae_term"]]


@given(
    st.dictionaries(
        st.from_regex(r"[A-Za-z0-9_-]{1,6}", fullmatch=True),
        st.text(alphabet="是否不, 哺乳a1", min_size=1).map(str.strip).filter(bool),
        min_size=1,
    )
)
def test_choices_read_back_what_was_written(choices: dict[str, str]) -> None:
    text = " | ".join(f"{code}, {label}" for code, label in choices.items())

    assert parse_choices(text) == {code: " ".join(label.split()) for code, label in choices.items()}


@pytest.mark.parametrize("text", ["", " | ", "||", ","])
def test_no_choices(text: str) -> None:
    assert parse_choices(text) == {}
