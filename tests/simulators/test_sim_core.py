"""Server, request log, faults, clock, configuration (contracts.md, Stand-ins)."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest

from demo.simulators.http import Headers, Request, Response
from demo.simulators.server import RunningServer, start_in_thread
from demo.simulators.state import State
from tests.house.kit import until


class Echo:
    """Answers what it was asked, and remembers what it was told."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.prefix = f"/{name}/"
        self.handled = 0
        self.settings: dict[str, Any] = {}

    def handle(self, request: Request) -> Response:
        self.handled += 1
        if request.path.endswith("/crash"):
            raise RuntimeError("a bug of the stand-in")
        if request.path.endswith("/nothing"):
            return Response(204)
        return Response.json(
            {
                "method": request.method,
                "path": request.path,
                "query": request.query,
                "body": request.text,
                "form": request.form(),
                "agent": request.headers.get("USER-agent"),
                "ip": request.client_ip,
            }
        )

    def reset(self) -> None:
        self.handled = 0

    def configure(self, settings: dict[str, Any]) -> None:
        self.settings |= settings

    def control(self, path: str, request: Request) -> Response | None:
        if path == "missing":
            return None
        return Response.json({"service": self.name, "path": path, "method": request.method})


class Setup:
    """A server with two services, `redcap` and `wecom`."""

    def __init__(self) -> None:
        self.state = State()
        self.redcap = Echo("redcap")
        self.wecom = Echo("wecom")
        self.server: RunningServer = start_in_thread(self.state, [self.redcap, self.wecom])
        self.http = httpx.Client(base_url=self.server.url, timeout=10, trust_env=False)

    def fault(self, **fault: Any) -> None:
        assert self.http.post("/_control/faults", json=[fault]).status_code == 200

    def log(self, service: str = "") -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.http.get(
            "/_control/requests", params={"service": service}
        ).json()
        return found

    @property
    def address(self) -> tuple[str, int]:
        host, port = self.server.url.removeprefix("http://").split(":")
        return host, int(port)


@pytest.fixture
def core() -> Iterator[Setup]:
    setup = Setup()
    yield setup
    setup.http.close()
    setup.server.stop()


def test_health(core: Setup) -> None:
    assert core.http.get("/_control/health").json() == {"ok": True}


@pytest.mark.parametrize("path", ["/", "/nosuch/", "/_control/nosuch", "/_control/redcap/missing"])
def test_unknown_paths(core: Setup, path: str) -> None:
    assert core.http.get(path).status_code == 404


def test_a_service_gets_the_whole_request(core: Setup) -> None:
    answer = core.http.post(
        "/redcap/a%20b/?x=1&x=2&y=", content="a=1&b=&a=2", headers={"User-Agent": "me"}
    )
    assert answer.json() == {
        "method": "POST",
        "path": "/redcap/a b/",
        "query": {"x": ["1", "2"], "y": [""]},
        "body": "a=1&b=&a=2",
        "form": {"a": ["1", "2"], "b": [""]},
        "agent": "me",
        "ip": "127.0.0.1",
    }


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_methods(core: Setup, method: str) -> None:
    assert core.http.request(method, "/redcap/").json()["method"] == method


def test_head_has_no_body(core: Setup) -> None:
    answer = core.http.head("/redcap/")
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) > 0


def test_no_content(core: Setup) -> None:
    assert core.http.get("/redcap/nothing").status_code == 204
    assert core.http.get("/redcap/").status_code == 200


def test_chunked_bodies(core: Setup) -> None:
    chunks = iter([b"one ", b"two ", "三".encode()])
    assert core.http.post("/redcap/", content=chunks).json()["body"] == "one two 三"


def test_a_large_body(core: Setup) -> None:
    text = "x" * 3_000_000
    assert core.http.post("/redcap/", content=text).json()["body"] == text


def test_many_requests_on_one_connection(core: Setup) -> None:
    connection = http.client.HTTPConnection(*core.address, timeout=10)
    connection.connect()
    sock = connection.sock
    for number in range(50):
        connection.request("POST", "/redcap/", body=str(number))
        answer = connection.getresponse()
        assert (answer.version, answer.status) == (11, 200)
        answer.read()
    assert connection.sock is sock
    connection.close()
    assert [row["body"] for row in core.log("redcap")] == [str(n) for n in range(50)]


@pytest.mark.full
def test_parallel_connections(core: Setup) -> None:
    def send(number: int) -> None:
        httpx.post(f"{core.server.url}/redcap/", content=str(number), trust_env=False)

    threads = [threading.Thread(target=send, args=(n,)) for n in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(row["body"]) for row in core.log()) == list(range(32))


def test_a_bug_in_a_service_is_a_500(core: Setup, capfd: pytest.CaptureFixture[str]) -> None:
    assert core.http.get("/redcap/crash").status_code == 500
    assert "a bug of the stand-in" in capfd.readouterr().err
    assert core.http.get("/redcap/").status_code == 200


def test_the_request_log(core: Setup) -> None:
    before = core.state.timestamp()
    core.http.post("/redcap/api/?q=1", content="甲")
    core.http.get("/wecom/cgi-bin/gettoken")
    first, second = core.log()
    assert (first["service"], first["method"], first["path"]) == ("redcap", "POST", "/redcap/api/")
    assert (first["query"], first["body"]) == ("q=1", "甲")
    assert before <= first["time"] <= second["time"]
    assert [row["path"] for row in core.log("wecom")] == ["/wecom/cgi-bin/gettoken"]
    assert core.log("dify") == []


def test_control_calls_are_not_logged(core: Setup) -> None:
    core.http.get("/_control/health")
    assert core.log() == []


def test_a_service_may_stay_out_of_the_log(core: Setup) -> None:
    core.redcap.logged = False  # type: ignore[attr-defined]
    core.http.get("/redcap/")
    assert core.log() == []


def test_status_fault_once(core: Setup) -> None:
    core.fault(service="redcap", path="", kind="status", value=503)
    answer = core.http.get("/redcap/")
    assert (answer.status_code, answer.text) == (503, "")
    assert core.redcap.handled == 0
    assert core.http.get("/redcap/").status_code == 200
    assert len(core.log()) == 2


def test_status_fault_with_a_body(core: Setup) -> None:
    value = {"status": 502, "body": "<html>Bad Gateway</html>", "content_type": "text/html"}
    core.fault(service="redcap", path="", kind="status", value=value)
    answer = core.http.get("/redcap/")
    assert (answer.status_code, answer.text) == (502, "<html>Bad Gateway</html>")
    assert answer.headers["content-type"] == "text/html"


def test_status_fault_with_a_json_body(core: Setup) -> None:
    core.fault(service="wecom", path="", kind="status", value={"status": 429, "body": {"e": 1}})
    answer = core.http.get("/wecom/")
    assert (answer.status_code, answer.json()) == (429, {"e": 1})
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    ("value", "body"), [("[]", "[]"), ('[{"rec', '[{"rec'), ({"errcode": -1}, '{"errcode":-1}')]
)
def test_body_fault(core: Setup, value: Any, body: str) -> None:
    core.fault(service="redcap", path="", kind="body", value=value)
    answer = core.http.get("/redcap/")
    assert (answer.status_code, answer.text) == (200, body)


@pytest.mark.parametrize(("times", "statuses"), [(2, [500, 500, 200]), (None, [500, 500, 500])])
def test_times(core: Setup, times: int | None, statuses: list[int]) -> None:
    core.fault(service="redcap", path="", kind="status", value=500, times=times)
    assert [core.http.get("/redcap/").status_code for _ in range(3)] == statuses


def test_a_fault_hits_its_service_and_path_only(core: Setup) -> None:
    core.fault(service="wecom", path="message/send", kind="status", value=500)
    assert core.http.get("/redcap/message/send").status_code == 200
    assert core.http.get("/wecom/gettoken").status_code == 200
    assert core.http.get("/wecom/message/send").status_code == 500


def test_a_fault_for_all_services(core: Setup) -> None:
    core.fault(service="", path="?page=2", kind="status", value=500)
    assert core.http.get("/wecom/?page=1").status_code == 200
    assert core.http.get("/wecom/?page=2").status_code == 500


def test_a_fault_for_one_kind_of_body(core: Setup) -> None:
    core.fault(service="redcap", kind="status", value=500, body_contains="content=record")
    assert core.http.post("/redcap/", content="content=metadata").status_code == 200
    assert core.http.post("/redcap/", content="content=record").status_code == 500


def test_faults_come_in_the_order_planned(core: Setup) -> None:
    for status in (500, 502):
        core.fault(service="redcap", path="", kind="status", value=status)
    assert [core.http.get("/redcap/").status_code for _ in range(3)] == [500, 502, 200]


def test_one_fault_without_a_list(core: Setup) -> None:
    fault = {"service": "redcap", "path": "", "kind": "status", "value": 500}
    assert core.http.post("/_control/faults", json=fault).json()["planned"] == 1


@pytest.mark.parametrize("body", [b"{", b'[{"kind":"melt"}]', b'[{"service":"redcap"}]', b"[1]"])
def test_bad_faults_are_refused(core: Setup, body: bytes) -> None:
    assert core.http.post("/_control/faults", content=body).status_code == 400
    assert core.http.get("/redcap/").status_code == 200


def test_delay_then_the_answer(core: Setup) -> None:
    core.fault(service="redcap", path="", kind="delay", value=0.3)
    with pytest.raises(httpx.ReadTimeout):
        core.http.get("/redcap/", timeout=0.05)
    core.fault(service="redcap", path="", kind="delay", value=0.01)
    assert core.http.get("/redcap/").json()["path"] == "/redcap/"


def test_who_is_held_back_over_a_reset_takes_nothing_of_what_comes_after(core: Setup) -> None:
    core.fault(service="redcap", path="", kind="delay", value=1)
    with ThreadPoolExecutor(1) as pool:
        held = pool.submit(core.http.get, "/redcap/")
        assert until(lambda: core.log("redcap"))
        core.http.post("/_control/reset")
        with pytest.raises(httpx.TransportError):
            held.result(30)
    assert core.redcap.handled == 0


def test_reset_comes_before_processing(core: Setup) -> None:
    core.fault(service="redcap", path="", kind="reset")
    with socket.create_connection(core.address, timeout=10) as sock:
        sock.sendall(b"GET /redcap/ HTTP/1.1\r\nHost: x\r\n\r\n")
        with pytest.raises(ConnectionResetError):
            sock.recv(100)
    assert core.redcap.handled == 0
    assert len(core.log()) == 1


def test_timeout_after_processes_and_never_answers(core: Setup) -> None:
    core.fault(service="redcap", path="", kind="timeout_after", value=60)
    with pytest.raises(httpx.ReadTimeout):
        core.http.get("/redcap/", timeout=0.2)
    assert core.redcap.handled == 1


def test_timeout_after_ends_without_an_answer(core: Setup) -> None:
    core.fault(service="redcap", path="", kind="timeout_after", value=0.01)
    with pytest.raises(httpx.RemoteProtocolError):
        core.http.get("/redcap/")


def test_stopping_does_not_wait_for_a_fault() -> None:
    setup = Setup()
    setup.fault(service="redcap", path="", kind="timeout_after", value=3600)
    with pytest.raises(httpx.ReadTimeout):
        setup.http.get("/redcap/", timeout=0.1)
    setup.http.close()
    setup.server.stop()
    with pytest.raises(OSError, match="refused"), socket.create_connection(setup.address):
        pass


def test_clock(core: Setup) -> None:
    before = core.state.now()
    assert core.http.post("/_control/clock", json={"advance_s": 86400}).json()["ok"] is True
    assert (core.state.now() - before).days == 1
    core.http.post("/_control/clock", json={"advance_s": 86400})
    assert (core.state.now() - before).days == 2
    core.http.post("/_control/reset")
    assert (core.state.now() - before).days == 0
    assert core.http.post("/_control/clock", json={"advance": 1}).status_code == 400


def test_every_service_gets_its_part_of_the_configuration(core: Setup) -> None:
    body = {"today": "2026-03-20", "redcap": {"det_url": "x"}}
    assert core.http.post("/_control/configure", json=body).json() == {"ok": True}
    assert core.redcap.settings == {"det_url": "x"}
    assert core.wecom.settings == {}
    assert core.state.today().isoformat() == "2026-03-20"


@pytest.mark.parametrize("body", [{"nosuch": {}}, {"today": "tomorrow"}, []])
def test_a_bad_configuration_is_refused(core: Setup, body: Any) -> None:
    assert core.http.post("/_control/configure", json=body).status_code == 400


def test_reset_keeps_the_configuration(core: Setup) -> None:
    core.http.post("/_control/configure", json={"redcap": {"a": 1}})
    core.fault(service="redcap", path="", kind="status", value=500, times=None)
    core.http.get("/redcap/")
    assert core.http.post("/_control/reset").json() == {"ok": True}
    assert core.log() == []
    assert core.http.get("/redcap/").status_code == 200
    assert (core.redcap.handled, core.redcap.settings) == (1, {"a": 1})


@pytest.mark.parametrize(
    ("path", "service", "rest"),
    [
        ("wecom/push", "wecom", "push"),
        ("wecom/a/b/", "wecom", "a/b"),
        ("redcap/records", "redcap", "records"),
        ("sent", "wecom", "sent"),
        ("aibot/push", "wecom", "aibot/push"),
    ],
)
def test_control_routes_of_services(core: Setup, path: str, service: str, rest: str) -> None:
    answer = core.http.post(f"/_control/{path}").json()
    assert answer == {"service": service, "path": rest, "method": "POST"}


def test_headers_are_read_without_regard_to_case() -> None:
    headers = Headers({"Content-Type": "a"})
    assert headers["content-TYPE"] == "a"
    assert headers.get("x") is None
    assert (list(headers), len(headers)) == (["content-type"], 1)


def test_response_json_is_raw_utf8() -> None:
    assert Response.json({"a": "受试者"}).body == '{"a":"受试者"}'.encode()
    assert Response.text("é", 201, "text/html").body == "é".encode()
