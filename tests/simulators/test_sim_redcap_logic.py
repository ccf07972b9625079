"""filterLogic (reference/redcap_dify.md 1.14)."""

from __future__ import annotations

import pytest

from tests.simulators.sim_study import Sim

SCREENING = {"2": "screening_arm_1", "10": "screening_arm_1", "331-1": "screening_arm_2"}


def screened(sim: Sim, logic: str) -> set[str]:
    """Records whose screening row the logic selects."""
    rows = sim.rows(fields=["record_id"], filterLogic=logic)
    return {r["record_id"] for r in rows if r["redcap_event_name"] == SCREENING[r["record_id"]]}


@pytest.mark.parametrize(
    ("logic", "records"),
    [
        ("[sex] = '1'", {"10"}),
        ('[sex] = "1"', {"10"}),
        ("[sex] = 1", {"10"}),
        ("[sex]='1'or[sex]='2'", {"2", "10"}),
        ("[sex] <> ''", {"2", "10"}),
        ('[sex] != ""', {"2", "10"}),
        ("[sex] = ''", {"331-1"}),
        ("not [sex] = '1'", {"2", "331-1"}),
        ("not ([sex] = '1' or [sex] = '2')", {"331-1"}),
        ("[sex] = '1' AND [smoker] = '1'", {"10"}),
        ("[sex] = '1' and [smoker] = '0' or [sex] = '2'", {"2"}),
        ("[sex] = '1' and ([smoker] = '0' or [sex] = '2')", set()),
        ("[hb] > 100", {"10"}),
        ("[hb] >= 130.5", {"10"}),
        ("[hb] < 100 and [hb] <> ''", {"2"}),
        ("[hb] <= 99 and [hb] <> ''", {"2"}),
        ("[hb] < 100", {"2", "331-1"}),
        ("[hb] = 99.0", {"2"}),
        ("[race(1)] = '1'", {"10"}),
        ("[race(-4)] = '1'", {"10"}),
        ("[race(k>=9)] = '1'", {"2"}),
        ("[race(1)] = '0' and [sex] = '2'", {"2"}),
        ("[race___1] = '1'", {"10"}),
        ("[record_id] = '10'", {"10"}),
        ("[full_name] = '张三'", {"10"}),
        ("contains([full_name], '三')", {"10"}),
        ("isblankormissingcode([sex])", {"331-1"}),
        ("if([sex] = '1', 1, 0) = 1", {"10"}),
        ("if([hb] > 100, [sex], [smoker]) = 1", {"10"}),
        ("round([hb] / 7, 1) = 18.6", {"10"}),
        ("sum([hb], 1) = 100", {"2"}),
        ("sum([hb], [bmi]) > 150", {"10"}),
        ("abs([hb] - 200) = 101", {"2"}),
        ("abs(-[hb]) = 99", {"2"}),
        ("[hb] * 2 = 198", {"2"}),
        ("[hb] ^ 2 = 9801", {"2"}),
        ("[hb] / 0 = ''", {"2", "10", "331-1"}),
        ("datediff([visit_date], 'today', 'd') = 10", {"10"}),
        ("datediff('today', [visit_date], 'd') = 10", {"10"}),
        ("datediff('today', [visit_date], 'd', true) = -10", {"10"}),
        ("datediff('today', [visit_date], 'd', 'ymd', true) < 0 and [visit_date] <> ''", {"10"}),
        ("datediff([dob], '1970-02-04', 'h') = 24", {"10"}),
        ("datediff([dob], '1970-02-04', 'm') = 1440", {"10"}),
        ("datediff([dob], '1970-02-04', 's') = 86400", {"10"}),
        ("round(datediff([dob], '2000-02-03', 'y'), 2) = 30", {"10"}),
        ("round(datediff([dob], '1970-03-05', 'M'), 1) = 1", {"10"}),
        ("datediff([remarks], 'today', 'd') = ''", {"2", "10", "331-1"}),
        ("datediff([visit_date], 'now', 'd') > 9 and [visit_date] <> ''", {"10"}),
        ("[sex] = '1' # men only", {"10"}),
        ("// men\n[sex] = '1'", {"10"}),
        ("true", {"2", "10", "331-1"}),
        ("[sex]", {"2", "10"}),
    ],
)
def test_selects(sim: Sim, logic: str, records: set[str]) -> None:
    assert screened(sim, logic) == records


def test_the_filter_selects_record_events(sim: Sim) -> None:
    rows = sim.rows(fields=["record_id", "visit_date"], filterLogic="[visit_date] <> ''")
    assert [r["redcap_event_name"] for r in rows] == ["screening_arm_1", "v1_arm_1"]


def test_a_field_of_another_event(sim: Sim) -> None:
    logic = "[screening_arm_1][hb] > 100 and [visit_date] <> ''"
    rows = sim.rows(fields=["record_id", "visit_date"], filterLogic=logic)
    assert [r["redcap_event_name"] for r in rows] == ["screening_arm_1", "v1_arm_1"]


def test_instances_are_judged_one_by_one(sim: Sim) -> None:
    rows = sim.rows(forms=["ae"], fields=["record_id"], filterLogic="[ae_grade] = '2'")
    assert [r["ae_term"] for r in rows] == ["Rash"]
    assert [r["pain"] for r in sim.rows(forms=["diary"], filterLogic="[pain] > 5")] == ["7"]


@pytest.mark.parametrize(
    "logic",
    [
        "[sex] == '1'",
        "[sex] LIKE '1'",
        "[sex] = '1",
        "[sex] =",
        "([sex] = '1'",
        "[sex] = '1')",
        "[sex] = '1' and",
        "= 1",
        "[]",
        "[sex",
        "nosuch([sex])",
        "if([sex])",
        "contains([sex])",
        "datediff([dob])",
        "datediff([dob], 'today', 'w')",
        "[sex] [smoker]",
        "1 2",
        "§",
    ],
)
def test_wrong_syntax_is_an_error(sim: Sim, logic: str) -> None:
    answer = sim.call(filterLogic=logic)
    assert answer.status_code == 400
    assert "filterLogic" in answer.json()["error"]


@pytest.mark.parametrize("logic", ["[nosuch] = 1", "[nosuch_arm_1][sex] = 1"])
def test_unknown_names_are_an_error(sim: Sim, logic: str) -> None:
    assert sim.call(filterLogic=logic).status_code == 400


def test_a_blank_filter_is_no_filter(sim: Sim) -> None:
    assert sim.rows(filterLogic="  ") == sim.rows()
