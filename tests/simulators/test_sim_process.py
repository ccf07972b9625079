"""`python -m simulators` as a process."""

from __future__ import annotations

import hashlib
import hmac
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from demo.own_house import free_port

ROOT = Path(__file__).resolve().parents[2]


def start(*arguments: str, **environ: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "simulators", *arguments],
        cwd=ROOT,
        env={**os.environ, **environ},
        stderr=subprocess.PIPE,
        text=True,
    )


def wait_until_up(process: subprocess.Popen[str], port: int) -> str:
    """A refused connection returns at once, so this loop needs no sleep."""
    url = f"http://127.0.0.1:{port}"
    with httpx.Client(base_url=url, trust_env=False) as client:
        while process.poll() is None:
            try:
                assert client.get("/_control/health").json() == {"ok": True}
            except httpx.ConnectError:
                continue
            return url
    pytest.fail("the stand-ins ended by themselves")


@pytest.fixture
def running(study_dir: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    port = free_port()
    process = start("--study", str(study_dir), SIM_PORT=str(port))
    yield process, port
    process.kill()
    process.communicate()


@pytest.mark.slow
@pytest.mark.parametrize("signum", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_it_cleanly(
    running: tuple[subprocess.Popen[str], int], signum: signal.Signals
) -> None:
    process, port = running
    wait_until_up(process, port)
    process.send_signal(signum)
    _, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (0, "")


@pytest.mark.slow
def test_a_port_in_use_is_one_line(study_dir: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        process = start("--port", str(port), "--study", str(study_dir))
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert errors == f"simulators: cannot listen on port {port}: Address already in use\n"


@pytest.mark.slow
def test_all_services_are_served(running: tuple[subprocess.Popen[str], int]) -> None:
    url = wait_until_up(*running)
    assert httpx.post(f"{url}/redcap/api/").status_code == 403
    assert httpx.post(f"{url}/dify/v1/datasets/{'0' * 36}/retrieve").status_code == 401
    assert httpx.get(f"{url}/wecom/cgi-bin/gettoken").json()["errcode"] != 0
    assert httpx.post(f"{url}/llm/v1/chat/completions", json={}).status_code >= 400
    assert "html" in httpx.get(f"{url}/simulator/").headers["content-type"]
    assert httpx.get(f"{url}/_control/sent").json() == []


@pytest.mark.slow
def test_only_its_house_configures_it_and_everything_else_is_open(study_dir: Path) -> None:
    port = free_port()
    process = start("--study", str(study_dir), SIM_PORT=str(port), SIM_HOUSE_TOKEN="ours")
    try:
        url = wait_until_up(process, port)
        with httpx.Client(base_url=f"{url}/_control", trust_env=False) as client:
            body = {"dify": {"key": "k"}}
            assert client.post("/configure", json=body).status_code == 403
            theirs = client.post("/configure", json=body, headers={"X-House-Token": "theirs"})
            assert theirs.status_code == 403
            ours = client.post("/configure", json=body, headers={"X-House-Token": "ours"})
            assert ours.json() == {"ok": True}

            proof = client.get("/house", params={"nonce": "n"}).json()["house"]
            assert proof == hmac.new(b"ours", b"n", hashlib.sha256).hexdigest()

            assert client.get("/requests").json() == []
            assert client.get("/sent").json() == []
            fault = {"service": "redcap", "path": "x", "kind": "status", "value": 500}
            open_to_all = [
                ("faults", [fault]),
                ("llm/script", []),
                ("wecom/switches", {}),
                ("clock", {"advance_s": 1}),
                ("redcap/records", []),
                ("reset", None),
            ]
            answers = [client.post(path, json=content) for path, content in open_to_all]
            assert [answer.status_code for answer in answers] == [200] * len(open_to_all)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.slow
def test_started_by_hand_it_is_nobodys(running: tuple[subprocess.Popen[str], int]) -> None:
    url = wait_until_up(*running)
    assert httpx.get(f"{url}/_control/house?nonce=n").json() == {"house": ""}
    assert httpx.post(f"{url}/_control/configure", json={}).json() == {"ok": True}
