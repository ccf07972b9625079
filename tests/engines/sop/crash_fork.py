"""Children of the lab: each does one piece of work in a process of its own and says what came of it."""

from __future__ import annotations

import json
import os
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing import get_context
from typing import Any

KILLED = 9
FAILED = 70
PATIENCE_S = 60.0
Meet = Callable[[], object]


@dataclass(frozen=True)
class Child:
    """A running child and the pipe on which it will answer."""

    pid: int
    reading: int

    def result(self) -> tuple[int, Any]:
        """(signal or exit code, what the work returned or a traceback)."""
        with os.fdopen(self.reading, "rb") as pipe:
            said = pipe.read()
        _pid, status = os.waitpid(self.pid, 0)
        code = os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
        return code, json.loads(said) if said else None


def in_child(work: Callable[[], Any]) -> tuple[int, Any]:
    """Fork, work, hand the result back."""
    return fork(work).result()


def fork(work: Callable[[], Any]) -> Child:
    """Begin; JSON of what `work` returns comes back by `result`."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        _work(work, writing)
    os.close(writing)
    return Child(child, reading)


def at_once(*works: Callable[[Meet], Any]) -> list[tuple[int, Any]]:
    """One process each; what they do after calling what they are given, they do in the same instant."""
    barrier = get_context("fork").Barrier(len(works))
    children = [fork(partial(work, partial(barrier.wait, PATIENCE_S))) for work in works]
    return [child.result() for child in children]


def _work(work: Callable[[], Any], writing: int) -> None:
    code, said = 0, None
    try:
        said = work()
    except BaseException:
        code, said = FAILED, traceback.format_exc()[-4000:]
    os.write(writing, json.dumps(said).encode())
    os.close(writing)
    os._exit(code)
