"""Cells of a record as keys: what is known of one cell of a column is looked up in one go.

Studies repeat their values, so a column's table remembers, for each cell it met, all that the rules
want to know of it. Tables are bounded; what does not fit is computed again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any, TypeAlias

MAX_CACHED = 4096

Known: TypeAlias = tuple[Any, ...]
Reader: TypeAlias = Callable[[Mapping[str, Any]], Iterable[Any]]


class SlowRecordError(Exception):
    """A cell that only the closures can take."""


class Table(dict[Any, Known]):
    """cell → `answer(cell)`, remembered within bounds unless it holds what a caller may change."""

    def __init__(self, answer: Callable[[Any], Known]) -> None:
        super().__init__()
        self._answer = answer

    def __missing__(self, cell: Any) -> Known:
        known = self._answer(cell)
        if len(self) >= MAX_CACHED:
            self.clear()
        if not any(isinstance(value, list | dict) for value in known):
            self[cell] = known
        return known


def reader(names: tuple[str, ...], absent: Any) -> Reader:
    """A function that reads the columns of a record, `absent` for what is not there."""
    pick = _picker(names)

    def read(data: Mapping[str, Any]) -> Iterable[Any]:
        try:
            return pick(data)
        except KeyError:
            return [data.get(name, absent) for name in names]

    return read


def checked_reader(
    names: tuple[str, ...], plain: frozenset[type], prepare: Callable[[Any], Any]
) -> Reader:
    """As `reader`; cells of other types than `plain` are made into keys by `prepare`."""
    pick = _picker(names)

    def read(data: Mapping[str, Any]) -> Iterable[Any]:
        try:
            cells = pick(data)
        except KeyError:
            cells = tuple(map(data.get, names))
        return cells if plain.issuperset(map(type, cells)) else map(prepare, cells)

    return read


def _picker(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], tuple[Any, ...]]:
    return itemgetter(*names) if len(names) > 1 else lambda data: (data[names[0]],)
