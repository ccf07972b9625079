"""One policy for REDCap, Dify, the LLM and WeCom: what is written, what names stand for, redirects."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from pytest_django import Settings

from core.integrations.dify import DifyClient
from core.integrations.llm import LlmClient, Message
from core.integrations.redcap import RedcapClient, RedcapError
from core.integrations.redcap.limiter import TokenBucket
from core.integrations.wecom import SendError, WecomClient, respond
from core.privacy.gate import Gate
from core.privacy.outbound_policy import OutsideRefused, check_url
from tests.wecom_standin import MemoryTokens

DATASET = "6f1d1a52-3c1f-4d0c-9a57-5f1b7f0c2d11"
REAL = socket.getaddrinfo
ALLOWED = [
    "http://127.0.0.1:9000/v1",
    "http://localhost/v1",
    "http://[::1]:80/v1",
    "https://127.0.0.1/v1",
    "https://api.deepseek.com/v1",
    "https://redcap.hospital.example:8443/redcap/api/",
    "https://8.8.8.8/v1",
    "https://[2606:4700::1111]/",
    "https://[::ffff:8.8.8.8]/",
    "https://医院.example/api/",
]
REFUSED = [
    "http://api.deepseek.com/v1",
    "http://8.8.8.8/v1",
    "http://10.0.0.5/v1",
    "https://10.0.0.5/v1",
    "https://192.168.1.7/v1",
    "https://172.16.0.1/v1",
    "https://100.64.0.1/v1",
    "https://127.0.0.2/v1",
    "https://[fd12::1]/v1",
    "https://[fec0::1]/v1",
    "https://169.254.169.254/latest",
    "https://[fe80::1]/v1",
    "https://[fe80::1%25eth0]/v1",
    "https://[fd00:ec2::254]/latest",
    "https://100.100.100.200/latest",
    "https://168.63.129.16/v1",
    "https://0.0.0.0/v1",
    "https://[::]/v1",
    "https://224.0.0.1/v1",
    "https://255.255.255.255/v1",
    "https://[::ffff:10.0.0.5]/",
    "https://[::ffff:169.254.169.254]/",
    "https://[::10.0.0.5]/",
    "https://[2002:0a00:0005::1]/",
    "https://[64:ff9b::a00:5]/",
    "http://[::ffff:8.8.8.8]/",
    "https://2130706433/v1",
    "https://167772165/v1",
    "https://0177.0.0.1/v1",
    "https://0x7f.0.0.1/v1",
    "https://0x7f000001/v1",
    "https://127.1/v1",
    "https://127.0.0.1./v1",
    "https://１２７.0.0.1/v1",
    "http://0/v1",
    "http://127。0。0。1/v1",
    "http://%31%32%37.0.0.1/v1",
    "http://localhost.evil.example/v1",
    "http://127.0.0.1@evil.example/v1",
    "https://user:secret@evil.example/v1",
    "https://user@evil.example/v1",
    "https://@evil.example/v1",
    "https://evil.example\\@127.0.0.1/v1",
    "https://evil.example\t/v1",
    "https://evil.example/v1\r\nHost: x",
    " https://evil.example/v1",
    "ftp://127.0.0.1/v1",
    "file:///etc/passwd",
    "gopher://127.0.0.1/",
    "//evil.example/v1",
    "http://127.0.0.1:port/",
    "https://evil.example:99999/",
    "http://[::1",
    "https:///v1",
    "",
    "127.0.0.1",
]


@pytest.mark.parametrize("url", ALLOWED)
def test_https_and_the_named_addresses_of_the_house_are_allowed(url: str) -> None:
    check_url(url)


@pytest.mark.parametrize("url", REFUSED)
def test_every_other_address_is_refused(url: str) -> None:
    with pytest.raises(OutsideRefused):
        check_url(url)


def test_a_private_address_needs_the_leave_of_the_environment(settings: Settings) -> None:
    settings.PRIVATE_HTTP_HOSTS = ["10.0.0.0/24", "nonsense", "192.168.1.7", "8.8.8.8"]
    for scheme in ("http", "https"):
        for host in ("10.0.0.5", "192.168.1.7:8000", "[::ffff:10.0.0.9]"):
            check_url(f"{scheme}://{host}/v1")
    for url in (
        "http://10.0.1.5/v1",
        "https://10.0.1.5/v1",
        "http://8.8.8.8/v1",
        "http://intranet/v1",
    ):
        with pytest.raises(OutsideRefused):
            check_url(url)
    for url in (
        "http://127.0.0.1/v1",
        "https://127.0.0.1/v1",
        "http://localhost/v1",
        "http://[::1]/",
    ):
        with pytest.raises(OutsideRefused):
            check_url(url)


def test_naming_everything_names_no_link_and_no_public_address(settings: Settings) -> None:
    settings.PRIVATE_HTTP_HOSTS = ["0.0.0.0/0", "::/0"]
    check_url("http://10.0.0.5/v1")
    for host in (
        "169.254.169.254",
        "[fd00:ec2::254]",
        "100.100.100.200",
        "0.0.0.0",
        "8.8.8.8",
        "[fe80::1]",
    ):
        with pytest.raises(OutsideRefused):
            check_url(f"http://{host}/v1")


# --- the four clients


def _redcap(base: str) -> object:
    unlimited = TokenBucket(1000, 1000)
    return RedcapClient(f"{base}/api/", "T" * 32, limiter=unlimited, sleep=lambda _: None).project()


def _dify(base: str) -> object:
    return DifyClient(f"{base}/v1", "key", DATASET, sleep=lambda _: None).retrieve(Gate().text("x"))


def _llm(base: str) -> object:
    client = LlmClient(base_url=f"{base}/v1", api_key="k", model="m", sleep=lambda _: None)
    return client.complete([Message("user", Gate().text("x"))])


def _wecom(base: str) -> object:
    return WecomClient(f"{base}/cgi-bin", "ww", 1, "secret", MemoryTokens()).check_token()


def _bot(base: str) -> object:
    return respond(base, f"{base}/cgi-bin/aibot/response?code=1", {})


CLIENTS: dict[str, Callable[[str], object]] = {
    "REDCap": _redcap,
    "Dify": _dify,
    "LLM": _llm,
    "WeCom": _wecom,
    "bot": _bot,
}


def outcome(name: str, base: str) -> str:
    """What the client says of an address: the policy's words, or another trouble's name."""
    try:
        found = CLIENTS[name](base)
    except RedcapError as error:
        return error.text
    except Exception as error:
        return str(error) if isinstance(error, OutsideRefused) else type(error).__name__
    return found.detail if isinstance(found, SendError) else repr(found)


class Listener:
    """A server that answers every request with `answer` and keeps what it was sent."""

    def __init__(self, answer: bytes = b"") -> None:
        self.answer = answer
        self.received: list[bytes] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        threading.Thread(target=self._serve, daemon=True).start()

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            with connection:
                self.received.append(connection.recv(65536))
                connection.sendall(self.answer)

    def close(self) -> None:
        self._socket.close()


@pytest.fixture
def listen() -> Iterator[Callable[..., Listener]]:
    made: list[Listener] = []

    def one(answer: bytes = b"") -> Listener:
        made.append(Listener(answer))
        return made[-1]

    yield one
    for listener in made:
        listener.close()


@contextmanager
def names(**answers: list[str]) -> Iterator[list[str]]:
    """A name server of this process: `answers` in turn, the last one from then on; yields what was asked."""
    asked: list[str] = []

    def look_up(host: Any, port: Any, *args: Any, **kwargs: Any) -> list[Any]:
        key = str(host).split(".")[0]
        if key not in answers:
            return REAL(host, port, *args, **kwargs)
        asked.append(key)
        turn = answers[key][min(asked.count(key), len(answers[key])) - 1]
        family = socket.AF_INET6 if ":" in turn else socket.AF_INET
        return [(family, socket.SOCK_STREAM, 6, "", (turn, port))]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", look_up)
        yield asked


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize(
    "address",
    ["127.0.0.1", "::1", "::ffff:127.0.0.1", "10.0.0.5", "169.254.169.254", "fd00:ec2::254", "0.0.0.0"],
)  # fmt: skip
def test_what_a_name_stands_for_counts(
    name: str, address: str, listen: Callable[..., Listener], settings: Settings
) -> None:
    settings.PRIVATE_HTTP_HOSTS = []
    server = listen()
    with names(redcap=[address]):
        assert "not allowed" in outcome(name, f"https://redcap.example.org:{server.port}")
    assert server.received == []


@pytest.mark.parametrize("name", CLIENTS)
def test_a_name_is_looked_up_once_and_that_address_is_connected_to(
    name: str, listen: Callable[..., Listener], settings: Settings
) -> None:
    """A name server that answers differently the second time (DNS rebinding) is not asked twice."""
    settings.PRIVATE_HTTP_HOSTS = []
    server, connected = listen(), []

    def connect(self: socket.socket, address: Any) -> None:
        connected.append(address[0])
        raise OSError("nobody there")

    with names(rebound=["8.8.8.8", "127.0.0.1"]) as asked, pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", connect)
        outcome(name, f"https://rebound.example.org:{server.port}")
    assert connected == ["8.8.8.8"]
    assert asked
    assert server.received == []


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize(
    "base",
    ["http://127.0.0.1:{port}", "https://127.0.0.1:{port}", "https://2130706433:{port}", "http://8.8.8.8:{port}"],
)  # fmt: skip
def test_what_the_operator_did_not_name_is_not_asked(
    name: str, base: str, listen: Callable[..., Listener], settings: Settings
) -> None:
    settings.PRIVATE_HTTP_HOSTS = []
    server = listen()
    said = outcome(name, base.format(port=server.port))
    assert said in {
        "an address inside the house is named in PRIVATE_HTTP_HOSTS",
        "an address is written as four numbers",
        "outside of the house only https is allowed",
    }
    assert server.received == []


@pytest.mark.parametrize("name", CLIENTS)
def test_a_named_address_is_asked(
    name: str, listen: Callable[..., Listener], settings: Settings
) -> None:
    settings.PRIVATE_HTTP_HOSTS = ["127.0.0.1"]
    server = listen(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
    outcome(name, f"http://127.0.0.1:{server.port}")
    assert server.received


@pytest.mark.parametrize("name", CLIENTS)
@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_where_an_answer_points_nobody_goes(
    name: str, status: int, listen: Callable[..., Listener]
) -> None:
    other = listen()
    head = f"HTTP/1.1 {status} Moved\r\nLocation: http://127.0.0.1:{other.port}/api/\r\n"
    server = listen(head.encode() + b"Content-Length: 0\r\nConnection: close\r\n\r\n")
    outcome(name, f"http://127.0.0.1:{server.port}")
    assert server.received
    assert other.received == []
