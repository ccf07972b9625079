"""The study directory and its day."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from demo.simulators.state import State
from demo.simulators.study import load_documents, load_study, place_dates
from tests.simulators.sim_study import TODAY, Sim, configure, serve_study, study_parts, write_study


@pytest.mark.parametrize(
    ("text", "placed"),
    [
        ("{{T}}", "2026-03-20"),
        ("{{T-12}}", "2026-03-08"),
        ("{{T+12}}", "2026-04-01"),
        ("{{T-3}} 09:30", "2026-03-17 09:30"),
        ("from {{T-1}} to {{T+1}}", "from 2026-03-19 to 2026-03-21"),
        ("{{X}} {T} T-3", "{{X}} {T} T-3"),
    ],
)
def test_tokens(text: str, placed: str) -> None:
    assert place_dates(text, TODAY) == placed
    assert place_dates([{"a": text, "n": 1, "b": None}], TODAY) == [
        {"a": placed, "n": 1, "b": None}
    ]


@given(st.integers(-4000, 4000), st.dates(date(1990, 1, 1), date(2080, 1, 1)))
def test_a_token_is_that_many_days_away(days: int, today: date) -> None:
    placed = place_dates(f"{{{{T{days:+d}}}}}", today)
    assert (date.fromisoformat(placed) - today).days == days


def test_a_directory_is_read(study_dir: Path) -> None:
    study = load_study(study_dir, TODAY)
    assert study.project["project_id"] == 14
    assert study.metadata[0]["field_name"] == "record_id"
    assert study.records[0]["values"]["visit_date"] == "2026-03-10"
    assert (len(study.events), len(study.mapping), len(study.dags)) == (5, 6, 2)


def test_documents_are_read(study_dir: Path) -> None:
    documents = load_documents(study_dir, TODAY)
    assert list(documents) == ["方案V2.1.md"]
    assert "须在 2026-03-20 起" in documents["方案V2.1.md"]


def test_without_a_directory_a_tiny_study_is_served(tmp_path: Path) -> None:
    for sim in serve_study(tmp_path / "nothing"):
        configure(sim)
        assert [r["field_name"] for r in sim.rows("metadata")] == ["record_id", "note"]
        assert sim.rows() == []
        assert sim.retrieve({"query": "x"}).json()["records"] == []
        sim.control("redcap/records", [{"record": "1", "values": {"note": "hello"}}])
        assert sim.rows() == [{"record_id": "1", "note": "hello", "basics_complete": "0"}]


def test_unknown_fields_in_the_records_name_the_record(tmp_path: Path) -> None:
    parts = study_parts()
    parts["records"] = [{"record": "7", "event": "", "values": {"oops": "1"}}]
    directory = write_study(tmp_path / "bad", parts)
    with pytest.raises(ValueError, match="record 7: unknown fields: oops"):
        next(serve_study(directory))


def test_the_day_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMO_TODAY", "2025-01-31")
    assert State().today() == date(2025, 1, 31)
    monkeypatch.delenv("DEMO_TODAY")
    state = State()
    assert state.today() == state.local_now().date()


def test_the_day_stays_when_the_clock_runs_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMO_TODAY", raising=False)
    state = State()
    today = state.today()
    state.advance(10 * 86400)
    assert state.today() == today


def visit_date(sim: Sim) -> str:
    found: str = sim.rows(records=["10"], fields=["visit_date"])[0]["visit_date"]
    return found


def test_a_new_day_reloads_the_dates(sim: Sim) -> None:
    assert visit_date(sim) == "2026-03-10"
    sim.control("configure", {"today": "2026-06-11"})
    assert visit_date(sim) == "2026-06-01"
    found = sim.retrieve({"query": "严重不良事件 24 小时内报告"}).json()["records"][0]
    assert "2026-06-11" in found["segment"]["content"]


def test_the_same_day_again_keeps_what_was_entered(sim: Sim) -> None:
    change = {"record": "10", "event": "screening_arm_1", "values": {"visit_date": "2026-01-01"}}
    sim.control("redcap/records", [change])
    sim.control("configure", {"today": TODAY.isoformat()})
    assert visit_date(sim) == "2026-01-01"


def test_today_in_a_filter_is_the_study_day(sim: Sim) -> None:
    sim.control("configure", {"today": "2030-01-02"})
    logic = "[visit_date] <> '' and datediff([visit_date], 'today', 'd') = 10"
    assert len(sim.rows(filterLogic=logic)) == 1
