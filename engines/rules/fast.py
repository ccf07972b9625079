"""The fast tier of clinical mode: verdicts (outcome and reason) of one row, without building results.

One generated function per kind of place looks up what `planning` remembers. Generated source holds
generated names only; rule text never becomes code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from engines.rules.context import Column, StudyContext
from engines.rules.convert import text_of
from engines.rules.leaves import ABSENT, Memo, Pair, Verdict
from engines.rules.planning import Answer, Composed, Fixed, Leaf, Remembered, complete_value

Run = Callable[[Mapping[str, Any], Callable[[int], Verdict]], list[Verdict]]


class SlowRowError(Exception):
    """A cell that only the closures can take."""


class Values:
    """Columns as comparable numbers or days; one memory for every rule that compares them."""

    def __init__(self, context: StudyContext) -> None:
        self._context = context
        self._memos: dict[str, Memo] = {}

    def of(self, column: Column) -> Memo:
        """cell → value, None where it is not complete and valid."""
        if column.name not in self._memos:
            context = self._context
            self._memos[column.name] = Memo(lambda cell: complete_value(column, cell, context))
        return self._memos[column.name]


class Generator:
    """Writes the function that answers one row."""

    def __init__(self, values: Values) -> None:
        self._values = values
        self._namespace: dict[str, Any] = {}
        self._columns: dict[str, int] = {}
        self._compared: dict[int, str] = {}

    def build(self, answers: Mapping[int, Answer], leaves: Sequence[Leaf]) -> Run:
        """A function (row, slow) → the verdicts of `answers`, which are keyed by rule."""
        lines = [f"l{n} = {self._leaf(leaf)}" for n, leaf in enumerate(leaves)]
        codes = [self._answer(index, answer) for index, answer in answers.items()]
        lines = [*self._prologue(), *lines, f"return [{', '.join(codes)}]"]
        source = "\n ".join(["def run(d, slow):", *lines])
        exec(compile(source, "<rules>", "exec"), self._namespace)  # noqa: S102  # generated names only
        run: Run = self._namespace["run"]
        return run

    def _prologue(self) -> Iterable[str]:
        names = tuple(self._columns)
        if not names:
            return
        self._namespace["cells"] = cell_reader(names)
        yield f"{''.join(f'k{i}, ' for i in range(len(names)))} = cells(d)"
        for i, name in self._compared.items():
            yield f"d{i} = {name}[k{i}]"

    def _constant(self, value: Any) -> str:
        name = f"c{len(self._namespace)}"
        self._namespace[name] = value
        return name

    def _column(self, name: str) -> int:
        return self._columns.setdefault(name, len(self._columns))

    def _answer(self, index: int, answer: Answer) -> str:
        if isinstance(answer, Fixed):
            return self._constant(answer.verdict)
        if isinstance(answer, Remembered):
            return f"{self._constant(answer.verdicts)}[{self._key(answer.names)}]"
        if isinstance(answer, Composed):
            states = "".join(f"l{number}, " for number in answer.leaves)
            return f"({self._constant(answer.verdicts)}[{states}] or slow({index}))"
        return f"slow({index})"

    def _key(self, names: Sequence[str]) -> str:
        keys = [f"k{self._column(name)}" for name in names]
        return keys[0] if len(keys) == 1 else f"({', '.join(keys)})"

    def _leaf(self, leaf: Leaf) -> str:
        if not isinstance(leaf, Pair):
            return f"{self._constant(leaf.states)}[{self._key(leaf.names)}]"
        a, b = self._value(leaf.first), self._value(leaf.second)
        other = f"{self._constant(leaf.open_state)}(k{a}, d{a}, k{b}, d{b})"
        return f"d{a} {leaf.operator} d{b} if d{a} is not None is not d{b} else {other}"

    def _value(self, column: Column) -> int:
        index = self._column(column.name)
        if index not in self._compared:
            self._compared[index] = self._constant(self._values.of(column))
        return index


_TEXT = frozenset({str, type(None), type(ABSENT)})


def cell_reader(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], Iterable[Any]]:
    """A function that reads these columns of a row; SlowRowError for what is no scalar."""
    pick = itemgetter(*names) if len(names) > 1 else lambda data: (data[names[0]],)

    def read(data: Mapping[str, Any]) -> Iterable[Any]:
        try:
            cells = pick(data)
        except KeyError:
            cells = tuple(data.get(name, ABSENT) for name in names)
        return cells if _TEXT.issuperset(map(type, cells)) else [_as_text(cell) for cell in cells]

    return read


TEXT = _TEXT


def as_texts(cells: Sequence[Any]) -> Sequence[Any]:
    """A column's cells as they are looked up; SlowRowError for what is no scalar."""
    return cells if _TEXT.issuperset(map(type, cells)) else list(map(_as_text, cells))


def _as_text(cell: Any) -> Any:
    """Numbers as the text they are read as; other things only the closures can take."""
    if type(cell) in _TEXT:
        return cell
    text = text_of(cell)
    if text is None or isinstance(cell, str):
        raise SlowRowError
    return text
