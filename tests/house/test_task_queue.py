"""The broker only wakes, and nobody who is acknowledged waits for it (wecom.md 9.1)."""

from __future__ import annotations

import threading

import pytest
from kombu.exceptions import OperationalError
from pytest_django import Settings

from core.house import task_queue
from core.house.task_queue import Wake, Wakes, join_wakes

TASK = "inbox"


@pytest.fixture
def published(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    seen: list[int] = []
    monkeypatch.setattr(task_queue, "PAUSE_S", 0.0)
    monkeypatch.setattr(task_queue, "publish", lambda _task, pk: seen.append(pk))
    return seen


class Hanging:
    """A broker that answers when it is told to."""

    def __init__(self, seen: list[int]) -> None:
        self.seen, self.asked, self.answers = seen, threading.Event(), threading.Event()

    def __call__(self, _task: str, pk: int) -> None:
        self.asked.set()
        self.answers.wait(30)
        self.seen.append(pk)


def test_a_broker_that_hangs_holds_nobody_up(
    published: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = Hanging(published)
    monkeypatch.setattr(task_queue, "publish", broker)
    mine = Wakes()
    for pk in (1, 2, 3):
        mine.put(Wake(TASK, (pk,)))
    assert published == []
    broker.answers.set()
    mine.flush()
    assert published == [1, 2, 3]


def test_what_does_not_fit_is_left_to_the_sweeper(
    published: list[int], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broker = Hanging(published)
    monkeypatch.setattr(task_queue, "publish", broker)
    mine = Wakes(most=1)
    mine.put(Wake(TASK, (1,)))
    assert broker.asked.wait(30)
    mine.put(Wake(TASK, (2,)))
    mine.put(Wake(TASK, (3,)))
    assert "inbox (3,): left to the sweeper" in caplog.text
    broker.answers.set()
    mine.flush()
    assert published == [1, 2]


def test_a_broker_that_is_away_is_asked_again(
    published: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    failures = iter(
        [OperationalError("away"), OperationalError("still"), None, ValueError("a bug")]
    )

    def away(_task: str, pk: int) -> None:
        if error := next(failures, None):
            raise error
        published.append(pk)

    monkeypatch.setattr(task_queue, "publish", away)
    mine = Wakes()
    for pk in (1, 2, 3):
        mine.put(Wake(TASK, (pk,)))
    mine.flush()
    assert published == [1, 3]


def test_a_process_that_ends_does_not_wait_for_ever(
    published: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    broker = Hanging(published)
    monkeypatch.setattr(task_queue, "publish", broker)
    mine = Wakes()
    mine.put(Wake(TASK, (1,)))
    mine.flush(limit_s=0.0)
    assert published == []
    broker.answers.set()
    mine.flush()
    assert published == [1]


def test_the_embedded_broker_is_written_at_once(published: list[int], settings: Settings) -> None:
    settings.REDIS_URL = ""
    task_queue.wake(TASK, 5)
    assert published == [5]


def test_many_wakes_of_one_task_are_one_message(
    monkeypatch: pytest.MonkeyPatch, settings: Settings
) -> None:
    """The first goes at once; what comes while the broker is busy waits for it, and goes together."""
    settings.WAKE_REST_S = 0.0
    asked, answers = threading.Event(), threading.Event()
    seen: list[tuple[str | int, ...]] = []

    def publish(_task: str, *rows: str | int) -> None:
        asked.set()
        answers.wait(30)
        seen.append(rows)

    monkeypatch.setattr(task_queue, "publish", publish)
    mine = Wakes()
    mine.put(Wake(TASK, ("li",), takes_many=True))
    assert asked.wait(30)
    for rows in (("wang", "li"), ("li",), ("zhang",)):
        mine.put(Wake(TASK, rows, takes_many=True))
    answers.set()
    mine.flush()
    assert seen == [("li",), ("wang", "li", "zhang")]


def test_only_tasks_that_take_many_are_joined() -> None:
    other = "outbox"
    rows = [
        Wake(TASK, ("a",), takes_many=True),
        Wake(other, (1,)),
        Wake(TASK, ("b", "a"), takes_many=True),
        Wake(other, (2,)),
    ]
    together = Wake(TASK, ("a", "b"), takes_many=True)
    assert join_wakes(rows) == [Wake(other, (1,)), Wake(other, (2,)), together]
