"""Metadata, events, users and the other contents (reference/redcap_dify.md 1.3-1.6)."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest

from demo.simulators.study import METADATA_COLUMNS
from tests.simulators.sim_study import (
    FIELDS,
    NO_IDS,
    SITE_A,
    TOKENS,
    Sim,
    configure,
    metadata_rows,
    serve_study,
    study_parts,
    write_study,
)


def test_version_is_plain_text_in_every_format(sim: Sim) -> None:
    for form in ("json", "csv", "xml", ""):
        answer = sim.call("version", format=form)
        assert (answer.status_code, answer.text) == (200, "16.1.3")


def test_metadata_has_18_string_columns_in_project_order(sim: Sim) -> None:
    rows = sim.rows("metadata")
    assert [r["field_name"] for r in rows] == [field[0] for field in FIELDS]
    assert all(tuple(r) == METADATA_COLUMNS for r in rows)
    assert all(isinstance(value, str) for r in rows for value in r.values())
    assert rows[1]["identifier"] == "y"
    assert rows[4]["select_choices_or_calculations"] == "1, Asian | -4, Other, mixed | k>=9, Odd"


@pytest.mark.parametrize(
    ("params", "names"),
    [
        ({"fields": ["sex", "hb"]}, ["sex", "hb"]),
        ({"forms": ["diary"]}, ["pain"]),
        ({"fields": ["sex"], "forms": ["diary"]}, ["sex", "pain"]),
    ],
)
def test_metadata_of_some_fields(sim: Sim, params: dict[str, Any], names: list[str]) -> None:
    assert [r["field_name"] for r in sim.rows("metadata", **params)] == names


@pytest.mark.parametrize("name", ["fields", "forms"])
def test_metadata_of_unknown_fields(sim: Sim, name: str) -> None:
    answer = sim.call("metadata", **{name: ["labs_complete"]})
    assert answer.status_code == 400
    assert answer.json()["error"].startswith(f'The following values in the parameter "{name}"')


def test_metadata_as_csv_reads_back(sim: Sim) -> None:
    rows = list(csv.DictReader(io.StringIO(sim.call("metadata", format="csv").text)))
    assert rows == sim.rows("metadata")


def test_events_without_scheduling_have_no_offsets(sim: Sim) -> None:
    assert sim.rows("event")[0] == {
        "event_name": "Screening",
        "arm_num": 1,
        "unique_event_name": "screening_arm_1",
        "event_id": 41,
        "custom_event_label": None,
    }


def test_events_with_scheduling_have_offsets(tmp_path: Path) -> None:
    parts = study_parts()
    parts["project"] = {**parts["project"], "scheduling_enabled": 1}
    for sim in serve_study(write_study(tmp_path / "scheduled", parts)):
        configure(sim)
        assert sim.rows("event")[0]["day_offset"] == 1


@pytest.mark.parametrize("content", ["event", "formEventMapping"])
def test_arms_choose_events(sim: Sim, content: str) -> None:
    found = sim.rows(content, arms=["2"])
    assert [r["unique_event_name"] for r in found] == ["screening_arm_2"]
    assert len(sim.rows(content)) > 1


def test_an_arm_without_an_event_is_not_exported(sim: Sim) -> None:
    assert sim.rows("arm") == [
        {"arm_num": 1, "name": "Drug A"},
        {"arm_num": 2, "name": "Drug B"},
    ]
    assert sim.rows("arm", arms="2") == [{"arm_num": 2, "name": "Drug B"}]


def test_mapping(sim: Sim) -> None:
    assert sim.rows("formEventMapping")[0] == {
        "arm_num": 1,
        "unique_event_name": "screening_arm_1",
        "form": "demographics",
    }


@pytest.mark.full
@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("arm", "You cannot export arms for classic projects"),
        ("event", "You cannot export events for classic projects"),
        ("formEventMapping", "You cannot export form/event mappings for classic projects"),
        (
            "repeatingFormsEvents",
            "You cannot export repeating instruments and events because the project does not "
            "contain any repeating instruments and events",
        ),
    ],
)
def test_classic_projects_refuse(classic: Sim, content: str, text: str) -> None:
    answer = classic.call(content)
    assert (answer.status_code, answer.json()) == (400, {"error": text})


def test_instruments_hide_our_own_key(sim: Sim) -> None:
    assert sim.rows("instrument") == [
        {"instrument_name": "demographics", "instrument_label": "Demographics"},
        {"instrument_name": "labs", "instrument_label": "Labs"},
        {"instrument_name": "diary", "instrument_label": "Diary"},
        {"instrument_name": "ae", "instrument_label": "Ae"},
    ]


def test_project_is_one_object(sim: Sim) -> None:
    project = sim.rows("project")
    assert project["project_title"] == "演示"
    assert project["is_longitudinal"] == 1
    assert project["missing_data_codes"] == "NA, Not applicable | UNK, Unknown"


def test_project_in_csv_and_xml(sim: Sim) -> None:
    lines = sim.call("project", format="csv").text.splitlines()
    assert lines[0].startswith("project_id,project_title,is_longitudinal")
    assert lines[1].startswith("14,演示,1")
    xml = sim.call("project", format="xml").text
    assert "<items><project_id>14</project_id>" in xml


def test_repeats_of_a_longitudinal_project(sim: Sim) -> None:
    assert sim.rows("repeatingFormsEvents") == [
        {"event_name": "diary_arm_1", "form_name": "", "custom_form_label": ""},
        {"event_name": "log_arm_1", "form_name": "ae", "custom_form_label": "[ae_term]"},
    ]


def test_repeats_of_a_classic_project_have_no_event(tmp_path: Path) -> None:
    parts = {
        "project": {"project_id": 4, "is_longitudinal": 0},
        "repeating": [{"form_name": "ae", "custom_form_label": ""}],
        "records": [
            {
                "record": "1",
                "event": "",
                "instrument": "ae",
                "instance": n,
                "values": {"ae_term": t},
            }
            for n, t in ((1, "x"), (2, "y"))
        ],
    }
    rows = [row for row in metadata_rows() if row["form_name"] in ("demographics", "ae")]
    for sim in serve_study(write_study(tmp_path / "flat", parts, rows)):
        configure(sim)
        assert sim.rows("repeatingFormsEvents") == [{"form_name": "ae", "custom_form_label": ""}]
        found = sim.rows(fields=["record_id", "ae_term"])
        assert [(r["redcap_repeat_instance"], r["ae_term"]) for r in found] == [(1, "x"), (2, "y")]
        assert "redcap_event_name" not in found[0]


def test_groups(sim: Sim) -> None:
    assert sim.rows("dag")[0] == {
        "data_access_group_name": "Site A",
        "unique_group_name": "site_a",
        "data_access_group_id": 901,
    }


def test_users_and_their_groups_follow_the_tokens(sim: Sim) -> None:
    found = {r["username"]: r["redcap_data_access_group"] for r in sim.rows("userDagMapping")}
    assert found["crc_a"] == "site_a"
    assert found["api_full"] == ""
    assert set(found) >= {token["user"] for token in TOKENS}


def test_user_rights(sim: Sim) -> None:
    users = {r["username"]: r for r in sim.rows("user")}
    full, deid, crc = users["api_full"], users["api_deid"], users["crc_a"]
    assert full["email"] == "full@example.cn"
    assert "export" not in full
    assert full["forms_export"] == {"demographics": 1, "labs": 1, "diary": 1, "ae": 1}
    assert set(deid["forms_export"].values()) == {2}
    assert users["api_noids"]["forms_export"] == {"demographics": 3, "labs": 3, "diary": 0, "ae": 3}
    assert set(users["nobody"]["forms_export"].values()) == {0}
    assert (crc["data_access_group"], crc["data_access_group_id"]) == ("site_a", 901)
    assert (full["api_export"], full["api_import"], full["logging"]) == (1, 0, 1)
    assert users["crc_b"]["logging"] == 0


def test_users_as_csv(sim: Sim) -> None:
    rows = list(csv.DictReader(io.StringIO(sim.call("user", format="csv").text)))
    assert rows[0]["forms_export"] == "demographics:1,labs:1,diary:1,ae:1"


def test_users_as_xml(sim: Sim) -> None:
    assert "<forms><demographics>1</demographics>" in sim.call("user", format="xml").text


def test_export_names(sim: Sim) -> None:
    rows = sim.rows("exportFieldNames")
    names = [r["export_field_name"] for r in rows]
    assert "intro" not in names  # descriptive
    assert "photo" not in names  # file
    assert "bmi" in names
    assert names[-1] == "ae_complete"
    assert [r for r in rows if r["original_field_name"] == "race"] == [
        {"original_field_name": "race", "choice_value": code, "export_field_name": column}
        for code, column in (("1", "race___1"), ("-4", "race____4"), ("k>=9", "race___k__9"))
    ]


def test_every_exported_column_is_named(sim: Sim) -> None:
    names = {r["export_field_name"] for r in sim.rows("exportFieldNames")}
    columns = {name for name in sim.rows()[0] if not name.startswith("redcap_")}
    assert columns - names == {"photo"}


def test_one_export_name(sim: Sim) -> None:
    assert len(sim.rows("exportFieldNames", field="race")) == 3
    assert sim.call("exportFieldNames", field="nosuch").status_code == 400


def test_the_next_record_name(sim: Sim, classic: Sim) -> None:
    assert sim.call("generateNextRecordName").text == "11"
    assert classic.call("generateNextRecordName", format="csv").text == "3"
    assert sim.call("generateNextRecordName", SITE_A).text == "901-1"


def test_hidden_forms_do_not_touch_the_dictionary(sim: Sim) -> None:
    assert "diary" in {r["form_name"] for r in sim.rows("metadata", NO_IDS)}
