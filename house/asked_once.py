"""What a page asks again and again is read once; nothing is kept beyond it, and nothing while one writes."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from contextvars import ContextVar
from typing import Any, TypeVar

from django.http import HttpRequest, HttpResponse

T = TypeVar("T")
_READING = ("GET", "HEAD")
_known: ContextVar[dict[Hashable, Any] | None] = ContextVar("asked_once", default=None)


def once(key: Hashable, read: Callable[[], T]) -> T:
    """What `read` gives, for the rest of the page where one is being read."""
    known = _known.get()
    if known is None:
        return read()
    if key not in known:
        known[key] = read()
    found: T = known[key]
    return found


class AskedOnce:
    """A memory for each request that only reads."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on."""
        token = _known.set({} if request.method in _READING else None)
        try:
            return self.get_response(request)
        finally:
            _known.reset(token)
