"""What a request or a message asks again is read once; nothing is kept beyond it, and nothing over a write."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

from django.db import connection
from django.http import HttpRequest, HttpResponse

T = TypeVar("T")
K = TypeVar("K", bound=Hashable)
_TOGETHER = "together"
_known: ContextVar[dict[Hashable, Any] | None] = ContextVar("request_cache", default=None)


def once(key: Hashable, read: Callable[[], T]) -> T:
    """What `read` gives, for the rest of the request or until something is written or locked."""
    known = _known.get()
    if known is None:
        return read()
    if key not in known:
        known[key] = read()
    found: T = known[key]
    return found


def once_each(name: str, key: K, read: Callable[[Collection[K]], Mapping[K, T]]) -> T:
    """As `once`, of what `read` gives for several keys: for all of `together` where `key` is among them."""
    known = _known.get()
    if known is None:
        return read([key])[key]
    if (name, key) not in known:
        others = known.get(_TOGETHER, frozenset())
        found = read(others if key in others else [key])
        known.update({(name, one): found[one] for one in found})
    value: T = known[name, key]
    return value


def together(keys: Collection[Hashable]) -> None:
    """For the rest of the request, or until something is written, `once_each` reads for all of these."""
    if (known := _known.get()) is not None:
        known[_TOGETHER] = frozenset(keys)


@contextmanager
def remembered() -> Iterator[None]:
    """Within it `once` keeps what this thread reads, until something is written or locked."""
    known: dict[Hashable, Any] = {}

    def execute(run: Callable[..., Any], sql: str, *rest: Any) -> Any:
        try:
            return run(sql, *rest)
        finally:
            # PostgreSQL is asked for a union as "(SELECT". Somebody else may have written while a
            # lock was waited for.
            if not str(sql).lstrip("(").startswith("SELECT") or "FOR UPDATE" in str(sql):
                known.clear()

    token = _known.set(known)
    try:
        with connection.execute_wrapper(execute):
            yield
    finally:
        _known.reset(token)


def forget() -> None:
    """Read anew from here on: other threads may have written meanwhile."""
    if (known := _known.get()) is not None:
        known.clear()


class RequestCache:
    """A memory for each request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        with remembered():
            return self.get_response(request)
