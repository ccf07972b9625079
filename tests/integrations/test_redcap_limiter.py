"""At most two requests a second to a host, after a small burst (1.9)."""

from __future__ import annotations

import threading

from hypothesis import given
from hypothesis import strategies as st

from core.integrations.redcap import TokenBucket, limiter_for


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


def test_a_burst_passes_and_the_rest_waits() -> None:
    clock = Clock()
    bucket = TokenBucket(2, 10, clock=clock, sleep=clock.sleep)

    starts = []
    for _ in range(14):
        bucket.acquire()
        starts.append(clock.now - 100)

    assert starts == [0.0] * 10 + [0.5, 1.0, 1.5, 2.0]


def test_rest_refills_no_more_than_the_burst() -> None:
    clock = Clock()
    bucket = TokenBucket(2, 3, clock=clock, sleep=clock.sleep)
    clock.now += 1000

    for _ in range(4):
        bucket.acquire()

    assert clock.now == 1100.5


@given(st.lists(st.floats(0, 5), min_size=1, max_size=60))
def test_never_more_than_burst_plus_rate(pauses: list[float]) -> None:
    clock = Clock()
    bucket = TokenBucket(2, 5, clock=clock, sleep=clock.sleep)
    starts = []
    for pause in pauses:
        clock.now += pause
        bucket.acquire()
        starts.append(clock.now)

    for i, first in enumerate(starts):
        for j in range(i, len(starts)):
            assert j - i + 1 <= 5 + 2 * (starts[j] - first) + 1e-6


def test_callers_at_once_queue_up() -> None:
    waits: list[float] = []
    bucket = TokenBucket(2, 1, clock=lambda: 0.0, sleep=waits.append)
    threads = [threading.Thread(target=bucket.acquire) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(waits) == [0.5, 1.0, 1.5, 2.0]


def test_one_bucket_a_host_in_the_whole_process() -> None:
    assert limiter_for("https://r.example/a/api/") is limiter_for("https://R.example/b/api/")
    assert limiter_for("https://r.example/api/") is not limiter_for("https://s.example/api/")
