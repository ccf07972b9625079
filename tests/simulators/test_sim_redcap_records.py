"""content=record, flat: rows, types, columns, order (reference/redcap_dify.md 1.1, 1.2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.simulators.sim_study import NO_IDS, RECORDS, Sim

BASE = ("", "")


def row(rows: list[dict[str, Any]], record: str, event: str, instance: Any = "") -> dict[str, Any]:
    found = [
        r
        for r in rows
        if (r["record_id"], r["redcap_event_name"], r["redcap_repeat_instance"])
        == (record, event, instance)
    ]
    assert len(found) == 1
    return found[0]


def test_every_stored_row_comes_once_in_record_event_instance_order(sim: Sim) -> None:
    got = [
        (
            r["record_id"],
            r["redcap_event_name"],
            r["redcap_repeat_instrument"],
            r["redcap_repeat_instance"],
        )
        for r in sim.rows()
    ]
    assert got == [
        ("2", "screening_arm_1", "", ""),
        ("10", "screening_arm_1", "", ""),
        ("10", "v1_arm_1", "", ""),
        ("10", "diary_arm_1", "", 1),
        ("10", "diary_arm_1", "", 2),
        ("10", "log_arm_1", "ae", 1),
        ("10", "log_arm_1", "ae", 2),
        ("331-1", "screening_arm_2", "", ""),
    ]
    assert len(got) == len(RECORDS)


def test_columns_stand_in_dictionary_order_with_checkboxes_expanded(sim: Sim) -> None:
    assert list(sim.rows()[0]) == [
        "record_id",
        "redcap_event_name",
        "redcap_repeat_instrument",
        "redcap_repeat_instance",
        "full_name",
        "dob",
        "sex",
        "race___1",
        "race____4",
        "race___k__9",
        "smoker",
        "alive",
        "photo",
        "remarks",
        "demographics_complete",
        "visit_date",
        "hb",
        "hb_unit",
        "bmi",
        "labs_complete",
        "pain",
        "diary_complete",
        "ae_term",
        "ae_grade",
        "ae_start",
        "ae_complete",
    ]


def test_every_value_is_a_string_and_only_the_instance_an_integer(sim: Sim) -> None:
    for r in sim.rows():
        for name, value in r.items():
            if name == "redcap_repeat_instance" and value != "":
                assert type(value) is int
            else:
                assert type(value) is str, name


def test_values_of_the_base_row(sim: Sim) -> None:
    screening = row(sim.rows(), "10", "screening_arm_1")
    assert screening["full_name"] == "张三"
    assert screening["dob"] == "1970-02-03"
    assert (screening["race___1"], screening["race____4"], screening["race___k__9"]) == (
        "1",
        "1",
        "0",
    )
    assert screening["photo"] == "face.jpg"
    assert screening["demographics_complete"] == "2"
    assert screening["visit_date"] == "2026-03-10"
    assert screening["bmi"] == "22.1"


def test_fields_of_other_forms_events_and_instances_are_blank(sim: Sim) -> None:
    rows = sim.rows()
    visit = row(rows, "10", "v1_arm_1")
    assert (visit["visit_date"], visit["hb"]) == ("2026-03-23", "UNK")
    assert {visit["race___1"], visit["sex"], visit["demographics_complete"], visit["pain"]} == {""}
    diary = row(rows, "10", "diary_arm_1", 2)
    assert (diary["pain"], diary["labs_complete"], diary["redcap_repeat_instrument"]) == (
        "7",
        "",
        "",
    )
    ae = row(rows, "10", "log_arm_1", 1)
    assert (ae["ae_term"], ae["ae_start"], ae["demographics_complete"]) == (
        "Nausea",
        "2026-03-18",
        "",
    )


def test_a_checkbox_of_the_row_without_ticks_is_zero(sim: Sim) -> None:
    other = row(sim.rows(), "331-1", "screening_arm_2")
    assert [other[c] for c in ("race___1", "race____4", "race___k__9")] == ["0", "0", "0"]


@pytest.mark.parametrize(("flag", "status"), [("false", "0"), ("true", ""), ("", "0")])
def test_status_of_a_form_that_was_never_opened(sim: Sim, flag: str, status: str) -> None:
    rows = sim.rows(exportBlankForGrayFormStatus=flag)
    assert row(rows, "2", "screening_arm_1")["demographics_complete"] == status
    assert row(rows, "10", "screening_arm_1")["labs_complete"] == "1"


def test_descriptive_fields_have_no_column_and_may_be_asked_for(sim: Sim) -> None:
    rows = sim.rows(fields=["record_id", "intro", "sex"])
    assert "intro" not in rows[0]
    assert "sex" in rows[0]


def test_the_record_id_is_not_added_to_fields(sim: Sim) -> None:
    assert sim.rows(fields=["sex"]) == [{"sex": "2"}, {"sex": "1"}]


def test_records_with_an_empty_single_field_are_left_out(sim: Sim) -> None:
    assert sim.rows(fields=["full_name"]) == [{"full_name": "张三"}, {"full_name": "李四"}]
    with_id = sim.rows(fields=["record_id", "full_name"])
    assert [r["full_name"] for r in with_id] == ["", "张三", "", "", "", "李四"]


def test_the_record_id_brings_event_and_repeat_columns(sim: Sim) -> None:
    assert list(sim.rows(fields=["record_id"])[0]) == [
        "record_id",
        "redcap_event_name",
        "redcap_repeat_instrument",
        "redcap_repeat_instance",
    ]


def test_instances_of_a_form_come_only_with_its_fields(sim: Sim) -> None:
    without = sim.rows(fields=["record_id", "sex"])
    assert all(r["redcap_repeat_instrument"] == "" for r in without)
    with_form = sim.rows(fields=["record_id"], forms=["ae"])
    assert [r["ae_term"] for r in with_form if r["redcap_repeat_instrument"] == "ae"] == [
        "Nausea",
        "Rash",
    ]


def test_forms_bring_their_fields_and_status(sim: Sim) -> None:
    assert list(sim.rows(forms=["ae"])[0]) == ["ae_term", "ae_grade", "ae_start", "ae_complete"]
    assert set(sim.rows(forms=["ae", "diary"])[0]) == {
        "pain",
        "diary_complete",
        "ae_term",
        "ae_grade",
        "ae_start",
        "ae_complete",
    }


def test_status_fields_may_be_named(sim: Sim) -> None:
    rows = sim.rows(fields=["record_id", "labs_complete"], records=["10"])
    assert [r["labs_complete"] for r in rows] == ["1", "0", "", ""]


@pytest.mark.parametrize(
    "params",
    [{"records": ["10", "2"]}, {"records": "10,2"}, {"records": "2, 10"}, {"records[]": "10"}],
)
def test_records_as_array_or_comma_string(sim: Sim, params: dict[str, Any]) -> None:
    found = {r["record_id"] for r in sim.rows(**params)}
    assert found == ({"10"} if "records[]" in params else {"10", "2"})


def test_an_unknown_record_is_an_empty_answer_not_an_error(sim: Sim) -> None:
    assert sim.rows(records=["999"]) == []
    assert [r["record_id"] for r in sim.rows(records=["999", "2"])] == ["2"]


def test_events_choose_rows(sim: Sim) -> None:
    assert [r["redcap_event_name"] for r in sim.rows(events=["v1_arm_1"])] == ["v1_arm_1"]
    two = sim.rows(events=["v1_arm_1", "diary_arm_1"])
    assert [r["redcap_repeat_instance"] for r in two] == ["", 1, 2]


@pytest.mark.parametrize(
    ("name", "value"), [("fields", "nosuch"), ("forms", "nosuch"), ("events", "nosuch_arm_1")]
)
@pytest.mark.parametrize("as_array", [True, False])
def test_unknown_names_are_refused(sim: Sim, name: str, value: str, as_array: bool) -> None:
    answer = sim.call(**{name: [value] if as_array else value})
    assert answer.status_code == 400
    assert answer.json() == {
        "error": f"The following values in the parameter \"{name}\" are not valid: '{value}'"
    }


def test_all_unknown_names_are_listed(sim: Sim) -> None:
    answer = sim.call(fields=["x", "sex", "race___1"])
    assert answer.json()["error"].endswith("are not valid: 'x', 'race___1'")


def test_versions_that_refuse_comma_strings(sim: Sim) -> None:
    sim.control("redcap/switches", {"comma_strings": "reject"})
    answer = sim.call(fields="record_id,sex")
    assert answer.status_code == 400
    assert answer.json()["error"] == (
        'The "fields" parameter has been provided with a value, but the value is not an array. '
        'The "fields" parameter must be provided as an array of one or more values.'
    )
    assert sim.rows(fields=["record_id", "sex"])
    sim.control("reset", {})
    assert sim.rows(fields="record_id,sex")


def test_the_old_version_that_exports_all_forms_for_a_wrong_one(sim: Sim) -> None:
    sim.control("redcap/switches", {"comma_strings": "lenient"})
    assert sim.control("redcap/switches") == {"comma_strings": "lenient", "module": True}
    assert sim.rows(forms="nosuch,ae") == sim.rows()
    assert sim.call(forms=["nosuch"]).status_code == 400


def test_groups_come_when_asked_for(sim: Sim) -> None:
    rows = sim.rows(exportDataAccessGroups="true", fields=["record_id"])
    assert list(rows[0])[4] == "redcap_data_access_group"
    groups = {r["record_id"]: r["redcap_data_access_group"] for r in rows}
    assert groups == {"2": "site_b", "10": "site_a", "331-1": ""}
    assert "redcap_data_access_group" not in sim.rows()[0]


def test_survey_fields_come_when_asked_for(sim: Sim) -> None:
    rows = sim.rows(exportSurveyFields="true")
    assert row(rows, "10", "diary_arm_1", 1)["diary_timestamp"] == "2026-03-20 09:30:00"
    assert row(rows, "10", "diary_arm_1", 2)["diary_timestamp"] == ""
    assert rows[0]["redcap_survey_identifier"] == ""
    plain = sim.rows()[0]
    assert "diary_timestamp" not in plain
    assert "redcap_survey_identifier" not in plain


def test_combined_checkboxes(sim: Sim) -> None:
    rows = sim.rows(combineCheckboxOptions="true", fields=["record_id", "race"])
    assert row(rows, "10", "screening_arm_1")["race"] == "1,-4"
    assert "race___1" not in rows[0]
    labels = sim.rows(combineCheckboxOptions="true", fields=["race"], rawOrLabel="label")
    assert labels == [{"race": "Odd"}, {"race": "Asian,Other, mixed"}]


def test_decimal_character(sim: Sim) -> None:
    rows = sim.rows(decimalCharacter=",", fields=["hb", "bmi"], records=["10"])
    assert rows[0] == {"hb": "130,5", "bmi": "22,1"}
    assert sim.rows(fields=["hb"], records=["10"], decimalCharacter=".")[0] == {"hb": "130.5"}


@pytest.mark.full
def test_only_chosen_records_carry_the_changes_of_a_time_range(sim: Sim) -> None:
    now = sim.state.local_now
    before = f"{now():%Y-%m-%d %H:%M:%S}"
    assert sim.rows(dateRangeBegin=before) == []
    sim.control("clock", {"advance_s": 3600})
    change = {"record": "2", "event": "screening_arm_1", "instrument": "labs", "values": {"hb": 1}}
    sim.control("redcap/records", [change])
    assert {r["record_id"] for r in sim.rows(dateRangeBegin=before)} == {"2"}
    assert {r["record_id"] for r in sim.rows(dateRangeEnd=before)} == {"2", "10", "331-1"}
    sim.control("clock", {"advance_s": 7200})
    assert sim.rows(dateRangeBegin=f"{now():%Y-%m-%d %H:%M:%S}") == []


def test_a_range_without_a_change_in_it_is_empty(sim: Sim) -> None:
    empty = sim.rows(dateRangeBegin="2020-01-01 00:00:00", dateRangeEnd="2020-02-01 00:00:00")
    assert empty == []
    assert sim.call(dateRangeBegin="yesterday").status_code == 400


def test_empty_answers_in_all_formats(sim: Sim) -> None:
    assert sim.call(records=["none"]).text == "[]"
    assert sim.call(records=["none"], format="csv").text == "\n"
    assert sim.call(records=["none"], format="xml").text == (
        '<?xml version="1.0" encoding="UTF-8" ?><records></records>'
    )


def test_csv_is_quoted_like_redcap_quotes_it(sim: Sim) -> None:
    answer = sim.call(format="csv", fields=["record_id", "remarks"], records=["10"], events=EVENT)
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.text == (
        "record_id,redcap_event_name,redcap_repeat_instrument,redcap_repeat_instance,remarks\n"
        '10,screening_arm_1,,,"said ""ok"", left"\n'
    )


EVENT = ["screening_arm_1"]


@pytest.mark.parametrize(
    ("name", "mark"), [("tab", "\t"), (";", ";"), ("|", "|"), ("^", "^"), ("?", ",")]
)
def test_csv_delimiters(sim: Sim, name: str, mark: str) -> None:
    text = sim.call(format="csv", fields=["record_id", "sex"], csvDelimiter=name).text
    assert text.splitlines()[1] == mark.join(["2", "screening_arm_1", "", "", "2"])


def test_xml_is_the_default_format(sim: Sim) -> None:
    answer = sim.call(format="", fields=["full_name"])
    assert answer.headers["content-type"] == "text/xml; charset=utf-8"
    assert answer.text == (
        '<?xml version="1.0" encoding="UTF-8" ?><records>'
        "<item><full_name><![CDATA[张三]]></full_name></item>"
        "<item><full_name><![CDATA[李四]]></full_name></item></records>"
    )


def test_json_is_raw_utf8(sim: Sim) -> None:
    assert "张三".encode() in sim.call().content


def test_a_classic_project_has_neither_event_nor_repeat_columns(classic: Sim) -> None:
    rows = classic.rows(fields=["record_id", "sex"])
    assert rows == [{"record_id": "1", "sex": "1"}, {"record_id": "2", "sex": "1"}]
    assert classic.rows(events=["whatever"], fields=["record_id"]) == [
        {"record_id": "1"},
        {"record_id": "2"},
    ]


def test_classic_projects_have_no_groups_to_export(classic: Sim) -> None:
    rows = classic.rows(exportDataAccessGroups="true", fields=["record_id"])
    assert rows == [{"record_id": "1"}, {"record_id": "2"}]


def test_hidden_forms_of_the_user_are_missing(sim: Sim) -> None:
    rows = sim.rows(token=NO_IDS)
    assert "pain" not in rows[0]
    assert "diary_complete" not in rows[0]
    assert "ae_term" in rows[0]


LABELS: list[tuple[str, str, Callable[[dict[str, Any]], Any], Any]] = [
    ("10", "sex", lambda r: r["sex"], "男"),
    ("10", "checked", lambda r: r["race____4"], "Checked"),
    ("10", "unchecked", lambda r: r["race___k__9"], "Unchecked"),
    ("10", "yesno", lambda r: r["smoker"], "Yes"),
    ("10", "truefalse", lambda r: r["alive"], "True"),
    ("10", "status", lambda r: r["demographics_complete"], "Complete"),
    ("10", "unverified", lambda r: r["labs_complete"], "Unverified"),
    ("2", "incomplete", lambda r: r["labs_complete"], "Incomplete"),
    ("10", "date", lambda r: r["dob"], "1970-02-03"),
    ("10", "file", lambda r: r["photo"], "face.jpg"),
    ("10", "event with its arm", lambda r: r["redcap_event_name"], "Screening (Arm 1: Drug A)"),
    ("10", "group", lambda r: r["redcap_data_access_group"], "Site A"),
]


@pytest.mark.parametrize(("record", "what", "read", "label"), LABELS, ids=[x[1] for x in LABELS])
def test_labels(sim: Sim, record: str, what: str, read: Any, label: str) -> None:
    rows = sim.rows(rawOrLabel="label", records=[record], exportDataAccessGroups="true")
    assert read(rows[0]) == label, what


def test_labels_of_repeats_and_missing_codes(sim: Sim) -> None:
    rows = sim.rows(rawOrLabel="label", records=["10"])
    visit = row(rows, "10", "Visit 1 (Arm 1: Drug A)")
    assert visit["hb"] == "Unknown"
    ae = row(rows, "10", "Log (Arm 1: Drug A)", 2)
    assert (ae["redcap_repeat_instrument"], ae["ae_grade"]) == ("Ae", "Severe")


@pytest.mark.parametrize(
    ("mode", "ticked", "other"),
    [("label", "Other, mixed", ""), ("raw", "1", "0")],
)
def test_checkbox_labels(sim: Sim, mode: str, ticked: str, other: str) -> None:
    params = {"rawOrLabel": mode, "exportCheckboxLabel": "true", "records": ["10"]}
    first = sim.rows(**params)[0]
    assert (first["race____4"], first["race___k__9"]) == (ticked, other)


def test_label_headers_are_for_csv(sim: Sim) -> None:
    fields = ["record_id", "sex", "race", "labs_complete"]
    params = {"fields": fields, "exportDataAccessGroups": "true", "rawOrLabelHeaders": "label"}
    head = sim.call(format="csv", **params).text.splitlines()[0]
    assert head == (
        '受试者编号,"Event Name","Repeat Instrument","Repeat Instance","Data Access Group",性别,'
        '"Race (choice=Asian)","Race (choice=Other, mixed)","Race (choice=Odd)",Complete?'
    )
    assert "sex" in sim.rows(**params)[0]
