"""A batch of rows by columns: what a sweep looks at once instead of once per rule.

A study repeats its values, so a column is first reduced to its distinct cells; a question about one
column is then asked per distinct cell and spread over the rows by `bytes.translate`.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

SIZE = 1_000
_BYTE = 256
T = TypeVar("T")


def chunks(items: Iterable[T], size: int = SIZE) -> Iterator[list[T]]:
    """`items` in lists of at most `size`."""
    source = iter(items)
    while chunk := list(islice(source, size)):
        yield chunk


class Cells:
    """The cells of one column in a chunk. They must be hashable; equal cells are alike."""

    __slots__ = ("_codes", "_distinct", "cells")

    def __init__(self, cells: Sequence[Hashable]) -> None:
        self.cells = cells
        self._distinct = list(dict.fromkeys(cells))
        self._codes: bytes | None = None
        if len(self._distinct) <= _BYTE:
            index = {cell: code for code, cell in enumerate(self._distinct)}
            self._codes = bytes(map(index.__getitem__, cells))

    def states(self, answers: Mapping[Any, int]) -> bytes:
        """`answers[cell]` of every row, each a number up to 255."""
        if self._codes is None:
            return bytes(map(answers.__getitem__, self.cells))
        table = bytes(map(answers.__getitem__, self._distinct))
        return self._codes.translate(table.ljust(_BYTE, b"\0"))

    def values(self, answers: Mapping[Any, T]) -> list[T]:
        """`answers[cell]` of every row."""
        if self._codes is None:
            return list(map(answers.__getitem__, self.cells))
        table = list(map(answers.__getitem__, self._distinct))
        return list(map(table.__getitem__, self._codes))


def columns(names: Sequence[str], rows: Iterable[Iterable[Any]]) -> dict[str, Cells]:
    """name → column, from the cells of each row in the order of `names`."""
    return {name: Cells(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}
