"""What REDCap's own JSON becomes: columns, types, events (redcap_dify.md 1.2-1.6)."""

from __future__ import annotations

import pytest

from core.rules.context import Kind, StudyContext, checkbox_column
from core.rules.labels import choices
from tests.rules.support import DICTIONARY, MISSING_CODES, field

CONTEXT = StudyContext.build(DICTIONARY, MISSING_CODES)


@pytest.mark.parametrize(
    ("validation", "kind"),
    [
        ("", Kind.TEXT),
        ("integer", Kind.INTEGER),
        ("number", Kind.NUMBER),
        ("number_4dp", Kind.NUMBER),
        ("number_comma_decimal", Kind.NUMBER),
        ("date_ymd", Kind.DATE),
        ("date_dmy", Kind.DATE),
        ("datetime_mdy", Kind.DATETIME),
        ("datetime_seconds_ymd", Kind.DATETIME),
        ("time", Kind.TIME),
        ("time_hh_mm_ss", Kind.TIME),
        ("date_partial_1", Kind.TEXT),
        ("email", Kind.TEXT),
        ("phone", Kind.TEXT),
        ("some_site_type", Kind.TEXT),
    ],
)
def test_a_text_field_is_typed_by_its_validation(validation: str, kind: Kind) -> None:
    context = StudyContext.build([field("x", validation=validation)])
    assert context.columns["x"].kind is kind


@pytest.mark.parametrize(
    ("field_type", "kind"),
    [
        ("notes", Kind.TEXT),
        ("file", Kind.TEXT),
        ("sql", Kind.TEXT),
        ("calc", Kind.NUMBER),
        ("slider", Kind.NUMBER),
        ("yesno", Kind.FLAG),
        ("truefalse", Kind.FLAG),
    ],
)
def test_other_field_types(field_type: str, kind: Kind) -> None:
    assert StudyContext.build([field("x", field_type)]).columns["x"].kind is kind


def test_a_choice_field_without_choices_is_text() -> None:
    assert StudyContext.build([field("x", "dropdown")]).columns["x"].kind is Kind.TEXT


def test_every_form_has_a_status_column_and_descriptive_fields_have_none() -> None:
    assert {"base_complete", "visit_complete", "ae_complete"} <= set(CONTEXT.columns)
    assert "banner" not in CONTEXT.columns
    assert CONTEXT.columns["base_complete"].choices["2"] == "Complete"


def test_a_form_of_descriptive_fields_only_has_a_status_too() -> None:
    context = StudyContext.build([field("record_id"), field("hint", "descriptive", form="info")])
    assert {"record_id", "base_complete", "info_complete"} == set(context.columns)


@pytest.mark.parametrize(
    ("code", "column"),
    [("1", "x___1"), ("-4", "x____4"), ("k>=9", "x___k__9"), ("A b", "x___a_b"), ("NA", "x___na")],
)
def test_checkbox_columns_are_named_as_redcap_names_them(code: str, column: str) -> None:
    assert checkbox_column("x", code) == column


def test_choices_keep_their_order_and_commas() -> None:
    text = " 2, Two, or so |1,One| -1 , None of the above |"
    assert choices(text) == {"2": "Two, or so", "1": "One", "-1": "None of the above"}
    assert choices("") == {}


def test_defaults_of_a_project_without_a_project_file() -> None:
    context = StudyContext.build(DICTIONARY)
    assert (str(context.timezone), context.anchor_is_day) == ("Asia/Shanghai", 1)
    assert context.missing_codes == {}
    assert context.is_mapped("anything", "any_event")
    assert not context.is_repeating("ae", None)


def test_mapping_and_repetition() -> None:
    context = StudyContext.build(
        DICTIONARY,
        {
            "form_event_mapping": [{"arm_num": 1, "unique_event_name": "e1", "form": "ae"}],
            "repeating": [
                {"event_name": "e1", "form_name": "ae", "custom_form_label": ""},
                {"event_name": "e2", "form_name": ""},
            ],
        },
    )
    assert context.is_mapped("ae", "e1")
    assert not context.is_mapped("base", "e1")
    assert not context.is_mapped("ae", "e9")
    assert context.is_mapped("base", None)
    assert context.is_repeating("ae", "e1")
    assert context.is_repeating("ae", None)
    assert not context.is_repeating("ae", "e2")


def test_blank_and_null_project_values_are_defaults() -> None:
    nothing = {"missing_data_codes": "", "timezone": None, "repeating": None, "anchors": None,
               "form_event_mapping": []}  # fmt: skip
    assert StudyContext.build(DICTIONARY, nothing) == StudyContext.build(DICTIONARY)


def test_without_a_dictionary_only_boxes_are_recognised() -> None:
    context = StudyContext.build(None)
    names = {"age": Kind.RAW, "exclusion___3": Kind.TICK, "x____1": Kind.TICK, "___x": Kind.RAW}
    assert {n: c.kind for n in names if (c := context.column(n))} == names
