"""Telling a worker that a row waits for it; a wake that is lost is found by the sweepers.

With Redis a thread of this process does it: a broker that is away, or slow, must delay neither an
acknowledgement, because WeCom waits for nothing else, nor a person's click, nor the next statement. It
publishes at once and then rests for a moment, so that under load many wakes are one message. The embedded
broker is a table beside the row's.
"""

from __future__ import annotations

import atexit
import logging
import queue
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from celery import current_app
from django.conf import settings
from kombu.exceptions import OperationalError

from core.house.db import after_commit, note

logger = logging.getLogger(__name__)

MOST = 20_000  # wakes that wait for a broker; the sweepers find what is over
AT_ONCE = 200  # wakes that are brought to the broker between two rests
PAUSE_S = 1.0
LAST_S = 2.0  # so long a process that ends waits for its last wakes


@dataclass(frozen=True)
class Wake:
    """A Celery task by its name, and what it is given; one that `takes_many` rows takes any number of them."""

    task: str
    arguments: tuple[str | int, ...]
    takes_many: bool = False


def wake(task: str, *arguments: str | int, takes_many: bool = False) -> None:
    """Queue a task for a row, or for several. Called after their commit.

    By its name: what wakes stands below what works.
    """
    if settings.REDIS_URL:
        _wakes.put(Wake(task, arguments, takes_many))
    else:
        publish(task, *arguments)


def wake_later(task: str, row: str) -> None:
    """Wake a task that takes many rows for all of a transaction's rows at once, after its commit."""
    rows = note(task, list[str])
    rows.append(row)

    def call() -> None:
        # One call a row: those of a savepoint that failed are gone, the first other one wakes all.
        if rows:
            wake(task, *dict.fromkeys(rows), takes_many=True)
            rows.clear()

    after_commit(call)


def flush(limit_s: float | None = None) -> None:
    """Wait until everything queued so far is with the broker, no longer than `limit_s` seconds."""
    _wakes.flush(limit_s)


class Wakes:
    """Tasks on their way to the broker, and the thread that brings them there."""

    def __init__(self, most: int = MOST) -> None:
        """The thread starts with the first task, and again in a process that was forked."""
        self._queue: queue.Queue[Wake] = queue.Queue(most)
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None

    def put(self, wake: Wake) -> None:
        """Leave a task to the thread, at once."""
        with self._lock:
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._work, name="wakes", daemon=True)
                self._thread.start()
        try:
            self._queue.put_nowait(wake)
        except queue.Full:
            logger.error("%s %s: left to the sweeper", wake.task, wake.arguments)

    def flush(self, limit_s: float | None = None) -> None:
        """Wait until the queue is empty, no longer than `limit_s` seconds."""
        with self._queue.all_tasks_done:
            self._queue.all_tasks_done.wait_for(self._is_empty, limit_s)

    def _is_empty(self) -> bool:
        return not self._queue.unfinished_tasks

    def _work(self) -> None:
        while True:
            taken = [self._queue.get(), *self._waiting()]
            for one in join_wakes(taken):
                while not _is_published(one):
                    time.sleep(PAUSE_S)
            for _one in taken:
                self._queue.task_done()
            time.sleep(settings.WAKE_REST_S)

    def _waiting(self) -> Iterator[Wake]:
        for _number in range(AT_ONCE - 1):
            try:
                yield self._queue.get_nowait()
            except queue.Empty:
                return


def join_wakes(wakes: Sequence[Wake]) -> list[Wake]:
    """Those of a task that takes many rows as one wake, each row once, behind the others."""
    rows: dict[str, dict[str | int, None]] = {}
    for one in wakes:
        if one.takes_many:
            rows.setdefault(one.task, {}).update(dict.fromkeys(one.arguments))
    left = [one for one in wakes if not one.takes_many]
    return left + [Wake(task, tuple(many), takes_many=True) for task, many in rows.items()]


_wakes = Wakes()
atexit.register(flush, LAST_S)


def _is_published(one: Wake) -> bool:
    """False where it is worth another try."""
    try:
        publish(one.task, *one.arguments)
    except OperationalError as error:
        logger.warning("the broker does not answer: %s", type(error).__name__)
        return False
    except Exception as error:  # the thread must outlive whatever it meets
        logger.error("%s %s not woken: %s", one.task, one.arguments, type(error).__name__)
    return True


def publish(task: str, *arguments: str | int) -> None:
    """Put a task into the broker. Raises kombu's OperationalError."""
    current_app.signature(task, args=arguments).delay()
