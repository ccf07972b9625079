"""A house of its own: demo study, stand-ins, and the day that cases were written for.

For `manage.py accept_model` and for the tests of the answers: neither knows anything of another house's data.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx

ROOT = Path(__file__).resolve().parents[1]
TODAY = "2026-11-23"
START_S = 300.0
_OWN = {"DATABASE_URL", "REDIS_URL"}
Json = dict[str, Any]


@dataclass
class Asking:
    """One `manage.py ask --lines` that stays open, for questions that something is done in between."""

    process: subprocess.Popen[str]

    def ask(self, line: Json) -> Json:
        """The answer to one line. Raises ValueError where the command has ended."""
        given, told = self.process.stdin, self.process.stdout
        if given is None or told is None:
            raise ValueError("no pipes")
        given.write(f"{json.dumps(line, ensure_ascii=False)}\n")
        given.flush()
        answer: Json = json.loads(told.readline())
        return answer


@dataclass
class AnswerHouse:
    """Commands of a running house; `model`: what the environment of `ask` says besides, its language model."""

    environment: dict[str, str]
    model: Mapping[str, str] = field(default_factory=dict)
    done: set[str] = field(default_factory=set)

    def command(self, *words: str) -> None:
        """A management command whose exit status is its own affair (`qc` says 1 where it finds something)."""
        subprocess.run(  # noqa: S603 - our own commands
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            check=False,
        )

    def ask(self, lines: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
        """The answers of `manage.py ask --lines`, one a line."""
        given = "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines)
        done = subprocess.run(
            [sys.executable, "manage.py", "ask", "--lines", "--json"],
            cwd=ROOT,
            env=self.environment | dict(self.model),
            input=given,
            text=True,
            encoding="utf-8",
            stdout=subprocess.PIPE,
            check=True,
        )
        return [json.loads(line) for line in done.stdout.splitlines()]

    @contextmanager
    def asking(self) -> Iterator[Asking]:
        """The same command, one question at a time."""
        process = subprocess.Popen(
            [sys.executable, "manage.py", "ask", "--lines", "--json"],
            cwd=ROOT,
            env=self.environment | dict(self.model),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            encoding="utf-8",
        )
        try:
            yield Asking(process)
        finally:
            process.communicate()


@contextmanager
def opened(
    folder: Path, model: str = "", given: Mapping[str, str] | None = None
) -> Iterator[AnswerHouse]:
    """The house, seeded for TODAY with its clock set to that day. Raises SystemExit with its log.

    `model`: the address of its language model; the demo's stand-in where it is empty. `given`: its environment
    instead of ours.
    """
    own = {"DEMO_TODAY": TODAY, "DEBUG": "1"} | ({"LLM_BASE_URL": model} if model else {})
    environment = surroundings(folder, given) | own
    with (folder / "house.log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "demo.supervisor"],
            cwd=ROOT,
            env=environment,
            stdout=log,
            stderr=log,
        )
        try:
            wait(process, f"http://127.0.0.1:{environment['PORT']}", folder / "house.log")
            yield AnswerHouse(environment)
        finally:
            process.terminate()
            process.wait()


def surroundings(folder: Path, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of a house of its own: ports that nobody uses, database and files in `folder`."""
    known = os.environ if given is None else given
    ports = {name: str(known.get(name) or free_port()) for name in ("PORT", "SIM_PORT")}
    kept = {name: known[name] for name in known if name not in _OWN}
    return kept | ports | {"VAR_DIR": str(folder)}


def wait(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    """Until the house answers. Raises SystemExit with its log when it does not."""
    end = time.monotonic() + START_S
    while time.monotonic() < end and process.poll() is None:
        try:
            if httpx.get(f"{url}/healthz", timeout=5).status_code == 200:
                return
        except httpx.HTTPError:
            pass
        time.sleep(0.5)
    raise SystemExit(log.read_text("utf-8"))


def free_port() -> int:
    """A port that nothing listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        number: int = probe.getsockname()[1]
    return number
