"""What a check works out once for each text: it is gone with the check, as patients' texts must be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")

_known: ContextVar[dict[object, dict[str, Any]] | None] = ContextVar("known", default=None)


@contextmanager
def keeping() -> Iterator[None]:
    """Within it, functions that are `kept` answer the same text at once; nothing outlives it."""
    before = _known.set({})
    try:
        yield
    finally:
        _known.reset(before)


def kept(function: Callable[[str], T]) -> Callable[[str], T]:
    """`function`, which works each text out once within `keeping`, and each time outside of it."""

    @wraps(function)
    def once(text: str) -> T:
        check = _known.get()
        known = {} if check is None else check.setdefault(function, {})
        if text not in known:
            known[text] = function(text)
        found: T = known[text]
        return found

    return once
