"""Writes the function that gives the verdicts of rules from the cells of one row.

A rule over few combinations of cells is a look-up of what the closures said; other rules are cut at
their connectives into conditions of one column, likewise looked up, and comparisons of two numbers
or dates, which are inlined. The source holds generated names only; rule text never becomes code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter
from typing import Any

from rules import dependencies
from rules.context import Column, Kind
from rules.evaluation import NOT_APPLICABLE, judge
from rules.kleene import Writer as Kleene
from rules.leaves import ABSENT, Lone, Memo, complete_value, condition, open_pair
from rules.record import Row
from rules.rule import Rule, part_of
from rules.verdict import STATES

Run = Callable[[Mapping[str, Any]], list[Any]]
OfRow = Callable[[Row], Any]
_NUMBERS = frozenset({Kind.NUMBER, Kind.INTEGER})
_PAIRED = {
    **{name: name for name in ("<", "<=", ">", ">=", "==", "!=")},
    **{"===": "==", "!==": "!=", "before": "<", "after": ">"},
}
_TRUTHS = frozenset({*_PAIRED, "in", "!", "!!", "and", "or", "is_blank", "matches", "in_window"})
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
        self._kleene = Kleene()
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
    return operator in _TRUTHS


def _name(logic: Any) -> str:
    """The name in {"var": name}; "" for anything else."""
    if not isinstance(logic, dict) or len(logic) != 1:
        return ""
    name = logic.get("var", "")
    name = name[0] if isinstance(name, list | tuple) and len(name) == 1 else name
    return name if isinstance(name, str) else ""


def _names(logic: Any) -> set[str]:
    if isinstance(logic, list | tuple):
        return {name for part in logic for name in _names(part)}
    if not isinstance(logic, Mapping):
        return set()
    return {_name(logic)} if "var" in logic else _names(list(logic.values()))
