"""The demo study, as the stand-ins serve it."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redcap import Project
from redcap.request import _session

from tests.simulators.sim_study import (
    DEID,
    FULL,
    NO_IDS,
    SITE_A,
    SITE_B,
    Sim,
    configure,
    serve_study,
)

STUDY = Path(__file__).resolve().parents[2] / "demo" / "study"


@pytest.fixture(scope="module")
def demo() -> Iterator[Sim]:
    for sim in serve_study(STUDY):
        configure(sim)
        sim.control("configure", {"today": "2026-07-01"})
        yield sim


def ids(rows: list[dict[str, Any]]) -> set[str]:
    return {row["record_id"] for row in rows}


def test_the_project_is_longitudinal_with_repeats(demo: Sim) -> None:
    project = demo.rows("project")
    assert project["is_longitudinal"] == 1
    assert project["has_repeating_instruments_or_events"] == 1
    assert demo.rows("repeatingFormsEvents")
    assert demo.rows("event")


def test_events_forms_and_repeats_fit_each_other(demo: Sim) -> None:
    events = {row["unique_event_name"] for row in demo.rows("event")}
    forms = {row["instrument_name"] for row in demo.rows("instrument")}
    mapping = demo.rows("formEventMapping")
    assert {row["unique_event_name"] for row in mapping} <= events
    assert {row["form"] for row in mapping} == forms
    mapped = {(row["unique_event_name"], row["form"]) for row in mapping}
    for row in demo.rows("repeatingFormsEvents"):
        assert not row["form_name"] or (row["event_name"], row["form_name"]) in mapped
    assert {row["form_name"] for row in demo.rows("metadata")} == forms


def test_every_column_is_an_export_name(demo: Sim) -> None:
    names = {row["export_field_name"] for row in demo.rows("exportFieldNames")}
    columns = {name for name in demo.rows()[0] if not name.startswith("redcap_")}
    assert columns == names


def test_csv_and_json_agree(demo: Sim) -> None:
    text = demo.call(format="csv").text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert rows == [{name: str(value) for name, value in row.items()} for row in demo.rows()]


def test_batches_give_what_one_call_gives(demo: Sim) -> None:
    every = demo.rows()
    names = list(dict.fromkeys(row["record_id"] for row in every))
    batches = [names[n : n + 5] for n in range(0, len(names), 5)]
    assert [row for batch in batches for row in demo.rows(records=batch)] == every


@pytest.mark.full
def test_events_and_forms_divide_the_rows(demo: Sim) -> None:
    every = demo.rows()
    by_event = [
        row
        for event in demo.rows("event")
        for row in demo.rows(events=[event["unique_event_name"]])
    ]
    assert len(by_event) == len(every)


@pytest.mark.full
def test_the_sites_share_the_records_among_them(demo: Sim) -> None:
    a, b = ids(demo.rows(token=SITE_A)), ids(demo.rows(token=SITE_B))
    assert a
    assert b
    assert not a & b
    assert a | b == ids(demo.rows())


def test_de_identified_tokens_see_no_identifier(demo: Sim) -> None:
    metadata = demo.rows("metadata")
    identifiers = {row["field_name"] for row in metadata if row["identifier"] == "y"}
    notes = {row["field_name"] for row in metadata if row["field_type"] == "notes"}
    assert identifiers
    for token, lost in ((NO_IDS, identifiers), (DEID, identifiers | notes)):
        assert not lost & set(demo.rows(token=token)[0])
        names = {row["field_name"] for row in demo.rows(token=token, type="eav")}
        assert not lost & names


def test_a_de_identified_answer_holds_no_name_of_a_person(demo: Sim) -> None:
    metadata = demo.rows("metadata")
    identifiers = [row["field_name"] for row in metadata if row["identifier"] == "y"]
    secrets = {
        value for row in demo.rows(fields=identifiers) for value in row.values() if len(value) > 2
    }
    text = demo.call(token=DEID).text
    assert secrets
    assert [secret for secret in secrets if secret in text] == []


def test_dates_are_placed(demo: Sim) -> None:
    assert "{{T" not in demo.call().text
    assert "{{T" not in demo.call("metadata").text


def test_pycap_reads_it(demo: Sim) -> None:
    project = Project(f"{demo.url}/redcap/api/", FULL)
    assert project.is_longitudinal
    assert ids(project.export_records()) == ids(demo.rows())
    assert len(project.export_metadata()) == len(demo.rows("metadata"))
    _session.close()


def test_its_documents_are_found(demo: Sim) -> None:
    for query, word in (("入选标准", "入选标准"), ("禁用药物有哪些", "禁用"), ("主要终点", "终点")):
        records = demo.retrieve({"query": query}).json()["records"]
        assert word in records[0]["segment"]["content"]
        assert records[0]["score"] > 0.5
        assert records[0]["segment"]["document"]["name"].endswith(".md")


def test_what_the_protocol_does_not_say_scores_low(demo: Sim) -> None:
    records = demo.retrieve({"query": "zebra xylophone"}).json()["records"]
    assert all(record["score"] < 0.2 for record in records)
