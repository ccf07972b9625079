"""`/simulator/` is a window on the stand-ins, with DEBUG only (contracts.md, HTTP)."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from django.test import Client
from pytest_django import Settings

SEEN: list[dict[str, str]] = []


class Echo(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def _answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        SEEN.append({name.lower(): value for name, value in self.headers.items()})
        said = f"{self.command} {self.path} ".encode() + body
        self.send_response(201 if self.command == "POST" else 200)
        self.send_header("Content-Type", "text/x-echo")
        self.send_header("Set-Cookie", "stand=in")
        self.send_header("Keep-Alive", "timeout=5")
        self.send_header("X-Page", "yes")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for piece in (said, b""):
            self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:
        """Stay quiet."""


@pytest.fixture
def page(settings: Settings) -> Iterator[None]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Echo)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    settings.DEBUG, settings.SIM_PORT = True, server.server_address[1]
    SEEN.clear()
    yield
    server.shutdown()
    thread.join()
    server.server_close()


def body(response: object) -> bytes:
    return b"".join(response.streaming_content)  # type: ignore[attr-defined]


@pytest.mark.usefixtures("page")
def test_pages_and_queries_pass(client: Client) -> None:
    response = client.get("/simulator/static/app.js?v=1&u=%E4%B8%AD")
    assert body(response) == b"GET /simulator/static/app.js?v=1&u=%E4%B8%AD "
    assert (response.status_code, response["Content-Type"]) == (200, "text/x-echo")
    assert body(client.get("/simulator/")) == b"GET /simulator/ "


@pytest.mark.usefixtures("page")
def test_posts_pass_without_a_csrf_token() -> None:
    strict = Client(enforce_csrf_checks=True)
    response = strict.post("/simulator/api/send", b'{"a": 1}', content_type="application/json")
    assert (response.status_code, body(response)) == (201, b'POST /simulator/api/send {"a": 1}')
    assert SEEN[0]["content-type"] == "application/json"


@pytest.mark.usefixtures("page")
def test_cookies_logins_and_hop_headers_stay_here(client: Client) -> None:
    client.cookies["sessionid"] = "secret"
    response = client.get("/simulator/", headers={"Authorization": "Token t"})
    body(response)
    assert not {"cookie", "authorization"} & set(SEEN[0])
    assert response["X-Page"] == "yes"
    assert not {"Keep-Alive", "Transfer-Encoding"} & set(response.headers)
    assert "stand" not in response.cookies
    assert "Set-Cookie" not in response.headers


@pytest.mark.usefixtures("page")
def test_other_methods_are_refused(client: Client) -> None:
    assert client.delete("/simulator/").status_code == 405


@pytest.mark.usefixtures("page")
def test_without_debug_there_is_no_such_page(client: Client, settings: Settings) -> None:
    settings.DEBUG = False
    assert client.get("/simulator/").status_code == 404
    assert not SEEN


def test_stand_ins_that_are_down_are_told(client: Client, settings: Settings) -> None:
    settings.DEBUG, settings.SIM_PORT = True, 9
    response = client.get("/simulator/")
    assert response.status_code == 502
    assert "make run" in response.content.decode()
