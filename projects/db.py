"""Our `atomic`: a transaction whose last statements are its audit entries.

Entries are buffered and written at the end, chains in sorted order, with one claim and one bulk insert
per chain: written as they occur, two transactions that touch a project's chain and the house's in
different order deadlock (decisions.md, "audit").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import local
from typing import Any

from django.db import transaction


@dataclass
class Work:
    """What the running transaction still has to write."""

    entries: list[Any] = field(default_factory=list)


class _State(local):
    work: Work | None = None


_state = _State()


class OutsideTransaction(RuntimeError):
    """Something that belongs into a transaction was recorded outside of one."""


def current() -> Work:
    """The buffer of the running transaction. Raises OutsideTransaction."""
    if _state.work is None:
        raise OutsideTransaction("use projects.db.atomic()")
    return _state.work


@contextmanager
def atomic() -> Iterator[None]:
    """A transaction (or savepoint) that ends with its audit entries.

    An inner block that fails takes its own entries with it.
    """
    if _state.work is not None:
        kept = len(_state.work.entries)
        try:
            with transaction.atomic():
                yield
        except BaseException:
            del current().entries[kept:]
            raise
        return
    from projects.audit import flush

    _state.work = Work()
    try:
        with transaction.atomic():
            yield
            flush(_state.work.entries)
    finally:
        _state.work = None


def after_commit(call: Callable[[], object]) -> None:
    """Run `call` after the outermost commit; its failure never undoes what was committed."""
    transaction.on_commit(call, robust=True)
