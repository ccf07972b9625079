"""At most about two requests a second to one REDCap host.

REDCap bans an IP for good at 600 requests a minute (reference/redcap_dify.md 1.9), so the limit is
per host and per process, whatever the number of projects. A small burst keeps a person's question
from waiting behind it.
"""

import threading
import time
from collections.abc import Callable
from typing import Protocol
from urllib.parse import urlsplit

RATE = 2.0
BURST = 10


class Limiter(Protocol):
    """Whatever makes a caller wait for its turn."""

    def acquire(self) -> None:
        """Return when the next request may be sent."""


class TokenBucket:
    """`burst` requests at once, then `rate` a second, first come first served."""

    def __init__(
        self,
        rate: float = RATE,
        burst: int = BURST,
        *,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._rate, self._burst = rate, burst
        self._clock, self._sleep = clock, sleep
        self._tokens, self._seen = float(burst), clock()
        self._lock = threading.Lock()

    def acquire(self) -> None:
        """Take one token, sleeping until it exists; later callers queue behind."""
        wait = self._reserve()
        if wait > 0:
            self._sleep(wait)

    def _reserve(self) -> float:
        with self._lock:
            now = self._clock()
            earned = (now - self._seen) * self._rate
            self._tokens = min(float(self._burst), self._tokens + earned) - 1
            self._seen = now
            return max(0.0, -self._tokens / self._rate)


_buckets: dict[tuple[str, float], TokenBucket] = {}
_buckets_lock = threading.Lock()


def limiter_for(url: str, rate: float = RATE) -> TokenBucket:
    """The bucket of the host in `url`, one for the whole process."""
    key = (urlsplit(url).netloc.lower(), rate)
    with _buckets_lock:
        return _buckets.setdefault(key, TokenBucket(rate))
