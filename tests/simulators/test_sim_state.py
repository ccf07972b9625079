"""Log, faults and clock of the shared state."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from demo.simulators import state as module
from demo.simulators.http import Request
from demo.simulators.state import Fault, State


def request(path: str = "/redcap/api/", body: str = "", query: str = "") -> Request:
    return Request("POST", path, {}, {}, body.encode(), query_string=query)


@pytest.mark.parametrize(
    ("row", "fault"),
    [
        ({"kind": "reset"}, Fault("", "", "reset", None, 1)),
        ({"kind": "delay", "value": 2, "times": 3}, Fault("", "", "delay", 2, 3)),
        ({"kind": "body", "service": None, "path": None}, Fault("", "", "body", None, 1)),
        ({"kind": "status", "times": None, "value": 500}, Fault("", "", "status", 500, None)),
    ],
)
def test_faults_are_read(row: dict[str, Any], fault: Fault) -> None:
    assert Fault.parse(row) == fault


@pytest.mark.parametrize("kind", [None, "", "Status", "timeout"])
def test_unknown_kinds_are_refused(kind: str | None) -> None:
    with pytest.raises(ValueError, match="status, body, delay, reset, timeout_after"):
        Fault.parse({"kind": kind})


@pytest.mark.parametrize(
    ("fault", "hit"),
    [
        ({}, True),
        ({"service": "redcap"}, True),
        ({"service": "dify"}, False),
        ({"path": "/api/"}, True),
        ({"path": "/apx/"}, False),
        ({"path": "?a=1"}, True),
        ({"body_contains": "record"}, True),
        ({"body_contains": "metadata"}, False),
        ({"times": 0}, False),
        ({"times": None}, True),
    ],
)
def test_what_a_fault_hits(fault: dict[str, Any], hit: bool) -> None:
    planned = Fault.parse({"kind": "status", **fault})
    assert planned.matches("redcap", request(body="content=record", query="a=1")) is hit


def test_each_use_counts_once_among_threads() -> None:
    state = State()
    state.add_faults([Fault.parse({"kind": "status", "times": 100})])
    taken: list[Fault | None] = []

    def take() -> None:
        taken.extend(state.take_fault("redcap", request()) for _ in range(50))

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(fault is not None for fault in taken) == 100


def test_the_log_drops_the_oldest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LOG_LIMIT", 3)
    state = State()
    for number in range(5):
        state.record("redcap", request(body=str(number)))
    assert [row["body"] for row in state.requests()] == ["2", "3", "4"]


def test_bodies_that_are_no_text_are_logged_all_the_same() -> None:
    state = State()
    state.record("redcap", Request("POST", "/", {}, {}, b"\xff\xfe"))
    assert state.requests()[0]["body"] == "\ufffd\ufffd"


def test_the_server_writes_shanghai_time() -> None:
    state = State()
    offset = state.local_now() - state.now().replace(tzinfo=None)
    assert round(offset.total_seconds() / 3600) == 8
    assert state.local_now().tzinfo is None


def test_listeners_hear_of_a_new_day_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEMO_TODAY", "2026-03-20")
    state = State()
    heard: list[str] = []
    state.on_today_changed.append(lambda: heard.append(state.today().isoformat()))
    for day in (20, 21, 21, 20):
        state.set_today(state.today().replace(day=day))
    assert heard == ["2026-03-21", "2026-03-20"]


def test_reset_keeps_the_day(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DEMO_TODAY", raising=False)
    state = State()
    state.set_today(state.today().replace(year=2031, day=1))
    state.record("redcap", request())
    state.add_faults([Fault.parse({"kind": "reset"})])
    state.advance(60)
    state.reset()
    assert state.today().year == 2031
    assert state.requests() == []
    assert state.take_fault("redcap", request()) is None
