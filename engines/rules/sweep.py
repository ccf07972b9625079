"""The sweep of clinical mode: the rows at one kind of place, columns once, rules over columns."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from engines.rules.chunks import Cells, Comparable, Index, columns, compared
from engines.rules.context import Column
from engines.rules.fast import TEXT, Values, as_texts
from engines.rules.leaves import ABSENT, Pair, Verdict
from engines.rules.planning import Answer, Composed, Fixed, Leaf, Remembered

_COMPARE: dict[str, Callable[[Any, Any], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_FILLER = 0
Slow = Callable[[int, int], Verdict]


class Sweep:
    """Answers a batch of rows: the same verdicts as the function of `fast`, row by row."""

    def __init__(
        self, answers: Mapping[int, Answer], leaves: Sequence[Leaf], values: Values
    ) -> None:
        self._answers = answers
        self._leaves = leaves
        self._values = values
        self._indices = {name: Index(as_texts, TEXT) for name in _names(answers, leaves)}

    def run(self, rows: Sequence[Mapping[str, Any]], slow: Slow) -> list[list[Verdict]]:
        """The verdicts of each row; `slow` (position of the row, rule) asks the closures.

        SlowRowError where a row holds a cell that only they can take.
        """
        batch = _Batch(columns(self._indices, rows, ABSENT))
        states = [batch.states(leaf, self._values) for leaf in self._leaves]
        found = [
            self._column(index, answer, batch, states, len(rows), slow)
            for index, answer in self._answers.items()
        ]
        return [list(verdicts) for verdicts in zip(*found, strict=True)] or [[] for _row in rows]

    def _column(
        self,
        index: int,
        answer: Answer,
        batch: _Batch,
        states: Sequence[Sequence[int]],
        count: int,
        slow: Slow,
    ) -> Sequence[Verdict]:
        if isinstance(answer, Fixed):
            return [answer.verdict] * count
        if isinstance(answer, Remembered):
            return batch.answers(answer.names, answer.verdicts)
        if not isinstance(answer, Composed):
            return [slow(row, index) for row in range(count)]
        keys = zip(*(states[number] for number in answer.leaves), strict=True)
        verdicts: list[Verdict | None] = list(map(answer.verdicts.__getitem__, keys))
        return [verdict or slow(row, index) for row, verdict in enumerate(verdicts)]


class _Batch:
    """The columns of a batch and what was already made of them."""

    def __init__(self, cells: Mapping[str, Cells]) -> None:
        self._cells = cells
        self._values: dict[str, Comparable] = {}

    def answers(self, names: Sequence[str], known: Mapping[Any, Any]) -> list[Any]:
        """`known` of every row: by the cell, or by the cells of several columns."""
        if len(names) == 1:
            return self._cells[names[0]].values(known)
        return list(
            map(known.__getitem__, zip(*(self._cells[n].cells for n in names), strict=True))
        )

    def states(self, leaf: Leaf, values: Values) -> Sequence[int]:
        """The leaf's state on every row."""
        if isinstance(leaf, Pair):
            return self._compared(leaf, values)
        if len(leaf.names) == 1:
            return self._cells[leaf.names[0]].states(leaf.states)
        return self.answers(leaf.names, leaf.states)

    def _compared(self, leaf: Pair, values: Values) -> bytes:
        a_cells, b_cells = self._cells[leaf.first.name].cells, self._cells[leaf.second.name].cells
        a_values, b_values = values.of(leaf.first), values.of(leaf.second)

        def gap(row: int) -> int:
            a, b = a_cells[row], b_cells[row]
            return leaf.open_state(a, a_values[a], b, b_values[b])

        first, second = self._comparable(leaf.first, values), self._comparable(leaf.second, values)
        return compared(_COMPARE[leaf.operator], first, second, gap)

    def _comparable(self, column: Column, values: Values) -> Comparable:
        if column.name not in self._values:
            self._values[column.name] = Comparable(
                self._cells[column.name], values.of(column), _FILLER
            )
        return self._values[column.name]


def _names(answers: Mapping[int, Answer], leaves: Sequence[Leaf]) -> list[str]:
    named: list[str] = []
    for leaf in leaves:
        named += (leaf.first.name, leaf.second.name) if isinstance(leaf, Pair) else leaf.names
    for answer in answers.values():
        named += answer.names if isinstance(answer, Remembered) else ()
    return named
