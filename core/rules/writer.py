"""Writes the function that gives the verdicts of rules from the cells of one row.

A rule over few combinations of cells is a look-up of what the closures said; other rules are cut at
their connectives into conditions of one column, likewise looked up, and comparisons of two numbers
or dates, which are inlined. The source holds generated names only; rule text never becomes code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from operator import itemgetter
from typing import Any, Final

from core.rules import dependencies
from core.rules.context import Column, Kind, StudyContext
from core.rules.evaluation import NOT_APPLICABLE, NUMBERS, STATES, judge, verdict_of
from core.rules.limits import parts
from core.rules.operators import OPERATORS
from core.rules.record import Record, Row
from core.rules.rule import Rule, part_of
from core.rules.values import DAY, Moment, Unknown

MAX_CACHED = 4096
ABSENT: Final = object()
"""The cell of a column that is not in the row."""


class UnusualError(Exception):
    """Cells of these columns that only the closures can take; the rules that read them go there."""

    def __init__(self, names: Iterable[str]) -> None:
        super().__init__()
        self.names = frozenset(names)


class Memo(dict[Any, Any]):
    """key → `answer(key)`, remembered within bounds."""

    def __init__(self, answer: Callable[[Any], Any]) -> None:
        super().__init__()
        self._answer = answer

    def __missing__(self, key: Any) -> Any:
        answer = self._answer(key)
        if len(self) >= MAX_CACHED:
            self.clear()
        self[key] = answer
        return answer


class Lone:
    """Rows at one kind of place that hold a few cells and nothing else."""

    def __init__(self, context: StudyContext, place: Mapping[str, Any], today: date) -> None:
        self.context = context
        self._place = place
        self._today = today

    def row(self, names: Iterable[str], cells: Iterable[Any]) -> Row:
        """The row with these cells; UnusualError unless they are texts."""
        held = {n: c for n, c in zip(names, cells, strict=True) if c is not ABSENT}
        if not all(isinstance(cell, str) for cell in held.values()):
            raise UnusualError(held)
        return Record(self.context, [{**self._place, **held}], self._today).rows[0]


def condition(part: Rule, names: Iterable[str]) -> Callable[[Row], int]:
    """The state of `part` on a lone row; UnusualError where it is no plain true, false or undecided."""

    def state(row: Row) -> int:
        try:
            return NUMBERS[verdict_of(part, row)]
        except Exception:  # an impossible value, or a computation without a result
            raise UnusualError(names) from None

    return state


def complete_value(row: Row, name: str) -> Any:
    """A column as a comparable number or day; None unless it is complete and valid."""
    value = row.read(name).value
    if isinstance(value, Decimal):
        return value
    is_day = isinstance(value, Moment) and value.precision == DAY and not value.is_partial
    return value.low.toordinal() if is_day and isinstance(value, Moment) else None


def open_pair(part: Rule, names: tuple[str, str], lone: Lone) -> Callable[..., int]:
    """The state of a comparison in which a side is not complete: (cell, value, cell, value) → state.

    A side that is unknown altogether decides alone, whatever complete value stands beside it.
    """
    known: dict[Any, int] = {}
    state = condition(part, names)

    def evaluate(a_cell: Any, a: Any, b_cell: Any, b: Any) -> int:
        key = (a_cell if a is None else None, b_cell if b is None else None)
        found = known.get(key)
        if found is None:
            row = lone.row(names, (a_cell, b_cell))
            found = state(row)
            is_alone = any(isinstance(row.read(name).value, Unknown) for name in names)
            if is_alone and len(known) < MAX_CACHED:
                known[key] = found
        return found

    return evaluate


class _Connectives:
    """Writes connectives as assignments; the same one of several rules is computed once."""

    def __init__(self) -> None:
        self._assigned: dict[str, str] = {}

    def lines(self) -> Iterable[str]:
        """The assignments, in order."""
        return (f"{name} = {code}" for code, name in self._assigned.items())

    def name(self, operator: str, parts: Sequence[str]) -> str:
        """What holds the state of a connective over `parts`, names or digits."""
        if operator in {"if", "?:"}:
            return self._chosen(parts if len(parts) % 2 else [*parts, "0"])
        if operator == "!":
            return self._assign(f"{parts[0]} if {parts[0]} > 1 else 1 - {parts[0]}")
        if len(parts) == 1:
            return parts[0]
        return self._assign(_and(parts) if operator == "and" else _or(parts))

    def _assign(self, code: str) -> str:
        return self._assigned.setdefault(code, f"t{len(self._assigned)}")

    def _chosen(self, parts: Sequence[str]) -> str:
        result = parts[-1]
        for asked, value in reversed(list(zip(parts[:-1:2], parts[1::2], strict=True))):
            decided = f"({value} if {asked} else {result})"
            agreed = f"{result} if {value} == {result} < 2 else {asked}"
            result = self._assign(f"{decided} if {asked} < 2 else {agreed}")
        return result


def _and(parts: Sequence[str]) -> str:
    undecided = "".join(f"{part} if {part} > 1 else " for part in parts[:-1])
    return f"{' and '.join(parts)} and ({undecided}{parts[-1]})"


def _or(parts: Sequence[str]) -> str:
    return f"1 if {' or '.join(f'{part} == 1' for part in parts)} else {' or '.join(parts)}"


Run = Callable[[Mapping[str, Any]], list[Any]]
OfRow = Callable[[Row], Any]
_NUMBERS = frozenset({Kind.NUMBER, Kind.INTEGER})
_PAIRED = {
    **{name: name for name in ("<", "<=", ">", ">=", "==", "!=")},
    **{"===": "==", "!==": "!=", "before": "<", "after": ">"},
}
_MAX_PARTS, _MAX_DEPTH = 40, 20


class _Column:
    """All that is asked of one column's cells, in one look-up."""

    def __init__(self, place: int, name: str, lone: Lone) -> None:
        self._place = place
        self._name = name
        self._lone = lone
        self._questions: list[OfRow] = []
        self._value = ""
        self.cell = f"x{place}"
        self.known = Memo(self._answers)

    def ask(self, question: OfRow) -> str:
        """The name of the answer."""
        self._questions.append(question)
        return f"a{self._place}_{len(self._questions) - 1}"

    def value(self) -> str:
        """The name of the value for comparisons; None where it is not complete."""
        self._value = self._value or self.ask(lambda row: complete_value(row, self._name))
        return self._value

    def targets(self) -> str:
        """The names of all the answers and of the cell, as the target of an assignment."""
        names = [f"a{self._place}_{number}" for number in range(len(self._questions))]
        return "".join(f"{name}, " for name in [*names, self.cell])

    def _answers(self, cell: Any) -> tuple[Any, ...]:
        row = self._lone.row((self._name,), (cell,))
        return (*(question(row) for question in self._questions), cell)


class FunctionWriter:
    """Writes one function for rows at the place of `row`, about which `lone` can be asked."""

    def __init__(self, lone: Lone, row: Row) -> None:
        self._context = lone.context
        self._lone = lone
        self._place = row
        self._constants: dict[str, Any] = {"V": STATES, "N": NOT_APPLICABLE}
        self._columns: dict[str, _Column] = {}
        self._lines: list[str] = []
        self._kleene = _Connectives()
        self._leaves: dict[str, str | None] = {}

    def build(self, verdicts: Sequence[str]) -> Run:
        """A function row → verdicts; UnusualError or TypeError for cells that it can't take."""
        namespace = self._constants | {"cells": _reader(tuple(self._columns))}
        look_ups = []
        for number, column in enumerate(self._columns.values()):
            namespace[f"K{number}"] = column.known
            look_ups.append(f"{column.targets()}= K{number}[k{number}]")
        cells = "".join(f"k{number}, " for number in range(len(self._columns)))
        first = [f"{cells}= cells(d)"] if cells else []
        last = f"return [{', '.join(verdicts)}]"
        lines = [*first, *look_ups, *self._lines, *self._kleene.lines(), last]
        source = "\n ".join(["def run(d):", *lines])
        exec(compile(source, "<rules>", "exec"), namespace)  # noqa: S102  # generated names only
        run: Run = namespace["run"]
        return run

    def verdict(self, rule: Rule, columns: dependencies.Columns) -> str | None:
        """Source for the verdict of `rule`, which `columns` decide; None where only the closures will do."""
        if not self._place.is_mapped(rule.column.form):
            return "N"
        if not columns or not all(self._place.holds(c.form) for c in columns.values()):
            return None
        if dependencies.varied(columns) <= 1:
            return self._looked_up(tuple(columns), lambda row: judge(rule, row))
        state = None if rule.column.branching else self._state(rule, rule.logic, 0)
        return None if state is None else f"V[{state}]"

    def _looked_up(self, names: tuple[str, ...], of_row: OfRow) -> str:
        if len(names) == 1:
            return self._column(names[0]).ask(of_row)
        memo = self._constant(Memo(lambda cells: of_row(self._lone.row(names, cells))))
        return f"{memo}[{', '.join(self._column(name).cell for name in names)}]"

    def _constant(self, value: Any) -> str:
        name = f"c{len(self._constants)}"
        self._constants[name] = value
        return name

    def _column(self, name: str) -> _Column:
        if name not in self._columns:
            self._columns[name] = _Column(len(self._columns), name, self._lone)
        return self._columns[name]

    # --- conditions: the name of a state ----------------------------------------------------------

    def _state(self, rule: Rule, logic: Any, depth: int) -> str | None:
        if isinstance(logic, bool):
            return str(int(logic))
        if not isinstance(logic, dict) or depth > _MAX_DEPTH:
            return None
        [(operator, arguments)] = logic.items()
        arguments = arguments if isinstance(arguments, list | tuple) else [arguments]
        if _is_connective(operator, arguments) and len(_names(logic)) != 1:
            parts = [self._state(rule, part, depth + 1) for part in arguments]
            known = [part for part in parts if part is not None]
            return self._kleene.name(operator, known) if len(known) == len(parts) else None
        key = json.dumps(logic, sort_keys=True)
        if key not in self._leaves:
            self._leaves[key] = self._leaf(rule, logic, operator, arguments)
        return self._leaves[key]

    def _leaf(self, rule: Rule, logic: Any, operator: str, arguments: Sequence[Any]) -> str | None:
        part = part_of(rule, logic, self._context)
        columns = None if part is None else dependencies.of_logic(self._context, part)
        if part is None or not columns:
            return None
        pair = [self._context.columns.get(_name(argument)) for argument in arguments]
        if operator in _PAIRED and _are_comparable(pair):
            return self._assigned(self._pair(part, [_name(a) for a in arguments], operator))
        if dependencies.varied(columns) > 1:
            return None
        found = self._looked_up(tuple(columns), condition(part, columns))
        return found if found.isidentifier() else self._assigned(found)

    def _pair(self, part: Rule, names: Sequence[str], operator: str) -> str:
        first, second = names
        a, b = self._column(first), self._column(second)
        x, y = a.value(), b.value()
        opened = self._constant(open_pair(part, (first, second), self._lone))
        other = f"{opened}({a.cell}, {x}, {b.cell}, {y})"
        return f"{x} {_PAIRED[operator]} {y} if {x} is not None is not {y} else {other}"

    def _assigned(self, code: str) -> str:
        self._lines.append(f"s{len(self._lines)} = {code}")
        return f"s{len(self._lines) - 1}"


def _reader(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], Sequence[Any]]:
    """A function that reads the columns of a row, ABSENT for what is not there."""
    pick = itemgetter(*names) if len(names) > 1 else lambda data: [data[name] for name in names]

    def read(data: Mapping[str, Any]) -> Any:
        try:
            return pick(data)
        except KeyError:
            return [data.get(name, ABSENT) for name in names]

    return read


def _are_comparable(pair: Sequence[Column | None]) -> bool:
    """Two columns of numbers, or two of dates."""
    kinds = [column.kind for column in pair if column is not None]
    if len(pair) != 2 or len(kinds) != 2 or pair[0] == pair[1]:
        return False
    return _NUMBERS.issuperset(kinds) or kinds == [Kind.DATE] * 2


def _is_connective(operator: str, arguments: Sequence[Any]) -> bool:
    """Whether the operator combines truths, so that its parts can be looked at one by one."""
    if not 0 < len(arguments) <= _MAX_PARTS:
        return False
    if operator in {"and", "or"}:
        return True
    if operator in {"!", "!!"}:
        return _is_truth(arguments[0])
    return operator in {"if", "?:"} and all(map(_is_truth, [*arguments[1::2], arguments[-1]]))


def _is_truth(logic: Any) -> bool:
    """Whether an expression is true or false by its form, so that its truth is its value."""
    if isinstance(logic, bool):
        return True
    if not isinstance(logic, dict) or len(logic) != 1:
        return False
    [(operator, arguments)] = logic.items()
    if operator in {"if", "?:"}:
        return isinstance(arguments, list | tuple) and _is_connective(operator, arguments)
    return operator in OPERATORS and OPERATORS[operator].is_truth


def _name(logic: Any) -> str:
    """The name in {"var": name}; "" for anything else."""
    if not isinstance(logic, dict) or len(logic) != 1:
        return ""
    name = logic.get("var", "")
    name = name[0] if isinstance(name, list | tuple) and len(name) == 1 else name
    return name if isinstance(name, str) else ""


def _names(logic: Any) -> set[str]:
    return {_name(part) for part in parts(logic) if isinstance(part, Mapping) and "var" in part}
