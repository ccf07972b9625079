"""Our `atomic`: a transaction whose last statements are its audit entries.

Entries are buffered and written at the end, chains in sorted order, with one claim and one bulk insert
per chain: written as they occur, two transactions that touch a project's chain and the house's in
different order deadlock (decisions.md, "audit").
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import local
from typing import Any, TypeVar

from django.db import IntegrityError, transaction
from django.db.models import Model

T = TypeVar("T")


@dataclass
class Work:
    """What the running transaction still has to write: audit entries, and before them rows of others.

    `rows` with whether a taken key leaves them out; `notes` is for who keeps something until the commit.
    """

    entries: list[Any] = field(default_factory=list)
    rows: list[tuple[Model, bool]] = field(default_factory=list)
    notes: dict[str, Any] = field(default_factory=dict)


class _State(local):
    work: Work | None = None


_state = _State()


class OutsideTransaction(RuntimeError):
    """Something that belongs into a transaction was recorded outside of one."""


End = Callable[[list[Any]], None]
_ends: list[End] = []


def ends_with(write: End) -> End:
    """Let a function write a transaction's entries as its last statements."""
    _ends[:] = [write]
    return write


def current() -> Work:
    """The buffer of the running transaction. Raises OutsideTransaction."""
    if _state.work is None:
        raise OutsideTransaction("use house.db.atomic()")
    return _state.work


@contextmanager
def atomic() -> Iterator[None]:
    """A transaction (or savepoint) that ends with what it kept for `later` and its audit entries.

    An inner block that fails takes its own entries with it.
    """
    if _state.work is not None:
        entries, rows = len(_state.work.entries), [*_state.work.rows]
        try:
            with transaction.atomic():
                yield
        except BaseException:
            del current().entries[entries:]
            current().rows = rows
            raise
        return
    _state.work = Work()
    try:
        with transaction.atomic():
            yield
            write_now()
            for write in _ends:
                write(_state.work.entries)
    finally:
        _state.work = None


def later(*rows: Model, ignore: bool = False) -> None:
    """Insert rows at the end of the running transaction, in the order of the calls; outside of one, now.

    What many places of a transaction insert is then one statement a table. With `ignore` a row whose unique
    key is taken is left out.
    """
    if _state.work is None:
        _insert([(row, ignore) for row in rows])
    else:
        _state.work.rows += [(row, ignore) for row in rows]


def note(name: str, make: Callable[[], T]) -> T:
    """Something of the running transaction's own, made when it is first asked for; outside of one, anew."""
    if _state.work is None:
        return make()
    found: T = _state.work.notes.setdefault(name, make())
    return found


def write_now() -> None:
    """Insert what `later` has kept so far."""
    if _state.work is not None:
        rows, _state.work.rows = _state.work.rows, []
        _insert(rows)


def _insert(rows: list[tuple[Model, bool]]) -> None:
    groups: dict[tuple[type[Model], bool], list[Model]] = defaultdict(list)
    for row, ignore in rows:
        groups[type(row), ignore].append(row)
    for (model, ignore), some in groups.items():
        model._default_manager.bulk_create(some, ignore_conflicts=ignore)


def is_new(row: Model) -> bool:
    """Insert a row in the running transaction, unless a unique key of it is taken; whether it was inserted."""
    try:
        with transaction.atomic():
            row.save(force_insert=True)
    except IntegrityError:
        return False
    return True


def after_commit(call: Callable[[], object]) -> None:
    """Run `call` after the outermost commit; its failure never undoes what was committed."""
    transaction.on_commit(call, robust=True)
