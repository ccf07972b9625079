"""A batch of rows by columns: what a sweep looks at once instead of once per rule.

A study repeats its values, so each cell becomes a code of one byte. A question about one column is
then asked per distinct cell and spread over the rows by `bytes.translate`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any, TypeAlias, TypeVar

SIZE = 1_000
_BYTE = 256
T = TypeVar("T")
Prepare: TypeAlias = Callable[[Sequence[Any]], Sequence[Any]]


def chunks(items: Iterable[T], size: int = SIZE) -> Iterator[list[T]]:
    """`items` in lists of at most `size`."""
    source = iter(items)
    while chunk := list(islice(source, size)):
        yield chunk


class _UnfitError(Exception):
    """A cell that has to be prepared before it can be looked up."""


class Index(dict[Any, int]):
    """cell → code of one column, kept from batch to batch; codes fit a byte or are given up.

    `prepare` makes a column's cells so that equal ones are alike; `plain` are the types it would
    leave as they are. (A truth equals the number 1: where numbers occur, every cell is looked at.)
    """

    def __init__(self, prepare: Prepare, plain: frozenset[type]) -> None:
        super().__init__()
        self.prepare = prepare
        self.has_numbers = False
        self.is_wide = False
        self._plain = plain
        self._distinct: list[Any] = []
        self._tables: dict[int, bytes] = {}

    def __missing__(self, cell: Any) -> int:
        if type(cell) not in self._plain:
            raise _UnfitError
        self.has_numbers = self.has_numbers or isinstance(cell, int | float)
        code = self[cell] = len(self._distinct)
        self._distinct.append(cell)
        return code

    def codes(self, cells: Sequence[Any]) -> bytes | None:
        """One byte per cell; None for a column of too many different ones."""
        for _attempt in range(0 if self.is_wide else 2):
            try:
                return bytes(map(self.__getitem__, cells))
            except ValueError:
                self.clear()
                self._distinct, self._tables = [], {}
        self.is_wide = True
        return None

    def table(self, answers: Mapping[Any, int]) -> bytes:
        """code → `answers[cell]`, for `bytes.translate`."""
        table = self._tables.get(id(answers), b"")
        if len(table) < len(self._distinct):
            table += bytes(map(answers.__getitem__, self._distinct[len(table) :]))
            self._tables[id(answers)] = table
        return table.ljust(_BYTE, b"\0")

    def listed(self, answers: Mapping[Any, T]) -> list[T]:
        """code → `answers[cell]`."""
        return list(map(answers.__getitem__, self._distinct))


class Cells:
    """The cells of one column in a batch."""

    __slots__ = ("_codes", "_index", "cells")

    def __init__(self, index: Index, cells: Sequence[Any]) -> None:
        self._index = index
        self.cells = cells
        self._codes: bytes | None = None
        if not self._look_up():
            self.cells = index.prepare(cells)
            self._codes = index.codes(self.cells)

    def _look_up(self) -> bool:
        """Codes of the cells as they are; False where they have to be prepared first."""
        if self._index.has_numbers or self._index.is_wide:
            return False
        try:
            self._codes = self._index.codes(self.cells)
        except _UnfitError:
            return False
        return not (self._index.has_numbers or self._index.is_wide)

    def states(self, answers: Mapping[Any, int]) -> bytes:
        """`answers[cell]` of every row, each a number up to 255."""
        if self._codes is None:
            return bytes(map(answers.__getitem__, self.cells))
        return self._codes.translate(self._index.table(answers))

    def values(self, answers: Mapping[Any, T]) -> list[T]:
        """`answers[cell]` of every row."""
        if self._codes is None:
            return list(map(answers.__getitem__, self.cells))
        return list(map(self._index.listed(answers).__getitem__, self._codes))


def columns(
    indices: Mapping[str, Index], rows: Sequence[Mapping[str, Any]], absent: Any
) -> dict[str, Cells]:
    """name → column of `rows`; `absent` stands for a key that is not there."""
    names = tuple(indices)
    if not names:
        return {}
    pick: Callable[[Mapping[str, Any]], Sequence[Any]] = itemgetter(*names, names[0])
    try:
        picked = list(map(pick, rows))
    except KeyError:
        picked = [tuple(row.get(name, absent) for name in (*names, names[0])) for row in rows]
    found = zip(names, zip(*picked, strict=True), strict=False)
    return {name: Cells(indices[name], cells) for name, cells in found}


def compared(
    compare: Callable[[Any, Any], bool],
    first: Comparable,
    second: Comparable,
    gap: Callable[[int], int],
) -> bytes:
    """`compare` on every row; `gap` (row) answers where a side has nothing to compare."""
    states = bytearray(map(compare, first.values, second.values))
    for row in {*first.gaps, *second.gaps}:
        states[row] = gap(row)
    return bytes(states)


class Comparable:
    """A column's values for `compared`, and the rows that have none."""

    __slots__ = ("gaps", "values")

    def __init__(self, cells: Cells, answers: Mapping[Any, Any], filler: Any) -> None:
        values = cells.values(answers)
        self.gaps = [row for row, value in enumerate(values) if value is None]
        for row in self.gaps:
            values[row] = filler
        self.values = values
