"""The fast tier of clinical mode: verdicts (outcome and reason) of one row, without building results.

One generated function per kind of place. Everything asked of one column's cell (`planning`) comes
from its table in one look-up; comparisons of two columns and Kleene logic over leaves are inlined.
Generated source holds generated names only; rule text never becomes code.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from rules.bounds import Truth
from rules.cells import SlowRecordError, reader
from rules.context import StudyContext
from rules.convert import text_of
from rules.kleene import Writer
from rules.leaves import ABSENT, ASK, VERDICTS, Memo, Pair, Verdict, row_of
from rules.planning import Answer, Composed, Fixed, Leaf, Remembered, complete_value
from rules.record import Row

Run = Callable[[Mapping[str, Any], Callable[[int], Verdict]], list[Verdict]]
OfRow = Callable[[Row], Any]
OfValue = Callable[[Any], Any]
MakeRow = Callable[[Mapping[str, Any]], Row]
_TEXT = frozenset({str, type(None), type(ABSENT)})


class AskError(Exception):
    """A leaf that only the closures know: the guarded function keeps it to the rules that read it."""


class Values:
    """Columns as comparable numbers or days; one memory for every rule that compares them."""

    def __init__(self, context: StudyContext) -> None:
        self._context = context
        self._memos: dict[str, Memo] = {}

    def of(self, name: str) -> Memo:
        """cell → value, None where it is not complete and valid."""
        if name not in self._memos:
            column, context = self._context.columns[name], self._context
            self._memos[name] = Memo(lambda cell: complete_value(column, cell, context))
        return self._memos[name]


class _Texts(Memo):
    """A memo over cells as text: numbers are read as the text they print as."""

    def __missing__(self, cell: Any) -> Any:
        text = _as_text(cell)
        return super().__missing__(cell) if text is cell else self[text]


class _Column:
    """All that is asked of one column's cells: verdicts, states of leaves, the value compared."""

    def __init__(self, place: int, name: str, values: Memo, row: MakeRow) -> None:
        self._place = place
        self._name = name
        self._values = values
        self._row = row
        self._questions: list[tuple[OfRow, OfValue | None]] = []
        self._states: list[int] = []
        self._value = ""
        self._is_valued = False
        self._has_cell = False
        self.known = _Texts(self._answers)

    def ask(self, of_row: OfRow, of_value: OfValue | None, *, is_state: bool = False) -> str:
        """The name of the answer; `of_value` has it for a cell with a complete value."""
        number = len(self._questions)
        self._questions.append((of_row, of_value))
        self._states += [number] if is_state else []
        self._is_valued = self._is_valued or of_value is not None
        return f"a{self._place}_{number}"

    def value(self) -> str:
        """The name of the cell's value for comparisons; None where it is not complete."""
        self._value = self._value or self.ask(lambda _row: None, lambda value: value)
        return self._value

    def cell(self) -> str:
        """The name of the cell as text."""
        self._has_cell = True
        return f"x{self._place}"

    def names(self) -> str:
        """The names of all the answers, as a target of an assignment."""
        names = [f"a{self._place}_{number}" for number in range(len(self._questions))]
        return "".join(f"{name}, " for name in [*names, *([self.cell()] if self._has_cell else [])])

    def closed(self) -> Memo:
        """cell → all the answers; AskError for a cell with a leaf that only the closures know."""
        states = self._states

        def answers(cell: Any) -> tuple[Any, ...]:
            found: tuple[Any, ...] = self.known[cell]
            if ASK in [found[number] for number in states]:
                raise AskError
            return found

        return _Texts(answers)

    def _answers(self, cell: Any) -> tuple[Any, ...]:
        value = self._values[cell] if self._is_valued else None
        row: Row | None = None
        found: list[Any] = []
        for of_row, of_value in self._questions:
            if value is not None and of_value is not None:
                found.append(of_value(value))
            else:
                row = row or self._row(row_of((self._name,), cell))
                found.append(of_row(row))
        return (*found, cell) if self._has_cell else tuple(found)


class Generator:
    """Writes the function that answers one row; `answers` are keyed by rule.

    The plain function raises AskError where a leaf is for the closures, the guarded one asks them
    for the rules that read it.
    """

    def __init__(
        self, values: Values, row: MakeRow, answers: Mapping[int, Answer], leaves: Sequence[Leaf]
    ) -> None:
        self._values = values
        self._row = row
        self._constants: dict[str, Any] = {"V": VERDICTS}
        self._open: dict[str, Callable[..., int]] = {}
        self._columns: dict[str, _Column] = {}
        self._lines: list[str] = []
        self._kleene = Writer()
        self._leaves = [self._leaf(leaf) for leaf in leaves]
        self._codes = [self._answer(index, answer) for index, answer in answers.items()]
        self.is_asking = any("slow" in plain for plain, _guarded in self._codes)

    def build(self, *, is_guarded: bool) -> Run:
        """A function (row, slow) → the verdicts; `slow` (rule) asks the closures.

        SlowRecordError for a cell that only they can take.
        """
        namespace = {**self._constants}
        result = ", ".join(guarded if is_guarded else plain for plain, guarded in self._codes)
        look_ups = list(self._look_ups(namespace, is_guarded=is_guarded))
        lines = [*look_ups, *self._lines, *self._kleene.lines(), f"return [{result}]"]
        source = "\n ".join(["def run(d, slow):", *lines])
        exec(compile(source, "<rules>", "exec"), namespace)  # noqa: S102  # generated names only
        run: Run = namespace["run"]
        return run

    def _look_ups(self, namespace: dict[str, Any], *, is_guarded: bool) -> Iterable[str]:
        names = tuple(self._columns)
        if names:
            namespace["cells"] = reader(names, ABSENT)
            yield f"{''.join(f'k{i}, ' for i in range(len(names)))} = cells(d)"
        for i, column in enumerate(self._columns.values()):
            namespace[f"K{i}"] = column.known if is_guarded else column.closed()
            yield f"{column.names()} = K{i}[k{i}]"
        for name, state in self._open.items():
            namespace[name] = state if is_guarded else _closed(state)

    def _constant(self, value: Any) -> str:
        name = f"c{len(self._constants)}"
        self._constants[name] = value
        return name

    def _column(self, name: str) -> _Column:
        if name not in self._columns:
            place, values = len(self._columns), self._values.of(name)
            self._columns[name] = _Column(place, name, values, self._row)
        return self._columns[name]

    def _cells(self, names: Sequence[str]) -> str:
        return ", ".join(self._column(name).cell() for name in names)

    def _memo(self, names: tuple[str, ...], of_row: OfRow) -> Memo:
        return Memo(lambda cells: of_row(self._row(row_of(names, cells))))

    def _opened(self, state: Callable[..., int]) -> str:
        name = f"o{len(self._open)}"
        self._open[name] = state
        return name

    # --- rules: (plain source, guarded source) ----------------------------------------------------

    def _answer(self, index: int, answer: Answer) -> tuple[str, str]:
        code = f"slow({index})"
        if isinstance(answer, Fixed):
            code = self._constant(answer.verdict)
        elif isinstance(answer, Remembered) and len(answer.names) == 1:
            code = self._column(answer.names[0]).ask(answer.verdict, _verdict_by(answer.truth))
        elif isinstance(answer, Remembered):
            memo = self._constant(self._memo(answer.names, answer.verdict))
            code = f"{memo}[{self._cells(answer.names)}]"
        elif isinstance(answer, Composed):
            leaves = [self._leaves[number] for number in answer.leaves]
            plain = f"V[{self._kleene.name(answer.tree, leaves)}]"
            return plain, f"({code} if {ASK} in ({', '.join(leaves)},) else {plain})"
        return code, code

    # --- leaves: the name of a state --------------------------------------------------------------

    def _leaf(self, leaf: Leaf) -> str:
        if isinstance(leaf, Pair):
            return self._assign(self._pair(leaf))
        if len(leaf.names) == 1:
            return self._column(leaf.names[0]).ask(leaf.state, leaf.truth, is_state=True)
        state = self._opened(self._memo(leaf.names, leaf.state).__getitem__)
        return self._assign(f"{state}(({self._cells(leaf.names)}))")

    def _pair(self, leaf: Pair) -> str:
        a, b = self._column(leaf.first.name), self._column(leaf.second.name)
        x, y = a.value(), b.value()
        other = f"{self._opened(leaf.open_state)}({a.cell()}, {x}, {b.cell()}, {y})"
        return f"{x} {leaf.operator} {y} if {x} is not None is not {y} else {other}"

    def _assign(self, code: str) -> str:
        name = f"s{len(self._lines)}"
        self._lines.append(f"{name} = {code}")
        return name


def _verdict_by(truth: Truth | None) -> OfValue | None:
    return None if truth is None else lambda value: VERDICTS[truth(value)]


def _closed(state: Callable[..., int]) -> Callable[..., int]:
    def evaluate(*cells: Any) -> int:
        found = state(*cells)
        if found == ASK:
            raise AskError
        return found

    return evaluate


def _as_text(cell: Any) -> Any:
    """Numbers as the text they are read as; other things only the closures can take."""
    if type(cell) in _TEXT:
        return cell
    text = text_of(cell)
    if text is None or isinstance(cell, str):
        raise SlowRecordError
    return text
