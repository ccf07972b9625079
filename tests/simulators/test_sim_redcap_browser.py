"""POST /_control/redcap/records: changes as a CRC makes them, and the trigger (1.10)."""

from __future__ import annotations

import queue
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

import pytest

from demo.simulators.http import Request, Response
from demo.simulators.server import start_in_thread
from demo.simulators.state import State
from tests.simulators.sim_study import SITE_A, Sim, configure


class Receiver:
    """The product's side of the trigger."""

    name = "receiver"
    prefix = "/det/"

    def __init__(self) -> None:
        self.requests: queue.Queue[Request] = queue.Queue()

    def handle(self, request: Request) -> Response:
        self.requests.put(request)
        return Response.text("")

    def reset(self) -> None:
        pass

    def configure(self, settings: dict[str, Any]) -> None:
        pass

    def control(self, path: str, request: Request) -> None:
        return None

    def next(self) -> dict[str, str]:
        request = self.requests.get(timeout=10)
        assert request.method == "POST"
        assert request.headers["content-type"] == "application/x-www-form-urlencoded"
        return {name: values[0] for name, values in parse_qs(request.text).items()}


@pytest.fixture
def receiver(sim: Sim) -> Iterator[Receiver]:
    service = Receiver()
    server = start_in_thread(State(), [service])
    configure(sim, det_url=f"{server.url}/det/secret/")
    yield service
    server.stop()


def save(sim: Sim, *rows: dict[str, Any]) -> None:
    assert sim.control("redcap/records", list(rows)) == {"ok": True, "saved": len(rows)}


def test_a_save_changes_the_values(sim: Sim) -> None:
    row = {"record": "10", "event": "v1_arm_1", "instrument": "labs", "instance": None}
    save(sim, {**row, "values": {"hb": "140", "visit_date": "{{T-1}}"}})
    found = sim.rows(records=["10"], events=["v1_arm_1"])[0]
    assert (found["hb"], found["visit_date"], found["labs_complete"]) == ("140", "2026-03-19", "0")


def test_other_values_of_the_row_stay(sim: Sim) -> None:
    row = {"record": "10", "event": "screening_arm_1", "instrument": "labs"}
    save(sim, {**row, "values": {"hb": ""}})
    found = sim.rows(records=["10"], events=["screening_arm_1"])[0]
    assert (found["hb"], found["hb_unit"], found["labs_complete"]) == ("", "g/L", "1")


@pytest.mark.parametrize(
    ("values", "ticks"),
    [
        ({"race": ["k>=9"]}, ("0", "0", "1")),
        ({"race": []}, ("0", "0", "0")),
        ({"race___1": "0"}, ("0", "1", "0")),
        ({"race___k__9": "1"}, ("1", "1", "1")),
    ],
)
def test_checkboxes(sim: Sim, values: dict[str, Any], ticks: tuple[str, ...]) -> None:
    row = {"record": "10", "event": "screening_arm_1", "instrument": "demographics"}
    save(sim, {**row, "values": values})
    found = sim.rows(records=["10"], fields=["race"])
    first = found[0] if found else {"race___1": "0", "race____4": "0", "race___k__9": "0"}
    assert tuple(first.values()) == ticks


def test_a_new_record_in_a_group(sim: Sim) -> None:
    row = {"record": "12", "event": "screening_arm_1", "instrument": "demographics"}
    save(sim, {**row, "dag": "site_a", "values": {"sex": "1"}})
    assert {r["record_id"] for r in sim.rows(token=SITE_A)} == {"10", "12"}


def test_instances(sim: Sim) -> None:
    row = {"record": "10", "event": "log_arm_1", "instrument": "ae"}
    save(sim, {**row, "values": {"ae_term": "new"}})
    save(sim, {**row, "instance": 1, "values": {"ae_term": "changed"}})
    terms = {
        r["redcap_repeat_instance"]: r["ae_term"]
        for r in sim.rows(fields=["record_id", "ae_term"], events=["log_arm_1"])
    }
    assert terms == {1: "changed", 2: "Rash", 3: "new"}


def test_a_missing_event_is_the_first_and_a_missing_form_the_fields(sim: Sim) -> None:
    save(sim, {"record": "2", "values": {"hb": "55"}})
    assert sim.rows(records=["2"], fields=["hb"]) == [{"hb": "55"}]


@pytest.mark.parametrize(
    ("row", "word"),
    [
        ({"record": "2", "values": {"nosuch": "1"}}, "nosuch"),
        ({"record": "2", "values": {}}, "instrument"),
        ({"record": "2", "instrument": "nosuch", "values": {"hb": "1"}}, "nosuch"),
        ({"record": "2", "event": "nosuch", "values": {"hb": "1"}}, "nosuch"),
        (
            {"record": "2", "event": "log_arm_1", "instrument": "labs", "values": {"hb": "1"}},
            "labs",
        ),
        ({"record": "nosuch", "delete": True}, "nosuch"),
        ({"values": {"hb": "1"}}, "record"),
    ],
)
def test_bad_saves_change_nothing(sim: Sim, row: dict[str, Any], word: str) -> None:
    before = sim.rows()
    answer = sim.try_control("redcap/records", [{"record": "2", "values": {"hb": "1"}}, row])
    assert answer.status_code == 400
    assert word in answer.json()["error"]
    assert sim.rows() == before


def test_reset_brings_the_loaded_study_back(sim: Sim) -> None:
    before = sim.rows()
    save(sim, {"record": "2", "values": {"hb": "1"}})
    assert sim.rows() != before
    sim.control("reset", {})
    assert sim.rows() == before


def test_the_trigger_of_a_base_row(sim: Sim, receiver: Receiver) -> None:
    row = {"record": "10", "event": "v1_arm_1", "instrument": "labs", "user": "crc01"}
    save(sim, {**row, "values": {"hb": "1", "labs_complete": "2"}})
    assert receiver.next() == {
        "project_id": "14",
        "username": "crc01",
        "instrument": "labs",
        "record": "10",
        "redcap_event_name": "v1_arm_1",
        "redcap_data_access_group": "site_a",
        "labs_complete": "2",
        "redcap_url": f"{sim.url}/redcap/",
        "project_url": f"{sim.url}/redcap/redcap_v16.1.3/index.php?pid=14",
    }


def test_the_trigger_of_a_repeating_form(sim: Sim, receiver: Receiver) -> None:
    row = {"record": "331-1", "event": "log_arm_1", "instrument": "ae"}
    save(sim, {**row, "values": {"ae_term": "x"}})
    fields = receiver.next()
    assert fields["redcap_repeat_instrument"] == "ae"
    assert fields["redcap_repeat_instance"] == "1"
    assert fields["ae_complete"] == "0"
    assert "redcap_data_access_group" not in fields


def test_the_trigger_of_a_repeating_event(sim: Sim, receiver: Receiver) -> None:
    row = {"record": "10", "event": "diary_arm_1", "instrument": "diary", "instance": 2}
    save(sim, {**row, "values": {"pain": "1"}})
    fields = receiver.next()
    assert fields["redcap_repeat_instance"] == "2"
    assert "redcap_repeat_instrument" not in fields


def test_one_trigger_per_save(sim: Sim, receiver: Receiver) -> None:
    save(sim, {"record": "10", "values": {"hb": "1"}}, {"record": "2", "values": {"hb": "2"}})
    assert {receiver.next()["record"], receiver.next()["record"]} == {"10", "2"}
    assert receiver.requests.empty()


def test_nobody_listening_harms_nothing(sim: Sim) -> None:
    configure(sim, det_url="http://127.0.0.1:9/det/")
    save(sim, {"record": "10", "values": {"hb": "1"}})
    assert sim.call("version").status_code == 200


def test_the_url_is_kept_over_a_reset(sim: Sim, receiver: Receiver) -> None:
    sim.control("reset", {})
    save(sim, {"record": "10", "values": {"hb": "1"}})
    assert receiver.next()["record"] == "10"


def test_an_import_fires_no_trigger(sim: Sim, receiver: Receiver) -> None:
    from tests.simulators.sim_study import WRITER

    assert sim.call(token=WRITER, data='[{"record_id":"10","hb":"3"}]').json() == {"count": 1}
    save(sim, {"record": "2", "values": {"hb": "1"}})
    assert receiver.next()["record"] == "2"
    assert receiver.requests.empty()
