"""Kills one run at every boundary in turn: `python -m tests.engines.sop.crash_lab STRIDE`.

`crash_lab two ROUNDS`: two processes drive one run at the same time instead.

A process of its own, so that it may fork: per boundary one child that dies there on a fresh copy of the
database, and one that recovers and checks. Writes JSON lines: {"points", "kinds"}, then {"point", "error"}.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import django

KILLED = 9


def main(arguments: list[str]) -> int:
    django.setup()
    from tests.engines.sop import crash_store

    store = crash_store.store(f"crash_{os.getpid()}")
    store.create()
    try:
        _prepare()
        store.freeze()
        store.fresh()
        # Here, not in a child: what is loaded and cached on the way is warm for all children.
        expected = _warm_up()
        if arguments[0] == "two":
            return _two(store.fresh, int(arguments[1]), expected)
        store.fresh()
        total, kinds = _in_child(_measure)[1]
        _say({"points": total, "kinds": kinds})
        points = range(1, total + 1, int(arguments[0]))
        failed = [number for number in points if not _point(store.fresh, number, expected)]
        store.fresh()
        status, _nothing = _in_child(lambda: _lived(total + 1))
        _say({"beyond": status})
        return 1 if failed or status else 0
    finally:
        store.drop()


def _two(fresh: Callable[[], None], rounds: int, expected: list[str]) -> int:
    failed = 0
    for number in range(rounds):
        fresh()
        _in_child(_ordered)
        children = [_fork(_driven) for _worker in range(2)]
        results = [_result(child) for child in children]
        results.append(_in_child(lambda: _recovered(expected)))
        errors = [str(said) for code, said in results if code]
        failed += len(errors)
        _say({"round": number, "error": "\n".join(errors)})
    return 1 if failed else 0


def _ordered() -> None:
    from tests.engines.sop import crash_story

    crash_story.script()
    crash_story.order()


def _driven() -> None:
    """As a worker does: until there is nothing left to do, both at the same time."""
    from engines import sop
    from engines.models import TaskRun
    from engines.sop.lease import left_behind

    run = TaskRun.objects.get()
    sop.drive(run.pk)
    left_behind()
    sop.drive(run.pk)


def _prepare() -> None:
    from django.conf import settings
    from django.core.management import call_command

    from demo import runfile, seed, stand_ins
    from projects import dictionary, roster
    from tests.engines.sop import crash_story

    settings.REDCAP_REQUESTS_PER_SECOND = 100_000.0
    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
    run = runfile.load()
    today = seed.day(run)
    project = seed.seed(run, today)
    stand_ins.configure(run, det_url="", today=today)
    dictionary.refresh(project)
    roster.sync(project)
    seed.fill(project, today)
    crash_story.prepare()


def _story(fatal: int) -> Any:
    """Order, drive, approve, drive: killed at boundary `fatal`."""
    from engines import sop
    from tests.engines.sop import crash_story
    from tests.engines.sop.boundaries import Boundaries

    crash_story.script()
    boundaries = Boundaries(fatal)
    with boundaries.watch():
        run = crash_story.order()
        sop.drive(run.pk)
    crash_story.script(*crash_story.TELL)
    with boundaries.watch():
        crash_story.tell()
    run.refresh_from_db()
    return boundaries, run


def _warm_up() -> list[str]:
    from django.db import connections

    from tests.engines.sop import crash_story

    _boundaries, run = _story(0)
    expected = crash_story.outbox(run)
    assert len(expected) == len(set(expected)) >= 4, expected
    crash_story.check(run, expected)
    connections.close_all()
    return expected


def _lived(fatal: int) -> None:
    _story(fatal)


def _measure() -> tuple[int, dict[str, int]]:
    boundaries, _run = _story(0)
    return boundaries.count, boundaries.kinds


def _recovered(expected: list[str]) -> None:
    from tests.engines.sop import crash_story

    crash_story.check(crash_story.recover(), expected)


def _point(fresh: Callable[[], None], number: int, expected: list[str]) -> bool:
    fresh()
    status, _nothing = _in_child(lambda: _lived(number))
    error = "" if status == KILLED else f"not killed: {status}"
    if not error:
        status, said = _in_child(lambda: _recovered(expected))
        error = "" if status == 0 else str(said)
    _say({"point": number, "error": error})
    return not error


def _in_child(work: Callable[[], Any]) -> tuple[int, Any]:
    """Fork, work, hand the result back; (signal or exit code, result or traceback)."""
    return _result(_fork(work))


def _fork(work: Callable[[], Any]) -> tuple[int, int]:
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _work(work, writing)
    os.close(writing)
    return child, reading


def _result(forked: tuple[int, int]) -> tuple[int, Any]:
    child, reading = forked
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read()
    _pid, status = os.waitpid(child, 0)
    code = os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return code, json.loads(said) if said else None


def _work(work: Callable[[], Any], writing: int) -> None:
    code, said = 0, None
    try:
        said = work()
    except BaseException:
        code, said = 70, traceback.format_exc()[-4000:]
    os.write(writing, json.dumps(said).encode())
    os.close(writing)
    os._exit(code)


def _say(what: dict[str, Any]) -> None:
    print(json.dumps(what, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iit_manager.settings")
    sys.exit(main(sys.argv[1:] or ["1"]))
