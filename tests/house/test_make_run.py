"""`make run`: everything starts, is watched, and leaves nothing behind (contracts.md, Make)."""

from __future__ import annotations

import base64
import json
import os
import random
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.house.kit import until

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("make-run")]
ROOT = Path(__file__).resolve().parents[2]
USERS = {"admin", "zhangyi", "wanghushi", "crc_b", "auditor"}
CHILDREN = {"simulators", "web", "worker", "beat"}


def free_ports() -> tuple[int, int]:
    """Two ports that stay free while a child is down.

    Below those the kernel gives to outgoing connections, of which the tests beside this one make many.
    """
    found = []
    for port in random.sample(range(20_000, 32_000), 100):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
    return found[0], found[1]


class Demo:
    """One `make run` in a `var/` and on ports of its own."""

    def __init__(self, var: Path) -> None:
        self.var = var
        self.port, self.sim_port = free_ports()
        self.mark = f"HOUSE_TEST={var}"
        self.env = {
            "PATH": os.environ["PATH"],
            "DEBUG": "1",
            "SECRET_KEY": "t" * 50,
            "FIELD_ENCRYPTION_KEYS": base64.b64encode(b"k" * 32).decode(),
            "VAR_DIR": str(var),
            "PORT": str(self.port),
            "SIM_PORT": str(self.sim_port),
            "DATABASE_URL": "",
            "REDIS_URL": "",
            "HOUSE_TEST": str(var),
        }
        self.process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> str:
        return (self.var / "terminal.log").read_text("utf-8")

    def start(self) -> None:
        # What `make run` execs; the file stands for the terminal.
        with (self.var / "terminal.log").open("wb") as terminal:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "demo.supervisor"],
                cwd=ROOT,
                env=self.env,
                stdout=terminal,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def end(self, number: int = signal.SIGTERM) -> int:
        assert self.process is not None
        os.killpg(self.process.pid, number)
        return self.process.wait(30)

    def status(self, path: str) -> int:
        try:
            return httpx.get(
                f"http://127.0.0.1:{self.port}{path}", timeout=5, trust_env=False
            ).status_code
        except httpx.HTTPError:
            return 0

    def is_ready(self) -> bool:
        assert self.process is not None
        assert self.process.poll() is None, self.log
        return self.status("/readyz") == 200

    def run(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.var / "run.json").read_text("utf-8"))
        return content

    def processes(self) -> list[str]:
        """Command lines of everything that was started, however it is related to us by now."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and self.mark in (entry / "environ").read_text(
                    "utf-8", "replace"
                ):
                    found.append((entry / "cmdline").read_text("utf-8").replace("\0", " "))
            except (OSError, PermissionError):
                continue
        return [command for command in found if command]

    def get(self, path: str, userid: str = "zhangyi") -> Any:
        token = self.run()["logins"][userid]["token"]
        answer = httpx.get(
            f"http://127.0.0.1:{self.port}{path}",
            headers={"Authorization": f"Token {token}"},
            timeout=20,
            trust_env=False,
        )
        answer.raise_for_status()
        return answer.json()


@pytest.fixture
def demo(tmp_path: Path) -> Iterator[Demo]:
    demo = Demo(tmp_path)
    yield demo
    if demo.process is not None and demo.process.poll() is None:
        demo.end()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and demo.mark in (entry / "environ").read_text(
                "utf-8", "replace"
            ):
                os.kill(int(entry.name), signal.SIGKILL)
        except OSError:
            continue


def is_alive(pid: int) -> bool:
    try:
        return "Z (zombie)" not in Path(f"/proc/{pid}/status").read_text("utf-8")
    except OSError:
        return False


def test_the_whole_life_of_a_demo(demo: Demo) -> None:
    demo.start()
    until(demo.is_ready, limit_s=120)

    run_file = demo.var / "run.json"
    assert run_file.stat().st_mode & 0o777 == 0o600
    first = until(lambda: demo.run() if demo.run().get("pids", {}).keys() >= CHILDREN else None)
    assert first["ports"] == {"web": demo.port, "simulators": demo.sim_port}
    assert first["pids"].keys() == CHILDREN | {"supervisor"}
    assert all(is_alive(pid) for pid in first["pids"].values())
    assert first["logins"].keys() == USERS
    assert all({"password", "token"} <= login.keys() for login in first["logins"].values())
    assert first["redcap_tokens"].keys() == {"full", "deidentified", "site_a", "site_b"}
    assert first["det_url"].startswith(f"http://127.0.0.1:{demo.port}/redcap/det/")

    # console, phone page, API and stand-ins answer, the logins work
    assert demo.status("/admin/login/") == 200
    assert demo.status("/simulator/") == 200
    assert demo.get("/api/v1/projects/")["results"][0]["code"] == "LUNG-IIT"
    assert len(demo.get("/api/v1/visits/?record_id=P001")["results"]) > 3
    assert httpx.post(first["det_url"], data={"record": "P001"}, trust_env=False).content == b""

    # a second house on the same ports is told so and harms nobody
    second = subprocess.run(
        [sys.executable, "-m", "demo.supervisor"],
        cwd=ROOT,
        env=demo.env,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert second.returncode == 1
    assert str(demo.port) in second.stdout
    assert "Traceback" not in second.stderr

    # whoever dies is started again, with what it left behind taken away
    for name in ("worker", "web", "simulators", "beat"):
        before = demo.run()["pids"]
        os.kill(before[name], signal.SIGKILL)
        until(
            lambda name=name, before=before: (
                demo.run()["pids"].get(name) not in {None, before[name]}
            )
        )
        until(demo.is_ready)
        after = demo.run()["pids"]
        assert {other: pid for other, pid in after.items() if other != name} == {
            other: pid for other, pid in before.items() if other != name
        }, demo.log
    until(lambda: demo.status("/simulator/") == 200)
    until(lambda: len(demo.get("/api/v1/visits/?record_id=P001")["results"]) > 3)
    assert not [line for line in demo.log.splitlines() if "ended (0)" in line]

    # the terminal shows what a person needs, once, and no noise
    for login in first["logins"].values():
        assert demo.log.count(login["password"]) == 1
    for noise in (
        "superuser privileges",
        "No hostname was supplied",
        "Traceback",
        "[queues]",
        "Configuration ->",
    ):
        assert noise not in demo.log
    for userid in USERS:
        assert first["logins"][userid]["token"] not in demo.log

    demo.end(signal.SIGTERM)
    assert demo.processes() == []
    assert not [pid for pid in demo.run()["pids"].values() if is_alive(pid)]

    # the second run keeps data and logins
    demo.start()
    until(demo.is_ready, limit_s=120)
    again = until(
        lambda: (
            demo.run() if demo.run()["pids"]["supervisor"] != first["pids"]["supervisor"] else None
        )
    )
    for kept in ("logins", "redcap_tokens", "det_url", "demo_today", "dify_key"):
        assert again[kept] == first[kept]
    assert len(demo.get("/api/v1/projects/", "admin")["results"]) == 1
    assert run_file.stat().st_mode & 0o777 == 0o600

    # a supervisor that is killed takes everything along
    os.kill(again["pids"]["supervisor"], signal.SIGKILL)
    until(lambda: demo.processes() == [], limit_s=60)


def refused(demo: Demo) -> str:
    """What the terminal shows of a start that ends by itself, with nothing seeded."""
    demo.start()
    assert demo.process is not None
    assert demo.process.wait(60) == 1, demo.log
    assert "Traceback" not in demo.log
    assert not [*demo.var.glob("*.sqlite3")]
    assert not (demo.var / "run.json").exists()
    assert demo.processes() == []
    return demo.log


def ask(demo: Demo, text: str) -> str:
    """The answer of a house to a question through its API, which a slow machine has to be asked for again."""
    token = demo.run()["logins"]["zhangyi"]["token"]
    with httpx.Client(
        base_url=f"http://127.0.0.1:{demo.port}/api/v1/chat/",
        headers={"Authorization": f"Token {token}"},
        timeout=60,
        trust_env=False,
    ) as client:
        answer = client.post("", json={"text": text, "project": "LUNG-IIT"}).raise_for_status()
        number = answer.json()["conversation_id"]

        def told() -> str:
            reply = client.get(f"{number}/").raise_for_status()
            return str(reply.json()) if reply.status_code == 200 else ""

        return str(until(told, limit_s=180))


def asked(demo: Demo) -> list[dict[str, Any]]:
    """What the stand-in REDCap of a house received; anybody may ask for that."""
    rows: list[dict[str, Any]] = httpx.get(
        f"http://127.0.0.1:{demo.sim_port}/_control/requests",
        params={"service": "redcap"},
        timeout=20,
        trust_env=False,
    ).json()
    return rows


def configure(demo: Demo, token: str) -> int:
    return httpx.post(
        f"http://127.0.0.1:{demo.sim_port}/_control/configure",
        json={"dify": {"key": "another-house"}},
        headers={"X-House-Token": token},
        trust_env=False,
    ).status_code


def seed(demo: Demo) -> subprocess.CompletedProcess[str]:
    """`manage.py demo` as a house runs it by hand."""
    command = [sys.executable, "manage.py", "demo"]
    return subprocess.run(
        command, cwd=ROOT, env=demo.env, capture_output=True, text=True, timeout=60, check=False
    )


class NotFound(BaseHTTPRequestHandler):
    """Any program that speaks HTTP."""

    def do_GET(self) -> None:
        self.send_error(404)

    def log_message(self, format: str, *args: Any) -> None:
        return


@contextmanager
def somebody(kind: str) -> Iterator[int]:
    """The port of something else on this machine."""
    if kind == "http":
        server = ThreadingHTTPServer(("127.0.0.1", 0), NotFound)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()
        server.server_close()
        return
    with socket.socket() as taken:
        taken.bind(("0.0.0.0" if kind == "anywhere" else "127.0.0.1", 0))
        taken.listen()
        yield taken.getsockname()[1]


@pytest.mark.parametrize("kind", ["mute", "anywhere", "http"])
@pytest.mark.parametrize("name", ["PORT", "SIM_PORT"])
def test_a_port_that_somebody_has_is_named_before_anything_is_seeded(
    demo: Demo, name: str, kind: str
) -> None:
    with somebody(kind) as port:
        demo.env[name] = str(port)
        log = refused(demo)
    assert str(port) in log
    assert f"{name}=" in log


def test_one_port_for_both_is_refused(demo: Demo) -> None:
    demo.env["SIM_PORT"] = demo.env["PORT"]
    assert demo.env["PORT"] in refused(demo)


def test_two_houses_have_each_their_own_stand_ins(
    demo: Demo, tmp_path_factory: pytest.TempPathFactory
) -> None:
    other = Demo(tmp_path_factory.mktemp("other"))
    try:
        for house in (demo, other):
            house.start()
        for house in (demo, other):
            until(house.is_ready, limit_s=180)
            until(lambda house=house: house.run().get("pids", {}).keys() >= CHILDREN)
        secret = demo.run()["house_token"]
        assert secret != other.run()["house_token"]
        assert secret not in demo.log

        # each answers from its own, as its own
        for house, quiet in ((demo, other), (other, demo)):
            before = len(asked(quiet)), len(asked(house))
            assert "P001" in ask(house, "P001 入组了吗?")
            assert (len(asked(quiet)), len(asked(house)) > before[1]) == (before[0], True)

        # only its house configures a stand-in
        assert configure(demo, "") == configure(demo, other.run()["house_token"]) == 403
        keys = demo.run()["dify_key"]
        assert configure(demo, secret) == 200
        assert seed(demo).returncode == 0
        assert demo.run()["dify_key"] == keys

        # a third one that is pointed at the first one's stand-ins is told so and leaves them alone
        third = Demo(tmp_path_factory.mktemp("third"))
        third.env["SIM_PORT"] = str(demo.sim_port)
        assert str(demo.sim_port) in refused(third)
        by_hand = seed(third)
        assert by_hand.returncode == 1
        assert str(demo.sim_port) in by_hand.stderr
        assert "Traceback" not in by_hand.stderr
        assert not (third.var / "run.json").exists()
        assert "P001" in ask(demo, "P001 入组了吗?")
    finally:
        other.end()


def test_who_comes_a_moment_later_seeds_nothing(
    demo: Demo, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Both found the port free: the slower one's stand-ins cannot listen, and those there are not its own."""
    other = Demo(tmp_path_factory.mktemp("other"))
    other.env["SIM_PORT"] = demo.env["SIM_PORT"]
    try:
        for house in (demo, other):
            house.start()
        assert demo.process is not None
        assert other.process is not None
        ended = until(
            lambda: [
                one for one in (demo, other) if one.process and one.process.poll() is not None
            ],
            limit_s=120,
        )
        assert len(ended) == 1
        (loser,) = ended
        winner = other if loser is demo else demo
        assert loser.process is not None
        assert loser.process.returncode == 1
        assert demo.env["SIM_PORT"] in loser.log
        assert not [*loser.var.glob("*.sqlite3")]
        until(winner.is_ready, limit_s=120)
    finally:
        for house in (demo, other):
            if house.process is not None and house.process.poll() is None:
                house.end()


def test_ctrl_c_in_the_middle_of_starting_leaves_nothing(demo: Demo) -> None:
    demo.start()
    until(lambda: len(demo.processes()) > 1, limit_s=60)
    demo.end(signal.SIGINT)
    assert demo.processes() == []
    assert "Traceback" not in demo.log
