"""A house of its own for the answers: demo study, stand-ins, and the day that the cases were written for."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.fuzz.api import ROOT, surroundings, wait

TODAY = "2026-11-23"
Json = dict[str, Any]


@dataclass
class Asking:
    """One `manage.py ask --lines` that stays open, for questions that something is done in between."""

    process: subprocess.Popen[str]

    def ask(self, line: Json) -> Json:
        """The answer to one line. Raises ValueError where the command has ended."""
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(f"{json.dumps(line, ensure_ascii=False)}\n")
        self.process.stdin.flush()
        answer: Json = json.loads(self.process.stdout.readline())
        return answer


@dataclass
class AnswerHouse:
    """Commands of a running house."""

    environment: dict[str, str]
    done: set[str] = field(default_factory=set)

    def command(self, *words: str) -> None:
        """A management command whose exit status is its own affair (`qc` says 1 where it finds something)."""
        subprocess.run(
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
            env=self.environment,
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
            env=self.environment,
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
def opened(folder: Path, model: str = "") -> Iterator[AnswerHouse]:
    """The house, seeded for TODAY with its clock set to that day.

    `model`: the address of its language model; the demo's stand-in where it is empty.
    """
    own = {"DEMO_TODAY": TODAY, "DEBUG": "1"} | ({"LLM_BASE_URL": model} if model else {})
    environment = surroundings(folder) | own
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
