"""The REDCap project of the demo study is sound, and the README says truly what is wrong with it."""

from __future__ import annotations

import re
from datetime import date

import pytest

from tests.demo.study_files import (
    SUBJECTS,
    TODAYS,
    choices,
    clean,
    dictionary,
    load,
    planted,
    records,
    resolve,
    rules,
    text,
    value_of,
)

COLUMNS = (
    "field_name,form_name,section_header,field_type,field_label,select_choices_or_calculations,"
    "field_note,text_validation_type_or_show_slider_number,text_validation_min,"
    "text_validation_max,identifier,branching_logic,required_field,custom_alignment,"
    "question_number,matrix_group_name,matrix_ranking,field_annotation"
)
IDENTIFIERS = {"subject_name", "id_card", "phone", "hospital_no", "address", "birth_date"}


def test_twelve_subjects_are_clean_and_twenty_four_carry_one_error_each() -> None:
    assert len(clean()) == len(set(clean())) == 12
    assert len(planted()) == 24
    assert sorted([*clean(), *planted()]) == SUBJECTS


def test_every_planted_error_names_a_rule_or_soft_node_that_exists() -> None:
    known = {(skill, node, rule["id"]) for skill, node, rule in rules()}
    for subject, (_what, skill, node, rule, _outcome) in planted().items():
        if rule == "soft":
            nodes = next(s for s in load("skills.json") if s["skill_type"] == skill)
            assert nodes["config"]["nodes"][node]["type"] == "soft_instruction", subject
        else:
            assert (skill, node, rule) in known, subject


def test_the_dictionary_has_the_eighteen_columns_and_starts_with_the_record_id() -> None:
    assert text("redcap/metadata.csv").splitlines()[0] == COLUMNS
    assert next(iter(dictionary())) == "record_id"
    assert 55 <= len(dictionary()) <= 75


def test_exactly_the_identifying_fields_are_flagged() -> None:
    flagged = {name for name, field in dictionary().items() if field["identifier"] == "y"}
    assert flagged == IDENTIFIERS


def test_fields_that_other_parts_rely_on_carry_their_labels() -> None:
    expected = {
        "age_calculated": "年龄",
        "ecog_score": "ECOG评分",
        "medical_history_text": "既往史",
        "icf_date": "知情同意签署日期",
        "enroll_date": "入组日期",
        "egfr_mutation": "EGFR基因突变",
        "subject_name": "姓名",
    }
    assert {name: dictionary()[name]["field_label"] for name in expected} == expected


def test_forms_events_and_mapping_agree() -> None:
    forms = {row["instrument_name"] for row in load("redcap/instruments.json")}
    events = {row["unique_event_name"] for row in load("redcap/events.json")}
    mapping = load("redcap/mapping.json")
    assert {field["form_name"] for field in dictionary().values()} == forms
    assert {row["form"] for row in mapping} == forms
    assert {row["unique_event_name"] for row in mapping} == events
    mapped = {(row["unique_event_name"], row["form"]) for row in mapping}
    for row in load("redcap/repeating.json"):
        assert (row["event_name"], row["form_name"]) in mapped


def test_branching_logic_names_fields_of_the_dictionary() -> None:
    for field in dictionary().values():
        for name in re.findall(r"\[(\w+)\]", field["branching_logic"]):
            assert name in dictionary(), field["field_name"]


def test_there_are_thirty_eight_records_of_two_sites() -> None:
    sites: dict[str, set[str]] = {}
    for row in records():
        sites.setdefault(row["record"], set()).add(row["dag"])
    assert sorted(sites) == sorted([*SUBJECTS, "7", "007"])
    assert all(len(dags) == 1 for dags in sites.values())
    assert {row["unique_group_name"] for row in load("redcap/dags.json")} == set().union(
        *sites.values()
    )
    assert {r: min(sites[r]) for r in ("P001", "P003", "P005", "7", "007")} == {
        "P001": "site_a",
        "P003": "site_a",
        "P005": "site_a",
        "7": "site_a",
        "007": "site_b",
    }


def test_seven_and_double_o_seven_are_two_people() -> None:
    for field in ("subject_name", "id_card", "phone", "birth_date"):
        one, other = (value_of(r, "screening_arm_1", field) for r in ("7", "007"))
        assert one
        assert other
        assert one != other


def test_every_value_is_a_filled_text_of_a_form_that_its_row_can_hold() -> None:
    fields = dictionary()
    mapped = {(row["unique_event_name"], row["form"]) for row in load("redcap/mapping.json")}
    repeating = {(row["event_name"], row["form_name"]) for row in load("redcap/repeating.json")}
    forms = {form for _event, form in mapped}
    places = set()
    for row in records():
        place = (row["record"], row["event"], row["instrument"], row["instance"])
        assert place not in places
        places.add(place)
        for column, value in row["values"].items():
            assert isinstance(value, str), (place, column)
            assert value.strip(), (place, column)
            name = column.split("___")[0]
            is_status = column.endswith("_complete") and column[:-9] in forms
            form = column[:-9] if is_status else fields[name]["form_name"]
            assert (row["event"], form) in mapped, (place, column)
            if row["instrument"]:
                assert form == row["instrument"], (place, column)
                assert isinstance(row["instance"], int), place
            else:
                assert (row["event"], form) not in repeating, (place, column)
            if is_status:
                assert value in {"0", "1", "2"}, (place, column)


def test_coded_values_are_choices_except_the_planted_one() -> None:
    fields, wrong = dictionary(), set()
    for row in records():
        for column, value in row["values"].items():
            name, _, code = column.partition("___")
            field = fields.get(name)
            kind = field["field_type"] if field else ""
            if field and kind == "checkbox":
                assert code in choices(field), column
                assert value in {"0", "1"}, column
            elif (field and kind in {"radio", "dropdown"} and value not in choices(field)) or (
                kind == "yesno" and value not in {"0", "1"}
            ):
                wrong.add((row["record"], column, value))
    assert wrong == {("P028", "histology", "9")}


@pytest.mark.parametrize("today", TODAYS)
def test_dates_and_numbers_are_valid_except_the_planted_ones(today: date) -> None:
    fields, wrong = dictionary(), set()
    kind_of = "text_validation_type_or_show_slider_number"
    for row in records():
        for column, raw in row["values"].items():
            value = resolve(raw, today)
            assert "{{" not in value, (row["record"], column)
            kind = fields[column][kind_of] if column in fields else ""
            if kind == "date_ymd":
                if date.fromisoformat(value) > today:
                    wrong.add((row["record"], column))
            elif kind in {"integer", "number", "number_1dp"} and not re.fullmatch(
                r"\d+(\.\d+)?", value
            ):
                wrong.add((row["record"], column))
    assert wrong == {("P027", "v4_date"), ("P034", "plt")}


@pytest.mark.full
def test_nobody_is_enrolled_before_the_project_starts_and_p001_on_its_fixed_day() -> None:
    enrolled = {}
    for record in {row["record"] for row in records()}:
        if value_of(record, "baseline_arm_1", "enrolled") == "1":
            enrolled[record] = value_of(record, "baseline_arm_1", "enroll_date")
    assert len(enrolled) == 27
    assert enrolled["P001"] == "2026-02-05"
    start = load("project.json")["start_date"]
    for today in TODAYS:
        assert all(start < resolve(day, today) <= today.isoformat() for day in enrolled.values())
