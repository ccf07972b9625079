"""Outages of REDCap, and what they do to a careless client (reference/redcap_dify.md 1.8, 2.1)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
import redcap.request
from redcap import Project, RedcapError

from tests.simulators.sim_study import FULL, Sim

HTML = "<html><body><h1>502 Bad Gateway</h1></body></html>"
BAD_GATEWAY = {"status": 502, "body": HTML, "content_type": "text/html"}
MEMORY = (
    "REDCap ran out of server memory. The request cannot be processed. Please try "
    "importing/exporting a smaller amount of data."
)


@pytest.fixture(autouse=True)
def _close_session() -> Iterator[None]:
    yield
    redcap.request._session.close()


@pytest.fixture
def project(sim: Sim) -> Project:
    return Project(f"{sim.url}/redcap/api/", FULL)


def fault(sim: Sim, **values: Any) -> None:
    sim.control("faults", [{"service": "redcap", "path": "", **values}])


def test_500_without_a_body_is_an_empty_csv_for_pycap(sim: Sim, project: Project) -> None:
    assert project.metadata
    fault(sim, kind="status", value=500)
    assert project.export_records(format_type="csv") == ""


def test_an_html_page_is_data_for_pycap(sim: Sim, project: Project) -> None:
    assert project.metadata
    fault(sim, kind="status", value=BAD_GATEWAY)
    assert project.export_records(format_type="csv") == HTML


def test_an_outage_makes_the_project_classic_for_pycap(sim: Sim, project: Project) -> None:
    fault(sim, kind="status", value=BAD_GATEWAY)
    assert project.is_longitudinal is False
    assert Project(f"{sim.url}/redcap/api/", FULL).is_longitudinal is True


def test_a_bad_token_makes_the_project_classic_for_pycap(sim: Sim) -> None:
    assert Project(f"{sim.url}/redcap/api/", "9" * 32).is_longitudinal is False


def test_500_without_a_body_is_a_decode_error_in_json(sim: Sim, project: Project) -> None:
    fault(sim, kind="status", value=500)
    with pytest.raises(RedcapError):
        project.export_metadata()


@pytest.mark.full
@pytest.mark.parametrize(
    ("value", "status", "body"),
    [
        ({"status": 500, "body": ""}, 500, ""),
        ({"status": 500, "body": {"error": MEMORY}}, 500, f'{{"error":"{MEMORY}"}}'),
        (
            {"status": 200, "body": f"<b>Fatal error</b>{MEMORY}"},
            200,
            f"<b>Fatal error</b>{MEMORY}",
        ),
        ({"status": 403, "body": {"error": "x"}}, 403, '{"error":"x"}'),
        (504, 504, ""),
    ],
)
def test_answers_of_a_broken_server(sim: Sim, value: Any, status: int, body: str) -> None:
    fault(sim, kind="status", value=value)
    answer = sim.call()
    assert (answer.status_code, answer.text) == (status, body)
    assert sim.call().json()


def test_a_body_cut_short_is_no_json(sim: Sim) -> None:
    fault(sim, kind="body", value='[{"record_id":"10","hb":"1')
    with pytest.raises(ValueError, match="Unterminated"):
        sim.call().json()


def test_an_empty_list_hides_everything(sim: Sim) -> None:
    fault(sim, kind="body", value=[])
    assert sim.rows() == []
    assert len(sim.rows()) == 8


def test_one_content_may_fail_alone(sim: Sim) -> None:
    fault(sim, kind="status", value=503, times=None, body_contains="content=record")
    assert sim.call().status_code == 503
    assert sim.rows("metadata")
    sim.control("reset", {})
    assert sim.rows()


def test_a_reset_connection_reaches_no_data(sim: Sim) -> None:
    fault(sim, kind="reset")
    with pytest.raises(httpx.TransportError):
        sim.call()
    assert sim.control("redcap/counters")["calls"] == {}
    assert len(sim.control("requests?service=redcap")) == 1


def test_an_ambiguous_import_happened(sim: Sim) -> None:
    from tests.simulators.sim_study import WRITER

    fault(sim, kind="timeout_after", value=0.01)
    data = '[{"record_id":"2","hb":"77"}]'
    with pytest.raises(httpx.RemoteProtocolError):
        sim.call(token=WRITER, data=data)
    assert sim.rows(records=["2"], fields=["hb"]) == [{"hb": "77"}]


def test_a_value_may_change_between_two_calls(sim: Sim) -> None:
    first = sim.rows(records=["2"], fields=["hb"])
    sim.control("redcap/records", [{"record": "2", "values": {"hb": "100"}}])
    assert (first, sim.rows(records=["2"], fields=["hb"])) == ([{"hb": "99"}], [{"hb": "100"}])


def test_the_token_is_seen_in_the_log_of_requests(sim: Sim) -> None:
    sim.rows("project")
    body = sim.control("requests?service=redcap")[0]["body"]
    assert body == f"token={FULL}&content=project&format=json"


@pytest.mark.full
def test_readers_and_writers_at_once(sim: Sim) -> None:
    """Every read sees whole saves: both values of one save or neither."""
    torn: list[Any] = []

    def write(number: int) -> None:
        values = {"hb": str(number), "bmi": str(number)}
        row = {"record": "2", "event": "screening_arm_1", "instrument": "labs", "values": values}
        with httpx.Client(base_url=sim.url, trust_env=False) as client:
            for _ in range(10):
                client.post("/_control/redcap/records", json=[row])

    def read() -> None:
        data = {"token": FULL, "content": "record", "format": "json", "records[0]": "2"}
        data |= {"fields[0]": "hb", "fields[1]": "bmi"}
        with httpx.Client(base_url=sim.url, trust_env=False) as client:
            for _ in range(10):
                row = client.post("/redcap/api/", data=data).json()[0]
                torn.extend([row] if row["hb"] != row["bmi"] else [])

    write(1)
    threads = [threading.Thread(target=write, args=(n,)) for n in (1, 2)]
    threads += [threading.Thread(target=read) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert torn == []
    assert sim.control("redcap/counters")["calls"]["record"] == 20
