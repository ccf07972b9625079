"""What a request asks again and again is read once; nothing is kept beyond it, and nothing over a write."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from typing import Any, TypeVar

from django.db import connection
from django.http import HttpRequest, HttpResponse

T = TypeVar("T")
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


class RequestCache:
    """A memory for each request."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        known: dict[Hashable, Any] = {}

        def execute(run: Callable[..., Any], sql: str, *rest: Any) -> Any:
            try:
                return run(sql, *rest)
            finally:
                # Somebody else may have written while a lock was waited for.
                if not str(sql).startswith("SELECT") or "FOR UPDATE" in str(sql):
                    known.clear()

        token = _known.set(known)
        try:
            with connection.execute_wrapper(execute):
                return self.get_response(request)
        finally:
            _known.reset(token)
