"""Imports and deletes are accepted as REDCap does, and counted (1.7, 1.8, 1.15)."""

from __future__ import annotations

import json
from typing import Any

import httpx
import pytest

from tests.simulators.sim_study import FULL, IMPORT_ONLY, SITE_A, TOKENS, WRITER, Sim, configure

HEAD = {"record_id": "10", "redcap_event_name": "screening_arm_1"}
FORMAT_TEXT = (
    "The value you provided could not be validated because it does not follow the expected "
    "format. Please try again."
)


def load(sim: Sim, rows: Any, token: str = WRITER, **params: Any) -> httpx.Response:
    data = rows if isinstance(rows, str) else json.dumps(rows)
    return sim.call(token=token, data=data, **params)


def first(sim: Sim, record: str = "10") -> dict[str, Any]:
    found: dict[str, Any] = sim.rows(records=[record])[0]
    return found


def counters(sim: Sim) -> dict[str, Any]:
    found: dict[str, Any] = sim.control("redcap/counters")
    return found


def test_nothing_is_counted_at_first(sim: Sim) -> None:
    assert counters(sim) == {"imports": 0, "calls": {}, "max_per_minute": 0}


def test_calls_are_counted_by_content(sim: Sim) -> None:
    sim.rows()
    sim.rows()
    sim.rows("metadata")
    sim.call("version", token="bad")
    assert counters(sim)["calls"] == {"record": 2, "metadata": 1, "version": 1}
    assert counters(sim)["imports"] == 0
    sim.control("reset", {})
    assert counters(sim)["calls"] == {}


def test_the_busiest_minute_is_counted(sim: Sim) -> None:
    for calls in (2, 3):
        sim.control("clock", {"advance_s": 600})
        for _ in range(calls):
            sim.call("version")
    assert 2 <= counters(sim)["max_per_minute"] <= 3


def test_an_import_is_saved_counted_and_logged(sim: Sim) -> None:
    assert load(sim, [{**HEAD, "hb": "111"}]).json() == {"count": 1}
    assert first(sim)["hb"] == "111"
    assert counters(sim)["imports"] == 1
    entry = sim.rows("log", logtype="record")[0]
    assert entry["action"].startswith("Update record (import) 10")
    assert entry["details"] == "hb = '111'"


@pytest.mark.parametrize(
    ("params", "token"),
    [
        ({"data": "[]"}, FULL),
        ({"action": "import", "data": "[]"}, FULL),
        ({"action": "delete", "records": ["10"]}, FULL),
        ({"action": "rename", "record": "10", "new_record_name": "11"}, WRITER),
        ({"data": "not json"}, WRITER),
        ({"data": "[]"}, "no such token"),
    ],
)
def test_every_attempt_to_write_is_counted(sim: Sim, params: dict[str, Any], token: str) -> None:
    sim.call(token=token, **params)
    assert counters(sim)["imports"] == 1


@pytest.mark.parametrize("content", ["metadata", "arm", "event", "dag", "user", "instrument"])
def test_writing_other_contents_is_counted_and_not_implemented(sim: Sim, content: str) -> None:
    answer = sim.call(content, WRITER, action="import", data="[]")
    assert answer.status_code == 501
    assert counters(sim)["imports"] == 1


def test_the_import_right(sim: Sim) -> None:
    answer = load(sim, [{**HEAD, "hb": "1"}], FULL)
    assert answer.status_code == 403
    assert answer.json() == {"error": "You do not have API Import/Update privileges"}
    assert load(sim, [{**HEAD, "hb": "1"}], IMPORT_ONLY).status_code == 200


@pytest.mark.parametrize(
    ("params", "body"),
    [
        ({}, '{"count":2}'),
        ({"returnContent": "count", "returnFormat": "csv"}, "2"),
        (
            {"returnFormat": "xml"},
            '<?xml version="1.0" encoding="UTF-8" ?><count>2</count>',
        ),
        ({"returnContent": "ids"}, '["10","2"]'),
        ({"returnContent": "ids", "returnFormat": "csv"}, "id\n10\n2\n"),
        (
            {"returnContent": "ids", "returnFormat": "xml"},
            '<?xml version="1.0" encoding="UTF-8" ?><ids><id>10</id><id>2</id></ids>',
        ),
        ({"returnContent": "auto_ids"}, '["10,10","2,2"]'),
        ({"returnContent": "nothing"}, ""),
    ],
)
def test_what_comes_back(sim: Sim, params: dict[str, str], body: str) -> None:
    rows = [{**HEAD, "hb": "1"}, {**HEAD, "record_id": "2", "hb": "2"}]
    answer = load(sim, rows, **params)
    assert (answer.status_code, answer.text) == (200, body)


def test_blank_values_erase_only_when_told_to(sim: Sim) -> None:
    load(sim, [{**HEAD, "hb": "", "hb_unit": "x"}])
    assert (first(sim)["hb"], first(sim)["hb_unit"]) == ("130.5", "x")
    load(sim, [{**HEAD, "hb": ""}], overwriteBehavior="overwrite")
    assert first(sim)["hb"] == ""


@pytest.mark.parametrize(
    ("form", "data"),
    [
        ("csv", "record_id,redcap_event_name,hb\n10,screening_arm_1,5\n"),
        (
            "xml",
            "<records><item><record_id>10</record_id>"
            "<redcap_event_name>screening_arm_1</redcap_event_name><hb>5</hb></item></records>",
        ),
        ("json", json.dumps([{**HEAD, "hb": 5}])),
    ],
)
def test_formats(sim: Sim, form: str, data: str) -> None:
    assert load(sim, data, format=form, returnFormat="json").json() == {"count": 1}
    assert first(sim)["hb"] == "5"


def test_eav(sim: Sim) -> None:
    event = {"record": "2", "redcap_event_name": "screening_arm_1"}
    rows = [
        {**event, "field_name": "hb", "value": "7"},
        {**event, "field_name": "race", "value": "-4"},
    ]
    assert load(sim, rows, type="eav").json() == {"count": 1}
    row = first(sim, "2")
    assert (row["hb"], row["race____4"], row["race___k__9"]) == ("7", "1", "1")


def test_a_new_instance(sim: Sim) -> None:
    row = {
        "record_id": "10",
        "redcap_event_name": "log_arm_1",
        "redcap_repeat_instrument": "ae",
        "redcap_repeat_instance": "new",
        "ae_term": "third",
    }
    load(sim, [row])
    rows = sim.rows(fields=["record_id", "ae_term"], events=["log_arm_1"])
    assert rows[-1]["redcap_repeat_instance"] == 3
    assert rows[-1]["ae_term"] == "third"


@pytest.mark.full
@pytest.mark.parametrize(
    ("rows", "text"),
    [
        (
            [{**HEAD, "foo": "1", "baz": "2"}],
            "The following fields were not found in the project as real data fields: foo, baz",
        ),
        (
            [{"record_id": "1", "redcap_event_name": e, "hb": "1"} for e in ("x_1", "y_1")],
            "The following values of redcap_event_name are invalid: x_1, y_1",
        ),
        ([{**HEAD, "sex": "9"}], '"10","sex","9","The value is not a valid category for sex"'),
        (
            [{**HEAD, "race___1": "2"}],
            '"10","race___1","2","The value is not a valid category for race"',
        ),
        ([{**HEAD, "hb": "high"}], f'"10","hb","high","{FORMAT_TEXT}"'),
        ([{**HEAD, "dob": "2026-02-30"}], f'"10","dob","2026-02-30","{FORMAT_TEXT}"'),
        ([{**HEAD, "dob": "1.2.2026"}], f'"10","dob","1.2.2026","{FORMAT_TEXT}"'),
        (
            [{**HEAD, "sex": "9"}, {**HEAD, "record_id": "2", "hb": "x"}],
            '"10","sex","9","The value is not a valid category for sex"\n'
            f'"2","hb","x","{FORMAT_TEXT}"',
        ),
    ],
)
def test_bad_values_save_nothing(sim: Sim, rows: list[dict[str, str]], text: str) -> None:
    before = sim.rows()
    answer = load(sim, [{**HEAD, "hb_unit": "changed"}, *rows])
    assert (answer.status_code, answer.json()) == (400, {"error": text})
    assert sim.rows() == before


@pytest.mark.parametrize("value", ["NA", "UNK"])
def test_missing_codes_fit_every_field(sim: Sim, value: str) -> None:
    assert load(sim, [{**HEAD, "hb": value, "visit_date": value}]).status_code == 200


def test_oddities(sim: Sim) -> None:
    before = sim.rows()
    assert load(sim, {"record_id": "10", "hb": "9"}).status_code == 200
    assert load(sim, [{"record_id": "10"}]).json() == {"count": 1}
    assert sim.rows() == before
    load(sim, [{"record_id": "10", "hb": "9"}])
    assert first(sim)["hb"] == "9"
    assert load(sim, "{").status_code == 400


def test_a_user_in_a_group_creates_in_that_group(sim: Sim) -> None:
    configure(sim, tokens=[*TOKENS, {**TOKENS[3], "token": "7" * 32, "api_import": True}])
    load(sim, [{**HEAD, "record_id": "50", "hb": "1"}], "7" * 32)
    assert {r["record_id"] for r in sim.rows(token=SITE_A)} == {"10", "50"}


def test_delete(sim: Sim) -> None:
    answer = sim.call(token=WRITER, action="delete", records=["10", "2"])
    assert (answer.status_code, answer.text) == (200, "2")
    assert {r["record_id"] for r in sim.rows()} == {"331-1"}
    assert counters(sim)["imports"] == 1


def test_delete_what_does_not_exist(sim: Sim) -> None:
    answer = sim.call(token=WRITER, action="delete", records=["10", "8", "9"])
    assert answer.status_code == 400
    assert answer.json()["error"] == (
        "One or more of the records provided cannot be deleted because they do not exist in the "
        "project. The following records do not exist: 8, 9"
    )
    assert len({r["record_id"] for r in sim.rows()}) == 3


def test_the_delete_right(sim: Sim) -> None:
    configure(sim, tokens=[{**TOKENS[0], "record_delete": False}])
    answer = sim.call(action="delete", records=["10"])
    assert answer.status_code == 403
    assert answer.json() == {"error": "You do not have Delete Record privileges"}
