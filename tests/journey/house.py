"""The house as processes of its own: what `make run` starts, on free ports and an empty `var/`."""

from __future__ import annotations

import base64
import json
import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import httpx

from demo.own_house import free_port

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 400.0


def wait(condition: Callable[[], Any], what: str) -> Any:
    """Poll until `condition` is true; fails the test with `what` otherwise."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        try:
            if value := condition():
                return value
        except httpx.HTTPError:
            pass
        time.sleep(0.1)
    raise AssertionError(f"waited in vain: {what}")


class House:
    """Ports, environment and processes."""

    def __init__(self, var: Path, env: dict[str, str]) -> None:
        self.var = var
        self.port, self.sim_port = free_port(), free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.sim = f"http://127.0.0.1:{self.sim_port}"
        key = base64.b64encode(secrets.token_bytes(32)).decode()
        own = {
            "VAR_DIR": str(var),
            "PORT": str(self.port),
            "SIM_PORT": str(self.sim_port),
            "DEBUG": "1",
            "SECRET_KEY": secrets.token_urlsafe(48),
            "FIELD_ENCRYPTION_KEYS": key,
        }
        self.env = dict(os.environ) | own | env
        self.processes: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str, *command: str) -> None:
        log = (self.var / f"{name}.log").open("ab")
        self.processes[name] = subprocess.Popen(
            [sys.executable, *command],
            cwd=ROOT,
            env=self.env,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        log.close()

    def manage(self, *command: str) -> str:
        done = subprocess.run(
            [sys.executable, "manage.py", *command],
            cwd=ROOT,
            env=self.env,
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    def kill(self, name: str, number: int = signal.SIGKILL) -> None:
        process = self.processes.pop(name)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, number)
        process.wait()

    def stop(self) -> None:
        for name in list(self.processes):
            self.kill(name)

    def is_ready(self) -> bool:
        return httpx.get(f"{self.url}/readyz", timeout=5).status_code == 200

    def run_file(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.var / "run.json").read_text("utf-8"))
        return content

    def control(self, path: str, content: Any = None) -> Any:
        url = f"{self.sim}/_control/{path}"
        answer = (
            httpx.get(url, timeout=30)
            if content is None
            else httpx.post(url, json=content, timeout=60)
        )
        answer.raise_for_status()
        return answer.json()

    def answers(self, user: str) -> list[str]:
        """Texts that WeCom delivered to a member, passive replies left out."""
        found = self.control("sent")
        return [row["content"] for row in found if row["to"] == user and row["type"] == "text"]

    def log(self, name: str) -> str:
        return (self.var / f"{name}.log").read_text("utf-8", "replace")[-4000:]


@contextmanager
def house(var: Path) -> Iterator[House]:
    """A house that is gone at the end, with its database where it had one."""
    var.mkdir(parents=True, exist_ok=True)
    with database() as env:
        made = House(var, env)
        try:
            yield made
        finally:
            made.stop()


@contextmanager
def database() -> Iterator[dict[str, str]]:
    url = os.environ.get("DATABASE_URL")
    if not url:
        yield {}
        return
    import psycopg

    name = f"iit_journey_{secrets.token_hex(4)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    try:
        redis = os.environ.get("REDIS_URL", "")
        own = f"{redis.rpartition('/')[0]}/{8 if redis else ''}"
        yield {"DATABASE_URL": urlunsplit(urlsplit(url)._replace(path=f"/{name}"))} | (
            {"REDIS_URL": own} if redis else {}
        )
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
