"""content=record, type=eav (reference/redcap_dify.md 1.2)."""

from __future__ import annotations

from typing import Any

from tests.simulators.sim_study import DEID, FULL, Sim


def eav(sim: Sim, token: str = FULL, **params: Any) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = sim.rows(token=token, type="eav", **params)
    return rows


def values(rows: list[dict[str, Any]], field: str) -> list[str]:
    return [r["value"] for r in rows if r["field_name"] == field]


def test_keys_of_a_longitudinal_project_with_repeats(sim: Sim) -> None:
    assert eav(sim, records=["2"], fields=["sex"]) == [
        {
            "record": "2",
            "redcap_event_name": "screening_arm_1",
            "redcap_repeat_instrument": "",
            "redcap_repeat_instance": "",
            "field_name": "sex",
            "value": "2",
        }
    ]


def test_keys_of_a_classic_project(classic: Sim) -> None:
    assert eav(classic, records=["1"]) == [
        {"record": "1", "field_name": "record_id", "value": "1"},
        {"record": "1", "field_name": "sex", "value": "1"},
    ]


def test_blank_values_give_no_row(sim: Sim) -> None:
    rows = eav(sim, records=["331-1"])
    assert {r["field_name"] for r in rows} == {"record_id", "full_name", "smoker"}


def test_a_checkbox_gives_one_row_per_ticked_choice(sim: Sim) -> None:
    assert values(eav(sim, records=["10"]), "race") == ["1", "-4"]
    labels = eav(sim, records=["10"], rawOrLabel="label", exportCheckboxLabel="true")
    assert values(labels, "race") == ["Asian", "Other, mixed"]


def test_repeats_keep_their_instance(sim: Sim) -> None:
    rows = [r for r in eav(sim, records=["10"]) if r["field_name"] == "ae_term"]
    assert [
        (r["redcap_repeat_instrument"], r["redcap_repeat_instance"], r["value"]) for r in rows
    ] == [("ae", 1, "Nausea"), ("ae", 2, "Rash")]
    assert values(eav(sim, events=["diary_arm_1"]), "pain") == ["3", "7"]


def test_groups_are_rows(sim: Sim) -> None:
    rows = eav(sim, records=["2"], exportDataAccessGroups="true")
    assert values(rows, "redcap_data_access_group") == ["site_b"]
    assert values(eav(sim, records=["2"]), "redcap_data_access_group") == []


def test_labels(sim: Sim) -> None:
    rows = eav(sim, records=["10"], rawOrLabel="label")
    assert values(rows, "sex") == ["男"]
    assert values(rows, "demographics_complete") == ["Complete"]
    assert rows[0]["redcap_event_name"] == "Screening (Arm 1: Drug A)"


def test_csv(sim: Sim) -> None:
    text = sim.call(type="eav", format="csv", records=["2"], fields=["hb"]).text
    assert text == (
        "record,redcap_event_name,redcap_repeat_instrument,redcap_repeat_instance,"
        "field_name,value\n2,screening_arm_1,,,hb,99\n"
    )


def test_rights_hold_for_eav_too(sim: Sim) -> None:
    names = {r["field_name"] for r in eav(sim, DEID)}
    assert "full_name" not in names
    assert "visit_date" not in names
    assert "hb" in names
