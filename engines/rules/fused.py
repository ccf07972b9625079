"""The fast tier of standard mode: one code object for a whole rule set.

Same answers as the closures, which stay the reference: what is not generated here is a call of
them. Each column is read once and its number computed once; comparisons with numbers and between
texts are inlined; any other expression over one column is looked up by the cell (studies repeat
their values). Rule text never becomes code: the source holds generated names only, every constant
and key goes through the namespace (reference/jsonlogic.md 6.2).
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import itemgetter
from typing import Any

from engines.rules import js
from engines.rules.standard import compile_standard

_MAX_CACHED = 4096
_MAX_BRANCHES = 16
_MAX_NESTING = 24
_COMPARE = frozenset({"<", "<=", ">", ">="})
_BOOLEAN = _COMPARE | {"==", "===", "!=", "!==", "!", "!!", "in", "all", "some", "none"}
_SCOPED = frozenset({"map", "filter", "all", "some", "none", "reduce"})


class _Boxed:
    """A cell that must not be mistaken for an equal one: True is not 1."""

    __slots__ = ("raw",)

    def __init__(self, raw: Any) -> None:
        self.raw = raw


class SlowRecordError(Exception):
    """A cell (list, object) that only the closures can take."""


_BOXES = {True: _Boxed(True), False: _Boxed(False)}
_PLAIN = frozenset({str, int, float, type(None)})


def _box(cell: Any) -> Any:
    if isinstance(cell, bool):
        return _BOXES[cell]
    if type(cell) in _PLAIN:
        return cell
    raise SlowRecordError


def _raw(key: Any) -> Any:
    return key.raw if isinstance(key, _Boxed) else key


class _Numbers(dict[Any, Any]):
    """cell → JavaScript's Number(cell)."""

    def __missing__(self, key: Any) -> int | float:
        number = js.to_number(_raw(key))
        if len(self) < _MAX_CACHED:
            self[key] = number
        return number


class Texts(dict[Any, Any]):
    """cell → the cell when Python compares it as JavaScript does (ASCII text), else None."""

    def __missing__(self, key: Any) -> str | None:
        text = key if type(key) is str and key.isascii() else None
        if len(self) < _MAX_CACHED:
            self[key] = text
        return text


class Answers(dict[Any, Any]):
    """cell → value of an expression over that one column."""

    def __init__(self, name: str, expression: Callable[[Any], Any]) -> None:
        super().__init__()
        self._name = name
        self._expression = expression

    def __missing__(self, key: Any) -> Any:
        value = self._expression({self._name: _raw(key)})
        if len(self) < _MAX_CACHED and not isinstance(value, list | dict):
            self[key] = value
        return value


class PairAnswers(dict[Any, Any]):
    """(cell, cell) → value of an expression over those two columns."""

    def __init__(self, names: tuple[str, str], expression: Callable[[Any], Any]) -> None:
        super().__init__()
        self._names = names
        self._expression = expression

    def __missing__(self, key: tuple[Any, Any]) -> Any:
        value = self._expression(dict(zip(self._names, map(_raw, key), strict=True)))
        if len(self) < _MAX_CACHED:
            self[key] = value
        return value


def defined(logic: Any) -> Callable[[Any], Any]:
    """The closures of an expression, with null where JavaScript has undefined."""
    expression = compile_standard(logic)

    def evaluate(data: Any) -> Any:
        value = expression(data)
        return None if value is js.UNDEFINED else value

    return evaluate


def fuse(logics: Sequence[Any]) -> Callable[[Any], list[Any]]:
    """A function data -> [value of each rule]; RuleError as in `compile_standard`."""
    expressions = [defined(logic) for logic in logics]
    fused = _Generator().build(logics, expressions)

    def evaluate(data: Any) -> list[Any]:
        if type(data) is dict:
            try:
                return fused(data)
            except (SlowRecordError, TypeError):  # a cell that no dict takes as a key
                pass
        return [expression(data) for expression in expressions]

    return evaluate


PLAIN: frozenset[type] = frozenset({str, int, float, type(None), _Boxed})


def boxed(cells: Sequence[Any]) -> Sequence[Any]:
    """A column's cells so that equal ones are alike; SlowRecordError for lists and objects."""
    return cells if _PLAIN.issuperset(map(type, cells)) else list(map(_box, cells))


def cell_reader(names: tuple[str, ...]) -> Callable[[dict[str, Any]], Iterable[Any]]:
    """A function that reads the columns of one record; what is absent is null, as `var` has it."""
    pick = itemgetter(*names) if len(names) > 1 else lambda data: (data[names[0]],)

    def read(data: dict[str, Any]) -> Iterable[Any]:
        try:
            cells = pick(data)
        except KeyError:
            cells = tuple(map(data.get, names))
        return cells if _PLAIN.issuperset(map(type, cells)) else map(_box, cells)

    return read


class _Generator:
    """Writes the function; `namespace` holds everything that is not a generated name."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {"P": _PLAIN, "B": _box, "T": Texts()}
        self.columns: dict[str, int] = {}
        self.numbers: set[int] = set()
        self.texts: set[int] = set()

    def build(
        self, logics: Sequence[Any], expressions: Sequence[Callable[[Any], Any]]
    ) -> Callable[[Any], list[Any]]:
        keys = [json.dumps(logic, sort_keys=True) for logic in logics]
        counts = Counter(keys)
        answers: dict[str, str] = {}
        lines: list[str] = []
        for key, logic, expression in zip(keys, logics, expressions, strict=True):
            if key not in answers:
                code = self.code(logic, 0) or f"{self.constant(expression)}(d)"
                answers[key] = code if counts[key] == 1 else f"v{len(answers)}"
                lines += [] if answers[key] is code else [f"{answers[key]} = {code}"]
        result = f"return [{', '.join(answers[key] for key in keys)}]"
        source = "\n ".join(["def fused(d):", *self._prologue(), *lines, result])
        exec(compile(source, "<rules>", "exec"), self.namespace)  # noqa: S102  # generated names only
        function: Callable[[Any], list[Any]] = self.namespace["fused"]
        return function

    def _prologue(self) -> Iterable[str]:
        if not self.columns:
            return
        names = tuple(self.columns)
        self.namespace["cells"] = cell_reader(names)
        yield f"{''.join(f'k{i}, ' for i in range(len(names)))} = cells(d)"
        for i in range(len(names)):
            if i in self.numbers:
                yield f"n{i} = {self.constant(_Numbers())}[k{i}]"
            if i in self.texts:
                yield f"s{i} = T[k{i}]"

    def constant(self, value: Any) -> str:
        """A generated name for any object."""
        name = f"c{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def column(self, name: str) -> int:
        """The number of a column."""
        return self.columns.setdefault(name, len(self.columns))

    def code(self, logic: Any, depth: int) -> str | None:
        """Source for an expression, None where only the closure of the whole rule will do."""
        if not isinstance(logic, dict) or len(logic) != 1:
            return None if isinstance(logic, dict | list | tuple) else self.constant(logic)
        [(operator, arguments)] = logic.items()
        arguments = arguments if isinstance(arguments, list | tuple) else [arguments]
        return (
            self._comparison(operator, arguments)
            or self._connective(operator, arguments, depth)
            or self._looked_up(logic)
            or f"{self.constant(defined(logic))}(d)"
        )

    def _comparison(self, operator: str, arguments: Sequence[Any]) -> str | None:
        if operator not in _COMPARE or len(arguments) not in {2, 3 if operator[0] == "<" else 2}:
            return None
        sides = [simple_var(argument) for argument in arguments]
        if len(arguments) == 2 and None not in sides:
            return self._text_comparison(operator, arguments)
        if all(bool(side) != _is_number(a) for side, a in zip(sides, arguments, strict=True)):
            pairs = itertools.pairwise(arguments)
            if all(_is_number(a) or _is_number(b) for a, b in pairs):
                return f"({f' {operator} '.join(self._number(a) for a in arguments)})"
        return None

    def _number(self, logic: Any) -> str:
        name = simple_var(logic)
        if name is None:
            return self.constant(js.double(logic))
        self.numbers.add(self.column(name))
        return f"n{self.column(name)}"

    def _text_comparison(self, operator: str, arguments: Sequence[Any]) -> str:
        a, b = (self.column(simple_var(argument) or "") for argument in arguments)
        self.texts |= {a, b}
        slow = self.constant(defined({operator: list(arguments)}))
        return f"(s{a} {operator} s{b} if s{a} is not None is not s{b} else {slow}(d))"

    def _connective(self, operator: str, arguments: Sequence[Any], depth: int) -> str | None:
        if operator not in {"and", "or", "if", "?:"} or depth >= _MAX_NESTING or not arguments:
            return None
        is_if = operator in {"if", "?:"}
        conditions = arguments[:-1:2] if is_if else arguments
        if len(arguments) > _MAX_BRANCHES or not all(map(is_boolean, conditions)):
            return None
        codes = [self.code(argument, depth + 1) for argument in arguments]
        if None in codes:
            return None
        if not is_if:
            return f"({f' {operator} '.join(map(str, codes))})"
        result = codes.pop() if len(codes) % 2 else "None"
        for condition, value in reversed(list(zip(codes[::2], codes[1::2], strict=True))):
            result = f"({value} if {condition} else {result})"
        return result

    def _looked_up(self, logic: Any) -> str | None:
        name = only_column(logic)
        if name is None:
            return None
        answers = Answers(name, defined(logic))
        return f"{self.constant(answers)}[k{self.column(name)}]"


def _is_number(logic: Any) -> bool:
    return isinstance(logic, int | float) and not isinstance(logic, bool)


def is_boolean(logic: Any) -> bool:
    """Whether an expression is true or false, so that Python's `and` means JavaScript's."""
    if isinstance(logic, bool):
        return True
    if not isinstance(logic, dict) or len(logic) != 1:
        return False
    [(operator, arguments)] = logic.items()
    if operator in {"and", "or"} and isinstance(arguments, list | tuple) and arguments:
        return all(map(is_boolean, arguments))
    return operator in _BOOLEAN


def simple_var(logic: Any) -> str | None:
    """The name in {"var": name} when it is one plain key of the data."""
    if not isinstance(logic, dict) or len(logic) != 1 or "var" not in logic:
        return None
    name = logic["var"]
    if isinstance(name, list | tuple) and len(name) == 1:
        name = name[0]
    return name if isinstance(name, str) and name and "." not in name else None


def only_column(logic: Any) -> str | None:
    """The one column an expression reads; None when there are more, none, or that can't be told."""
    names: set[str] = set()
    if not _collect_columns(logic, names) or len(names) != 1:
        return None
    return names.pop()


def _collect_columns(logic: Any, names: set[str]) -> bool:
    """Collect the columns of an expression; False when it may read anything else."""
    if isinstance(logic, list | tuple):
        return all(_collect_columns(item, names) for item in logic)
    if not isinstance(logic, dict) or len(logic) != 1:
        return not isinstance(logic, dict)
    [(operator, arguments)] = logic.items()
    if operator == "var":
        name = simple_var(logic)
        names.update([name] if name else [])
        return name is not None
    if operator in _SCOPED or operator == "/" or operator.startswith("missing"):
        return False
    return _collect_columns(arguments, names)
