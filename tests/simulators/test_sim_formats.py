"""Bodies and protocol details on the wire (reference/redcap_dify.md 1.1, 1.2, 1.8)."""

from __future__ import annotations

import socket
from typing import Any

import pytest

from demo.simulators.redcap.errors import ApiError, classic, invalid_values, not_an_array
from demo.simulators.redcap.formats import error, plain, single, table
from tests.simulators.sim_study import FULL, Sim

HEAD = '<?xml version="1.0" encoding="UTF-8" ?>'


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("plain", "plain"),
        ("two words", '"two words"'),
        ('say "hi"', '"say ""hi"""'),
        ("a,b", '"a,b"'),
        ("a\nb", '"a\nb"'),
        ("a\tb", '"a\tb"'),
        ("back\\slash", '"back\\slash"'),
        ("中文", "中文"),
        ("", ""),
        (None, ""),
        (1, "1"),
        (0, "0"),
    ],
)
def test_csv_cells(value: Any, cell: str) -> None:
    assert table([{"a": value, "b": "x"}], "csv").body.decode() == f"a,b\n{cell},x\n"


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("x<y", "<![CDATA[x<y]]>"),
        ("a]]>b", "<![CDATA[a]]]]><![CDATA[>b]]>"),
        ("", ""),
        (None, ""),
        (3, "3"),
        ({"k": 1}, "<k>1</k>"),
    ],
)
def test_xml_cells(value: Any, cell: str) -> None:
    body = table([{"a": value}], "xml", root="events").body.decode()
    assert body == f"{HEAD}<events><item><a>{cell}</a></item></events>"


def test_columns_and_headers_of_csv() -> None:
    body = table([{"a": 1, "b": 2}], "csv", columns=["b", "a"], headers=["B b", "A"]).body
    assert body.decode() == '"B b",A\n2,1\n'


def test_empty_tables() -> None:
    assert table([], "json").body == b"[]"
    assert table([], "csv", columns=["a"]).body == b"\n"
    assert table([], "xml").body.decode() == f"{HEAD}<items></items>"


def test_single_objects() -> None:
    assert single({"a": 1}, "json", "items").body == b'{"a":1}'
    assert single({"a": 1}, "csv", "items").body == b"a\n1\n"
    assert single({"a": 1}, "xml", "items").body.decode() == f"{HEAD}<items><a>1</a></items>"


@pytest.mark.parametrize("form", ["json", "csv", "xml"])
def test_errors_keep_their_status(form: str) -> None:
    assert error(ApiError(418, "x"), form).status == 418


def test_plain_text() -> None:
    answer = plain("16.1.3")
    assert (answer.status, answer.body) == (200, b"16.1.3")
    assert answer.content_type.startswith("text/plain")


@pytest.mark.parametrize(
    ("problem", "text"),
    [
        (classic("arms"), "You cannot export arms for classic projects"),
        (
            invalid_values("forms", ["a", "b"]),
            "The following values in the parameter \"forms\" are not valid: 'a', 'b'",
        ),
        (
            not_an_array("events"),
            'The "events" parameter has been provided with a value, but the value is not an '
            'array. The "events" parameter must be provided as an array of one or more values.',
        ),
    ],
)
def test_error_texts(problem: ApiError, text: str) -> None:
    assert (problem.status, problem.text, str(problem)) == (400, text, text)


def talk(sim: Sim, *parts: bytes) -> bytes:
    """Send raw bytes, read until the server closes."""
    host, port = sim.url.removeprefix("http://").split(":")
    received = b""
    with socket.create_connection((host, int(port)), timeout=10) as sock:
        for part in parts:
            sock.sendall(part)
        while chunk := sock.recv(65536):
            received += chunk
    return received


FORM = f"token={FULL}&content=version".encode()
POST = b"POST /redcap/api/ HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n" % len(FORM)


def test_connection_close_is_honoured(sim: Sim) -> None:
    answer = talk(sim, POST, b"Connection: close\r\n\r\n", FORM)
    assert answer.startswith(b"HTTP/1.1 200 OK\r\n")
    assert b"\r\nConnection: close\r\n" in answer
    assert answer.endswith(b"\r\n\r\n16.1.3")


def test_http_1_0_closes(sim: Sim) -> None:
    answer = talk(sim, b"GET /_control/health HTTP/1.0\r\n\r\n")
    assert answer.endswith(b'{"ok":true}')


def test_two_requests_in_one_packet(sim: Sim) -> None:
    second = POST + b"Connection: close\r\n\r\n" + FORM
    answer = talk(sim, POST + b"\r\n" + FORM + second)
    assert answer.count(b"HTTP/1.1 200 OK") == 2


def test_a_body_that_comes_late(sim: Sim) -> None:
    answer = talk(sim, POST + b"Connection: close\r\n\r\n", FORM[:5], FORM[5:])
    assert answer.endswith(b"16.1.3")


def test_a_client_that_asks_before_it_sends(sim: Sim) -> None:
    head = POST + b"Connection: close\r\nExpect: 100-continue\r\n\r\n"
    answer = talk(sim, head, FORM)
    assert answer.startswith(b"HTTP/1.1 100 Continue\r\n")
    assert answer.endswith(b"16.1.3")


def test_a_form_in_percent_encoding(sim: Sim) -> None:
    body = f"token={FULL}&content=record&format=json&fields%5B0%5D=full%5Fname&x=a+b"
    answer = sim.http.post("/redcap/api/", content=body)
    assert [row["full_name"] for row in answer.json()] == ["张三", "李四"]
