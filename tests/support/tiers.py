"""Which cases run: `make test` takes one of everything, `make test-all` all of them (contracts.md, Make)."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from zlib import crc32

import pytest

DATABASE = {"db", "transactional_db", "stand_ins"}
LONG = {"slow", "browser", "full"}
WRITES = {"transactional_db", "live_server"}
PURE = 3


def quick(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """The tier of `make test`.

    Of a table of a pure function three cases run; of a test with a database, which costs a hundred times
    as much, one, of different tests different ones. What starts processes,
    drives a browser or walks for long is left out, unless it is marked `smoke`.
    """
    for name, cases in _tests(items):
        short = [case for case in cases if not LONG & {*case.keywords}]
        if "smoke" in cases[0].keywords:
            yield from cases
        elif short:
            most = 1 if _asks_database(short[0]) else PURE
            yield from _each(short, -(-len(short) // most), name)


def full(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """All of them.

    CASE_STRIDE: of the cases of a test with a database every so many-th; PERSON_STRIDE: the same of the
    persons of a walk; LONG_STRIDE: of the tests that are marked `slow`, `browser` or `full` every
    so many-th, and those that are marked `kept` or thinned by their own stride.
    """
    case = int(os.environ.get("CASE_STRIDE") or 1)
    person = int(os.environ.get("PERSON_STRIDE") or 1)
    long = int(os.environ.get("LONG_STRIDE") or 1)
    for name, cases in _tests(items):
        marks = {*cases[0].keywords}
        if LONG & marks and not {"kept", "strided"} & marks and _place(name) % long:
            continue
        stride = person if "each_person" in cases[0].keywords else case
        yield from _each(cases, stride, name) if _asks_database(cases[0]) else cases


def beyond_quick(items: Sequence[pytest.Item]) -> set[pytest.Item]:
    """Cases of the tests that `quick` does not run whole."""
    found = set()
    for _name, cases in _tests(items):
        if "strided" in cases[0].keywords or len([*quick(cases)]) < len(cases):
            found |= {*cases}
    return found


def on_servers(items: Sequence[pytest.Item]) -> Iterator[pytest.Item]:
    """What PostgreSQL and Redis may do otherwise than the embedded default, without what takes minutes.

    Locks and races (tests that commit) and what is marked `database`; of other tests with a database
    every SERVER_STRIDE-th.
    """
    stride = int(os.environ.get("SERVER_STRIDE") or 1)
    for name, cases in _tests(items):
        kept = [item for item in cases if _asks_database(item) and not LONG & {*item.keywords}]
        if kept and (_rests_on_database(kept[0]) or _place(name) % stride == 0):
            yield from kept


def _tests(items: Sequence[pytest.Item]) -> Iterator[tuple[str, list[pytest.Item]]]:
    found: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        found[item.nodeid.partition("[")[0]].append(item)
    yield from found.items()


def _each(cases: list[pytest.Item], stride: int, name: str) -> list[pytest.Item]:
    return cases[_place(name) % min(stride, len(cases)) :: stride]


def _place(name: str) -> int:
    """Where a test stands among those of which every so many-th runs; TIER_TURN moves all of them on."""
    return crc32(name.encode()) + int(os.environ.get("TIER_TURN") or 0)


def _rests_on_database(item: pytest.Item) -> bool:
    marker = item.get_closest_marker("django_db")
    commits = (marker and marker.kwargs.get("transaction")) or WRITES & {*_fixtures(item)}
    return bool(commits or "database" in item.keywords)


def _fixtures(item: pytest.Item) -> Sequence[str]:
    found: Sequence[str] = getattr(item, "fixturenames", ())
    return found


def _asks_database(item: pytest.Item) -> bool:
    marked = {"django_db", *LONG} & {*item.keywords}
    return bool(marked or DATABASE & {*_fixtures(item)})
