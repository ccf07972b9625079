"""How the fast tier answers each rule at one kind of place: see `fast` and `sweep`.

The closures stay the only place that knows what a rule means. A plan asks them once per distinct
set of cells and remembers the answer: cells of a study repeat (codes, ages, blanks). A rule over
several columns of many values is cut into leaves of one such column, and into comparisons of two
numbers or dates.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from rules.bounds import Truth, truth_of
from rules.context import Column, Kind, StudyContext, checkbox_column
from rules.convert import text_of, typed
from rules.leaves import (
    OpenPairs,
    Pair,
    Single,
    Tree,
    Verdict,
    is_unknown,
    is_whole,
    state_of,
)
from rules.values import DAY, Moment, Value

if TYPE_CHECKING:
    from rules.record import Row
    from rules.rule import Rule

_REPEATING_VALUES = frozenset({Kind.CODE, Kind.FLAG, Kind.TICK, Kind.TICKS})
_NUMBERS = frozenset({Kind.NUMBER, Kind.INTEGER})
_PAIRED = {
    **{name: name for name in ("<", "<=", ">", ">=", "==", "!=")},
    **{"===": "==", "!==": "!=", "before": "<", "after": ">"},
}
_TRUTHS = frozenset({*_PAIRED, "in", "!", "!!", "and", "or", "is_blank", "matches", "in_window"})
_FIELD = re.compile(r"(\[[^\[\]]+\])(?:\s*(\[[^\[\]]+\]))?")
_MAX_LEAVES, _MAX_DEPTH = 40, 20


class Closures(Protocol):
    """The reference evaluation, asked about a lone row that holds a few cells."""

    def row(self, cells: Mapping[str, Any]) -> Row:
        """The lone row that holds nothing else."""

    def judge(self, rule: Rule, row: Row) -> Verdict:
        """The verdict of a rule, applicability included."""

    def decide(self, rule: Rule, row: Row) -> Verdict | None:
        """The verdict of its logic alone; None when it can't be computed."""

    def part(self, rule: Rule, logic: Any) -> Rule | None:
        """A part of a rule's logic as a rule of its own; None when it is none."""


@dataclass(frozen=True)
class Fixed:
    """The same verdict on every row here."""

    verdict: Verdict


@dataclass(frozen=True)
class Ask:
    """Only the closures know."""


@dataclass(frozen=True)
class Remembered:
    """A rule over few combinations of cells; `truth` tells it from a complete value (`bounds`)."""

    names: tuple[str, ...]
    verdict: Callable[[Row], Verdict]
    truth: Truth | None


@dataclass(frozen=True)
class Composed:
    """A rule over leaves (by their number in the plan); `tree` numbers them as they stand here."""

    leaves: tuple[int, ...]
    tree: Tree


Answer: TypeAlias = Fixed | Ask | Remembered | Composed
Leaf: TypeAlias = Single | Pair


def _looks_around(logic: Any) -> bool:
    """Whether some part of a rule speaks of another event, with or without a field of it."""
    todo = [logic]
    while todo:
        part = todo.pop()
        if isinstance(part, Mapping):
            if "across_events" in part:
                return True
            todo.extend(part.values())
        elif isinstance(part, list | tuple):
            todo.extend(part)
    return False


class Planner:
    """Plans rules for one kind of place; `answers` may share `leaves`.

    `holds` tells which forms the rows here can hold.
    """

    def __init__(
        self,
        context: StudyContext,
        holds: Callable[[str], bool],
        closures: Closures,
    ) -> None:
        self.leaves: list[Leaf] = []
        self._context = context
        self._holds = holds
        self._closures = closures
        self._numbers: dict[str, int | None] = {}

    def answer(self, rule: Rule) -> Answer:
        """How `rule` is answered."""
        shown = branching_dependencies(self._context, rule.column.field)
        reads = self._read_columns(rule)
        if shown is None or reads is None:
            return Ask()
        own = dependencies(self._context, [rule.field]) if rule.column.branching else {}
        columns = {**(own or {}), **reads, **shown}
        if not columns:
            return Ask()
        if not all(self._holds(column.form) for column in columns.values()):
            return Ask()
        if _varied(columns) > 1:
            return Ask() if rule.column.branching else self._composed(rule)
        names, judge = tuple(columns), self._closures.judge
        truth = None if rule.column.branching else self._truth(names, rule.logic)
        return Remembered(names, lambda row: judge(rule, row), truth)

    def _truth(self, names: Sequence[str], logic: Any) -> Truth | None:
        is_number = len(names) == 1 and self._context.columns[names[0]].kind in _NUMBERS
        return truth_of(logic, names[0]) if is_number else None

    def _read_columns(self, rule: Rule) -> dict[str, Column] | None:
        if any(event is not None for _name, event in rule.reads) or _looks_around(rule.logic):
            return None
        return dependencies(self._context, [name for name, _event in rule.reads])

    def _composed(self, rule: Rule) -> Answer:
        numbers: dict[int, int] = {}
        tree = self._tree(rule, rule.logic, numbers, 0)
        if tree is None or not numbers or len(numbers) > _MAX_LEAVES:
            return Ask()
        return Composed(tuple(numbers), tree)

    def _tree(self, rule: Rule, logic: Any, numbers: dict[int, int], depth: int) -> Tree | None:
        """The rule over its leaves; None where a part fits neither."""
        if isinstance(logic, bool):
            return logic
        if not isinstance(logic, dict) or depth > _MAX_DEPTH:
            return None
        [(operator, arguments)] = logic.items()
        arguments = arguments if isinstance(arguments, list | tuple) else [arguments]
        if _is_connective(operator, arguments) and len(_var_names(logic)) != 1:
            parts = [self._tree(rule, part, numbers, depth + 1) for part in arguments]
            known = tuple(part for part in parts if part is not None)
            return _connective(operator, known) if len(known) == len(parts) else None
        number = self._leaf(rule, logic, operator, arguments)
        return None if number is None else numbers.setdefault(number, len(numbers))

    # --- leaves -----------------------------------------------------------------------------------

    def _leaf(self, rule: Rule, logic: Any, operator: str, arguments: Sequence[Any]) -> int | None:
        key = json.dumps(logic, sort_keys=True)
        if key not in self._numbers:
            leaf = self._pair(rule, logic, operator, arguments) or self._single(rule, logic)
            self._numbers[key] = None if leaf is None else len(self.leaves)
            self.leaves += [] if leaf is None else [leaf]
        return self._numbers[key]

    def _single(self, rule: Rule, logic: Any) -> Single | None:
        part = self._closures.part(rule, logic)
        columns = None if part is None else self._read_columns(part)
        if part is None or not columns or _varied(columns) > 1:
            return None
        names, decide = tuple(columns), self._closures.decide
        return Single(names, lambda row: state_of(decide(part, row)), self._truth(names, logic))

    def _pair(self, rule: Rule, logic: Any, operator: str, arguments: Sequence[Any]) -> Pair | None:
        if operator not in _PAIRED or len(arguments) != 2:
            return None
        columns = [self._context.columns.get(_var_name(argument)) for argument in arguments]
        first, second = columns
        part = self._closures.part(rule, logic)
        if first is None or second is None or part is None or first.name == second.name:
            return None
        are_numbers = first.kind in _NUMBERS and second.kind in _NUMBERS
        if not are_numbers and not first.kind is Kind.DATE is second.kind:
            return None
        closures = self._closures
        found = OpenPairs(
            (first.name, second.name),
            lambda cells: closures.decide(part, closures.row(cells)),
            lambda index, cell: _is_unknown_cell((first, second)[index], cell, self._context),
        )
        return Pair(first, second, _PAIRED[operator], found)


def _is_connective(operator: str, arguments: Sequence[Any]) -> bool:
    """Whether the operator combines truths, so that its parts can be looked at one by one."""
    if not arguments:
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


def _connective(operator: str, parts: tuple[Tree, ...]) -> Tree:
    if operator == "!!":
        return parts[0]
    if operator not in {"if", "?:"}:
        return operator, parts
    return "if", parts if len(parts) % 2 else (*parts, False)


# --- columns --------------------------------------------------------------------------------------


def dependencies(context: StudyContext, names: Iterable[str]) -> dict[str, Column] | None:
    """All columns that the reading of `names` looks at; None where that can't be told.

    A tick also depends on its form's status and on ticked missing codes.
    """
    found: dict[str, Column] = {}
    for name in names:
        column = context.columns.get(name)
        if column is None:
            return None
        if column.kind not in {Kind.TICK, Kind.TICKS}:
            found[name] = column
            continue
        codes = [*context.missing_codes, *(column.choices if column.kind is Kind.TICKS else ())]
        related = [checkbox_column(column.field, code) for code in codes]
        related += [f"{column.form}_complete", name]
        found |= {n: context.columns[n] for n in related if n in context.columns}
    return {name: column for name, column in found.items() if column.kind is not Kind.TICKS}


def branching_dependencies(context: StudyContext, field_name: str) -> dict[str, Column] | None:
    """All columns that decide whether a field is shown, through every level; None if open."""
    found: dict[str, Column] = {}
    todo, seen = [field_name], set[str]()
    while todo:
        name = todo.pop()
        column = context.columns.get(name)
        if name in seen or column is None or not column.branching:
            continue
        seen.add(name)
        stems: list[str] = []
        for first, second in _FIELD.findall(column.branching):
            stem, _parenthesis, code = first[1:-1].partition("(")
            stems.append(stem.strip())
            named = checkbox_column(stem.strip(), code.rstrip(") ")) if code else stem.strip()
            columns = None if second else dependencies(context, [named, stem.strip()])
            if columns is None:
                return None
            found |= columns
        todo += stems
    return found


def _varied(columns: Mapping[str, Column]) -> int:
    """How many of the columns take so many values that combinations would not repeat."""
    return sum(column.kind not in _REPEATING_VALUES for column in columns.values())


def _var_name(logic: Any) -> str:
    if not isinstance(logic, dict) or len(logic) != 1:
        return ""
    name = logic.get("var", "")
    name = name[0] if isinstance(name, list | tuple) and len(name) == 1 else name
    return name if isinstance(name, str) else ""


def _var_names(logic: Any) -> set[str]:
    if isinstance(logic, list | tuple):
        return {name for part in logic for name in _var_names(part)}
    if not isinstance(logic, Mapping):
        return set()
    return {_var_name(logic)} if "var" in logic else _var_names(list(logic.values()))


def complete_value(column: Column, cell: Any, context: StudyContext) -> Any:
    """A cell as a comparable number or day; None unless it is complete and valid."""
    value = _value_of(column, cell, context)
    if isinstance(value, Decimal):
        return value
    is_day = isinstance(value, Moment) and value.precision == DAY and not value.is_partial
    return value.low.toordinal() if is_day and isinstance(value, Moment) else None


def _value_of(column: Column, cell: Any, context: StudyContext) -> Value:
    text = text_of(cell) if isinstance(cell, str) else ""
    return typed(column, text, context)[1] if text else None


def _is_unknown_cell(column: Column, cell: Any, context: StudyContext) -> bool:
    """Blank, absent or a missing code: nothing that could be compared."""
    if is_whole(cell):
        return False
    value = _value_of(column, cell, context)
    return value is None or is_unknown(value)
