"""The fast tier of clinical mode: verdicts (outcome and reason) without building results.

The closures stay the only place that knows what a rule means. This tier asks them once per distinct
set of cells and remembers the answer: cells of a study repeat (codes, ages, blanks). Comparisons of
two numbers or two dates, whose pairs do not repeat, are generated; wherever a value is anything but
complete and valid, and for every rule that does not fit, the record goes through the closures.
Generated source holds generated names only.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Final, Protocol

from engines.rules.arithmetic import settle
from engines.rules.context import Column, Kind, StudyContext, checkbox_column
from engines.rules.convert import text_of, typed
from engines.rules.values import DAY, Moment, Reason

if TYPE_CHECKING:
    from engines.rules.results import Outcome
    from engines.rules.rule import Rule

Verdict = tuple["Outcome", Reason | None]

_MAX_CACHED = 20_000
_REPEATING_VALUES = frozenset({Kind.CODE, Kind.FLAG, Kind.TICK, Kind.TICKS})
_NUMBERS = frozenset({Kind.NUMBER, Kind.INTEGER})
_COMPARISONS = {
    **{name: name for name in ("<", "<=", ">", ">=", "==", "!=")},
    **{"===": "==", "!==": "!=", "before": "<", "after": ">"},
}
_FIELD = re.compile(r"(\[[^\[\]]+\])(\[[^\[\]]+\])?")
_MAX_LEAVES = 40


class _Absent:
    """The cell of a column that is not in the row."""


ABSENT: Final = _Absent()


class SlowRowError(Exception):
    """A cell that only the closures can take."""


class Closures(Protocol):
    """The reference evaluation, asked about a lone row that holds a few cells."""

    def judge(self, rule: Rule, row: Mapping[str, Any]) -> Verdict:
        """The verdict of a rule, applicability included."""

    def decide(self, rule: Rule, row: Mapping[str, Any]) -> Verdict | None:
        """The verdict of its logic alone; None when it can't be computed."""

    def part(self, rule: Rule, logic: Any) -> Rule | None:
        """A part of a rule's logic as a rule of its own; None when it is none."""


class Answers(dict[Any, Any]):
    """cells → what `judge` says of a row that has these cells and nothing else."""

    def __init__(self, names: Sequence[str], judge: Callable[[Mapping[str, Any]], Any]) -> None:
        super().__init__()
        self._names = names
        self._judge = judge

    def __missing__(self, key: Any) -> Any:
        cells = key if len(self._names) > 1 else (key,)
        row = {n: cell for n, cell in zip(self._names, cells, strict=True) if cell is not ABSENT}
        answer = self._judge(row)
        if len(self) >= _MAX_CACHED:
            self.clear()
        self[key] = answer
        return answer


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


@dataclass(frozen=True)
class Plan:
    """A generated function for the rows at one kind of place, and the rules it answers."""

    indices: tuple[int, ...]
    run: Callable[[Mapping[str, Any], Callable[[int], Verdict]], list[Verdict]]


class Generator:
    """Writes the function of one `Plan`.

    `holds` tells which forms the rows here can hold, `closures` what the rules mean.
    """

    def __init__(
        self,
        context: StudyContext,
        holds: Callable[[str], bool],
        closures: Closures,
        clean: tuple[Verdict, Verdict],
    ) -> None:
        self._context = context
        self._holds = holds
        self._closures = closures
        self._namespace: dict[str, Any] = {"PASS": clean[0], "FAIL": clean[1]}
        self._clean = clean
        self._columns: dict[str, int] = {}
        self._values: dict[int, str] = {}
        self._statements: list[str] = []

    def build(self, rules: Sequence[Rule | Verdict | None]) -> Plan:
        """`rules` by index: a rule to evaluate, a fixed verdict, or None for no result."""
        indices = tuple(i for i, rule in enumerate(rules) if rule is not None)
        codes = [self._code(i, rules[i]) for i in indices]
        lines = [*self._prologue(), *self._statements, f"return [{', '.join(codes)}]"]
        source = "\n ".join(["def run(d, slow):", *lines])
        exec(compile(source, "<rules>", "exec"), self._namespace)  # noqa: S102  # generated names only
        return Plan(indices, self._namespace["run"])

    def _prologue(self) -> Iterable[str]:
        names = tuple(self._columns)
        if not names:
            return
        self._namespace["cells"] = _cell_reader(names)
        yield f"{''.join(f'k{i}, ' for i in range(len(names)))} = cells(d)"
        for i, name in self._values.items():
            yield f"d{i} = {name}[k{i}]"

    def _constant(self, value: Any) -> str:
        name = f"c{len(self._namespace)}"
        self._namespace[name] = value
        return name

    def _code(self, index: int, rule: Any) -> str:
        if isinstance(rule, tuple):
            return self._constant(rule)
        slow = f"slow({index})"
        shown = branching_dependencies(self._context, rule.column.field)
        reads = self._read_columns(rule)
        if shown is None or reads is None:
            return slow
        own = dependencies(self._context, [rule.field]) if rule.column.branching else {}
        columns = {**(own or {}), **reads, **shown}
        if not all(self._holds(column.form) for column in columns.values()):
            return slow
        if _varied(columns) <= 1:
            return self._memo(columns, lambda row: self._closures.judge(rule, row))
        verdict = None if rule.column.branching else self._tree(rule, slow)
        return slow if verdict is None else verdict

    def _read_columns(self, rule: Rule) -> dict[str, Column] | None:
        if any(event is not None for _name, event in rule.reads):
            return None
        return dependencies(self._context, [name for name, _event in rule.reads])

    def _memo(self, columns: Mapping[str, Column], judge: Callable[[Any], Any]) -> str:
        names = tuple(columns)
        answers = self._constant(Answers(names, judge))
        keys = [f"k{self._column(name)}" for name in names]
        return f"{answers}[{keys[0] if len(keys) == 1 else '(' + ', '.join(keys) + ')'}]"

    def _column(self, name: str) -> int:
        return self._columns.setdefault(name, len(self._columns))

    # --- rules over several columns ----------------------------------------------------------

    def _tree(self, rule: Rule, slow: str) -> str | None:
        """The rule as Python logic over leaves that are true, false or None (ask the closures)."""
        leaves: list[str] = []
        expression = self._logic(rule, rule.logic, leaves, 0)
        if expression is None or not leaves or len(leaves) > _MAX_LEAVES:
            return None
        names = [f"l{len(self._statements) + i}" for i in range(len(leaves))]
        self._statements += [f"{n} = {code}" for n, code in zip(names, leaves, strict=True)]
        for i, name in enumerate(names):
            expression = expression.replace(f"<{i}>", name)
        is_open = f"{names[0]} is None" if len(names) == 1 else f"None in ({', '.join(names)})"
        return f"({slow} if {is_open} else PASS if {expression} else FAIL)"

    def _logic(self, rule: Rule, logic: Any, leaves: list[str], depth: int) -> str | None:
        if isinstance(logic, bool):
            return str(logic)
        if not isinstance(logic, dict) or depth > 20:
            return None
        [(operator, arguments)] = logic.items()
        arguments = arguments if isinstance(arguments, list | tuple) else [arguments]
        is_var_test = isinstance(arguments[0], dict) and "var" in arguments[0] if arguments else 0
        if operator in {"and", "or"} or (operator in {"!", "!!"} and not is_var_test):
            parts = [self._logic(rule, a, leaves, depth + 1) for a in arguments]
            if None in parts:
                return None
            joined = f" {operator} ".join(str(part) for part in parts)
            return f"(not {joined})" if operator == "!" else f"({joined})"
        if operator in {"if", "?:"}:
            return self._chain(rule, arguments, leaves, depth)
        code = self._pair(operator, arguments) or self._single(rule, logic)
        if code is None:
            return None
        leaves.append(code)
        return f"<{len(leaves) - 1}>"

    def _chain(
        self, rule: Rule, arguments: Sequence[Any], leaves: list[str], depth: int
    ) -> str | None:
        """if/else-if: an open leaf anywhere asks the closures, so only Kleene's sure cases stay."""
        parts = [self._logic(rule, a, leaves, depth + 1) for a in arguments]
        if None in parts or len(parts) > _MAX_LEAVES:
            return None
        result = parts.pop() if len(parts) % 2 else "False"
        for condition, value in reversed(list(zip(parts[::2], parts[1::2], strict=True))):
            result = f"({value} if {condition} else {result})"
        return result

    def _single(self, rule: Rule, logic: Any) -> str | None:
        part = self._closures.part(rule, logic)
        columns = None if part is None else self._read_columns(part)
        if part is None or not columns or _varied(columns) > 1:
            return None
        passed, failed = self._clean

        def judge(row: Mapping[str, Any]) -> bool | None:
            verdict = self._closures.decide(part, row)
            return True if verdict == passed else False if verdict == failed else None

        return self._memo(columns, judge)

    def _pair(self, operator: str, arguments: Sequence[Any]) -> str | None:
        """A comparison of two numbers or two dates of the row."""
        if operator not in _COMPARISONS or len(arguments) != 2:
            return None
        columns = [self._context.columns.get(_var_name(argument)) for argument in arguments]
        first, second = columns
        if first is None or second is None:
            return None
        are_numbers = first.kind in _NUMBERS and second.kind in _NUMBERS
        if not are_numbers and not first.kind is Kind.DATE is second.kind:
            return None
        a, b = self._value(first), self._value(second)
        return f"({a} {_COMPARISONS[operator]} {b} if {a} is not None is not {b} else None)"

    def _value(self, column: Column) -> str:
        index = self._column(column.name)
        if index not in self._values:
            context = self._context
            judge = Answers([column.name], lambda row: _complete(column, row, context))
            self._values[index] = self._constant(judge)
        return f"d{index}"


def _varied(columns: Mapping[str, Column]) -> int:
    """How many of the columns take so many values that combinations would not repeat."""
    return sum(column.kind not in _REPEATING_VALUES for column in columns.values())


def _var_name(logic: Any) -> str:
    if not isinstance(logic, dict) or len(logic) != 1:
        return ""
    name = logic.get("var", "")
    name = name[0] if isinstance(name, list | tuple) and len(name) == 1 else name
    return name if isinstance(name, str) else ""


def _complete(column: Column, row: Mapping[str, Any], context: StudyContext) -> Any:
    """A cell as a comparable number or day; None unless it is complete and valid."""
    text = text_of(row.get(column.name))
    if not text:
        return None
    _label, value = typed(column, text, context)
    if isinstance(value, Decimal):
        return settle(value)
    is_day = isinstance(value, Moment) and value.precision == DAY and not value.is_partial
    return value.low.toordinal() if is_day and isinstance(value, Moment) else None


_TEXT = frozenset({str, type(None), _Absent})


def _cell_reader(names: tuple[str, ...]) -> Callable[[Mapping[str, Any]], Iterable[Any]]:
    pick = itemgetter(*names) if len(names) > 1 else lambda data: (data[names[0]],)

    def read(data: Mapping[str, Any]) -> Iterable[Any]:
        try:
            cells = pick(data)
        except KeyError:
            cells = tuple(data.get(name, ABSENT) for name in names)
        return cells if _TEXT.issuperset(map(type, cells)) else [_as_text(cell) for cell in cells]

    return read


def _as_text(cell: Any) -> Any:
    """Numbers as the text they are read as; other things only the closures can take."""
    if type(cell) in _TEXT:
        return cell
    text = text_of(cell)
    if text is None or isinstance(cell, str):
        raise SlowRowError
    return text
