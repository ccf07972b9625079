"""content=log and what is written there (reference/redcap_dify.md 1.5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulators.sim_study import SITE_A, SITE_B, Sim

KEYS = ["timestamp", "username", "action", "details", "record"]


def save(sim: Sim, **row: Any) -> None:
    defaults = {"record": "10", "event": "screening_arm_1", "instrument": "labs", "user": "wang"}
    sim.control("redcap/records", [{**defaults, **row}])


def newest(sim: Sim, **params: Any) -> dict[str, str]:
    entry: dict[str, str] = sim.rows("log", **params)[0]
    return entry


def test_a_save_is_logged_with_the_values_as_saved(sim: Sim) -> None:
    save(sim, values={"hb": "120", "hb_unit": "g/L"})
    entry = newest(sim)
    assert list(entry) == KEYS
    assert entry["timestamp"] == f"{sim.state.local_now():%Y-%m-%d %H:%M}"
    assert entry["username"] == "wang"
    assert entry["action"] == "Update record 10 (Screening (Arm 1: Drug A))"
    assert entry["details"] == "hb = '120', hb_unit = 'g/L'"
    assert entry["record"] == "10"


def test_checkboxes_and_instances_in_the_details(sim: Sim) -> None:
    save(sim, instrument="demographics", values={"race": ["k>=9"]})
    assert newest(sim)["details"] == (
        "race(1) = unchecked, race(-4) = unchecked, race(k>=9) = checked"
    )
    save(sim, event="log_arm_1", instrument="ae", instance=2, values={"ae_grade": "1"})
    assert newest(sim)["details"] == "[instance = 2], ae_grade = '1'"


def test_new_and_deleted_records(sim: Sim) -> None:
    save(sim, record="77", values={"hb": "1"})
    assert newest(sim)["action"] == "Create record 77 (Screening (Arm 1: Drug A))"
    sim.control("redcap/records", [{"record": "77", "delete": True, "user": "wang"}])
    entry = newest(sim)
    assert (entry["action"], entry["details"]) == ("Delete record 77", "record_id = '77'")
    assert sim.rows(records=["77"]) == []


def test_of_a_renamed_record_only_the_new_id_is_named(sim: Sim) -> None:
    sim.control("redcap/records", [{"record": "10", "rename": "77", "user": "wang"}])
    entry = newest(sim)
    assert (entry["action"], entry["details"]) == ("Update record 77", "record_id = '77'")
    assert "10" not in {entry["record"] for entry in sim.rows("log")}
    assert {row["record_id"] for row in sim.rows(records=["10", "77"])} == {"77"}


def test_a_classic_project_names_no_event(classic: Sim) -> None:
    classic.control("redcap/records", [{"record": "1", "values": {"sex": "2"}}])
    assert newest(classic)["action"] == "Update record 1"


def test_the_loaded_records_are_in_the_log(sim: Sim) -> None:
    entries = sim.rows("log", logtype="record_add")
    assert {e["record"] for e in entries} == {"2", "10", "331-1"}
    assert {e["username"] for e in entries} == {"SYSTEM"}


@pytest.mark.parametrize(
    ("content", "details"),
    [
        ("record", "Export records (API)"),
        ("log", "Export Logging (API)"),
        ("metadata", "Download data dictionary (API)"),
        ("event", "Export event (API)"),
    ],
)
def test_every_call_is_logged_after_its_answer(sim: Sim, content: str, details: str) -> None:
    assert all(e["details"] != details for e in sim.rows("log"))
    sim.rows(content)
    entry = newest(sim)
    assert (entry["details"], entry["username"], entry["record"]) == (details, "api_full", "")


@pytest.mark.parametrize(
    ("logtype", "verbs"),
    [
        ("record", {"Create", "Update", "Delete"}),
        ("record_add", {"Create"}),
        ("record_edit", {"Update"}),
        ("record_delete", {"Delete"}),
        ("export", {"Data"}),
        ("manage", {"Manage/Design"}),
        ("user", set()),
        ("", {"Create", "Update", "Delete", "Data", "Manage/Design"}),
    ],
)
def test_logtype(sim: Sim, logtype: str, verbs: set[str]) -> None:
    save(sim, values={"hb": "1"})
    sim.control("redcap/records", [{"record": "2", "delete": True}])
    sim.rows()
    sim.rows("metadata")
    found = {e["action"].split()[0] for e in sim.rows("log", logtype=logtype)}
    assert found == verbs


def test_user_and_record(sim: Sim) -> None:
    save(sim, values={"hb": "1"})
    assert {e["username"] for e in sim.rows("log", user="wang")} == {"wang"}
    assert {e["record"] for e in sim.rows("log", record="2")} == {"2"}
    assert sim.rows("log", record="2", user="wang") == []


def test_time_range_and_order(sim: Sim) -> None:
    sim.control("clock", {"advance_s": 3600})
    begin = f"{sim.state.local_now():%Y-%m-%d %H:%M}"
    save(sim, values={"hb": "1"})
    sim.control("clock", {"advance_s": 3600})
    save(sim, values={"hb": "2"})
    details = [e["details"] for e in sim.rows("log", beginTime=begin, logtype="record")]
    assert details == ["hb = '2'", "hb = '1'"]
    early = sim.rows("log", endTime=begin, logtype="record_edit", user="wang")
    assert [e["details"] for e in early] == ["hb = '1'"]
    assert sim.rows("log", beginTime="2099-01-01 00:00") == []
    assert sim.rows("log", endTime="2020-01-01 24:00") == []


def test_groups(sim: Sim) -> None:
    assert {e["record"] for e in sim.rows("log", dag="902")} == {"2"}
    assert {e["record"] for e in sim.rows("log", SITE_A)} == {"10"}


def test_without_the_logging_right(sim: Sim) -> None:
    answer = sim.call("log", SITE_B)
    assert answer.status_code == 403
    assert "error" in answer.json()


def test_csv(sim: Sim) -> None:
    save(sim, values={"hb": "1"})
    lines = sim.call("log", format="csv", logtype="record").text.splitlines()
    assert lines[0] == ",".join(KEYS)
    assert lines[1].endswith(""","Update record 10 (Screening (Arm 1: Drug A))","hb = '1'",10""")
