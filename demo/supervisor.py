"""`make run`: stand-ins, web, worker and beat under one roof (contracts.md, Make).

A child that dies is started again with growing pauses. Ctrl-C or SIGTERM ends every child and its
children; if the supervisor itself is killed the kernel kills the children, who may be killed at any time.
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from types import FrameType

import django
import httpx

from demo import house, stand_ins
from demo.children import Spec, specs

GRACE_S = 10.0
MAX_PAUSE_S = 30.0
STEADY_S = 20.0
PR_SET_PDEATHSIG = 1


@dataclass
class Child:
    """One process and when it may be started again."""

    spec: Spec
    process: subprocess.Popen[bytes] | None = None
    started: float = 0.0
    failures: int = 0
    not_before: float = field(default=0.0)

    def start(self) -> None:
        """Start the process in a group of its own, so that all of it can be ended."""
        self.started = time.monotonic()
        self.process = subprocess.Popen(  # noqa: S603 - our own commands (demo.children)
            self.spec.command,
            env=os.environ | self.spec.env,
            start_new_session=True,
            preexec_fn=_die_with_parent,
        )

    def is_running(self) -> bool:
        """Whether the process lives."""
        return self.process is not None and self.process.poll() is None

    def revive(self) -> bool:
        """Start a dead process again when its pause is over; True when it was started."""
        clock = time.monotonic()
        if self.is_running():
            return False
        if self.process is not None:
            self._note_death(clock)
        if clock < self.not_before:
            return False
        self.start()
        return True

    def _note_death(self, clock: float) -> None:
        code = self.process.returncode if self.process else None
        self.failures = 0 if clock - self.started > STEADY_S else self.failures + 1
        pause = min(MAX_PAUSE_S, 0.5 * 2**self.failures)
        self.not_before = clock + pause
        self.signal(signal.SIGKILL)  # what it started and left behind still holds its port
        self.process = None
        say(f"{self.spec.name} ended ({code}), starting again in {pause:.0f} s")

    def signal(self, number: int) -> None:
        """Send a signal to the process and everything it started."""
        if self.process is not None:
            try:
                os.killpg(self.process.pid, number)
            except ProcessLookupError:
                return


def _die_with_parent() -> None:
    # Not SIGTERM: Celery's beat loses one that comes while it reads its schedule, and then stays.
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def say(text: str) -> None:
    """A line for the person at the terminal."""
    print(text, flush=True)


class Supervisor:
    """Starts, watches and ends the children."""

    def __init__(self) -> None:
        """Nothing runs yet."""
        self.children: list[Child] = []
        self.ending = threading.Event()

    def run(self) -> int:
        """Until a signal comes; returns the exit code."""
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._on_signal)
        try:
            return self._run()
        finally:
            self._end()

    def _run(self) -> int:
        if why := house.refusal():
            say(why)
            return 1
        self.children = [Child(spec) for spec in specs(house.token())]
        self.children[0].start()
        if not self._stand_ins_are_ours():
            if house.was_overtaken():
                say(stand_ins.taken())
            return 1
        house.prepare()
        if self.ending.is_set():
            return 1
        house.seed()
        self._watch()
        if self._until(house.web_answers):
            say(house.welcome())
        while not self.ending.is_set():
            self._watch()
            time.sleep(0.3)
        return 0

    def _watch(self) -> None:
        for child in self.children:
            is_first = child is self.children[0]
            if child.revive() and is_first and self._stand_ins_are_ours():
                house.seed()
        house.note({c.spec.name: c.process.pid for c in self.children if c.process is not None})

    def _stand_ins_are_ours(self) -> bool:
        """Whether our stand-ins come up; what answers in their place is neither seeded nor configured."""
        child = self.children[0]
        answered = self._until(lambda: not child.is_running() or house.stand_ins_answer())
        return answered and child.is_running()

    def _until(self, condition: Callable[[], bool], limit_s: float = 60.0) -> bool:
        end = time.monotonic() + limit_s
        while not self.ending.is_set() and time.monotonic() < end:
            try:
                if condition():
                    return True
            except httpx.HTTPError:
                pass
            time.sleep(0.2)
        return False

    def _on_signal(self, number: int, frame: FrameType | None) -> None:
        self.ending.set()

    def _end(self) -> None:
        for child in self.children:
            child.signal(signal.SIGTERM)
        end = time.monotonic() + GRACE_S
        while time.monotonic() < end and any(child.is_running() for child in self.children):
            time.sleep(0.1)
        for child in self.children:
            child.signal(signal.SIGKILL)
            if child.process is not None:
                child.process.wait()


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iit_manager.settings")
    django.setup()
    sys.exit(Supervisor().run())
