"""Kills one story at every boundary in turn: `python -m tests.engines.sop.crash_lab STORY STRIDE`.

`crash_lab RACE ROUNDS`: processes that meet in the same instant instead (crash_races).

A process of its own, so that it may fork: per boundary one child that dies there on a fresh copy of the
database, and one that recovers and checks. Writes JSON lines: {"points", "kinds"}, then {"point", "error"}.
"""

from __future__ import annotations

import json
import os
import ssl
import sys
from collections.abc import Callable
from datetime import timedelta
from importlib import import_module
from typing import Any, Protocol, cast

import django

from tests.engines.sop.boundaries import Boundaries
from tests.engines.sop.crash_fork import KILLED, in_child

STORIES = {
    "run": "tests.engines.sop.crash_story",
    "joined": "tests.engines.sop.crash_joined",
    "ahead": "tests.engines.sop.crash_ahead",
    "message": "tests.engines.sop.crash_message",
    "order": "tests.engines.sop.crash_order",
}


class Story(Protocol):
    """What is killed: a module with these functions."""

    def prepare(self) -> None:
        """Add to the demo study, once, before the database is copied."""

    def live(self, boundaries: Boundaries) -> None:
        """The undisturbed course; what may be killed runs inside `boundaries.watch()`."""

    def recover(self) -> None:
        """What happens by itself after a crash, and what people and WeCom do again."""

    def told(self) -> list[str]:
        """What went out and stays, to be the same with and without a crash."""

    def check(self, expected: list[str]) -> None:
        """Finished, nothing lost, nothing doubled. Raises AssertionError."""


def main(arguments: list[str]) -> int:
    # Everything is on this machine and plain HTTP: reading the certificates took half the time.
    ssl.SSLContext.load_verify_locations = _nothing  # type: ignore[method-assign]
    django.setup()
    from tests.engines.sop import crash_races, crash_store

    name, number = arguments[0], int(arguments[1])
    story = cast(Story, import_module(STORIES.get(name, STORIES["run"])))
    store = crash_store.store(f"crash_{os.getpid()}")
    store.create()
    try:
        _prepare(story)
        store.freeze()
        store.fresh()
        # Here, not in a child: what is loaded and cached on the way is warm for all children.
        expected = _warm_up(story)
        if name not in STORIES:
            return crash_races.run(crash_races.RACES[name], store.fresh, number, expected)
        return _every_point(story, store.fresh, number, expected)
    finally:
        store.drop()


def _nothing(*_given: Any, **_named: Any) -> None:
    """In place of reading certificates."""


def _every_point(story: Story, fresh: Callable[[], None], stride: int, expected: list[str]) -> int:
    total, kinds = _undisturbed(story, fresh)
    say({"points": total, "kinds": kinds, "expected": expected})
    points = range(1, total + 1, stride)
    failed = [number for number in points if not _point(story, fresh, number, expected)]
    fresh()
    status, _said = in_child(lambda: story.live(Boundaries(total + 1)))
    say({"beyond": status})
    return 1 if failed or status else 0


def _undisturbed(story: Story, fresh: Callable[[], None]) -> tuple[int, dict[str, int]]:
    def count() -> tuple[int, dict[str, int]]:
        boundaries = Boundaries()
        story.live(boundaries)
        return boundaries.count, boundaries.kinds

    fresh()
    code, said = in_child(count)
    if code:
        raise RuntimeError(said)
    total, kinds = said
    return total, kinds


def _point(story: Story, fresh: Callable[[], None], number: int, expected: list[str]) -> bool:
    def recovered() -> None:
        story.recover()
        story.check(expected)

    fresh()
    status, _said = in_child(lambda: story.live(Boundaries(number)))
    error = "" if status == KILLED else f"not killed: {status}"
    if not error:
        status, said = in_child(recovered)
        error = "" if status == 0 else str(said)
    say({"point": number, "error": error})
    return not error


def _prepare(story: Story) -> None:
    from django.conf import settings
    from django.utils.timezone import now

    from demo import runfile, seed, stand_ins
    from study import dictionary, roster
    from study.models import Dictionary

    settings.REDCAP_REQUESTS_PER_SECOND = 100_000.0
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    settings.ROSTER_MAX_AGE_S = 86_400  # the copies grow older while the lab works
    run = runfile.load()
    today = seed.day(run)
    project = seed.seed(run, today)
    stand_ins.configure(run, det_url="", today=today)
    dictionary.refresh(project)
    roster.sync_roster(project)
    seed.fill(project, today)
    story.prepare()
    # Read tomorrow: the copies grow older while the lab works, and would read it again in the middle.
    Dictionary.objects.update(read_at=now() + timedelta(days=1))


def _warm_up(story: Story) -> list[str]:
    from django.db import connections

    story.live(Boundaries())
    expected = story.told()
    assert expected
    assert len(expected) == len(set(expected)), expected
    story.check(expected)
    connections.close_all()
    return expected


def say(what: dict[str, Any]) -> None:
    """A line of the report."""
    print(json.dumps(what, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iit_manager.settings")
    sys.exit(main(sys.argv[1:]))
