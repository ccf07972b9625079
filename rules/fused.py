"""The fast tier of standard mode: one code object for a whole rule set.

Same answers as the closures, which stay the reference: what is not generated here is a call of
them. All that the rules ask of one cell comes from its column's table in one look-up (`cells`);
comparisons of two columns and the connectives over both are inlined. Rule text never becomes code:
the source holds generated names only, every constant and key goes through the namespace
(reference/jsonlogic.md 6.2).
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from rules import js
from rules.cells import Known, SlowRecordError, Table, checked_reader
from rules.errors import RuleError
from rules.standard import compile_standard

_MAX_BRANCHES = 16
_MAX_NESTING = 24
_COMPARE = frozenset({"<", "<=", ">", ">="})
_BOOLEAN = _COMPARE | {"==", "===", "!=", "!==", "!", "!!", "in", "all", "some", "none"}
_SCOPED = frozenset({"map", "filter", "all", "some", "none", "reduce"})

Expression: TypeAlias = Callable[[Any], Any]
Code: TypeAlias = Callable[[Any, int], str]


class _Boxed:
    """A cell that must not be mistaken for an equal one: True is not 1."""

    __slots__ = ("raw",)

    def __init__(self, raw: Any) -> None:
        self.raw = raw


_BOXES = {True: _Boxed(True), False: _Boxed(False)}
_PLAIN: frozenset[type] = frozenset({str, int, float, type(None)})


def _box(cell: Any) -> Any:
    if isinstance(cell, bool):
        return _BOXES[cell]
    if type(cell) in _PLAIN:
        return cell
    raise SlowRecordError


def _raw(key: Any) -> Any:
    return key.raw if isinstance(key, _Boxed) else key


def defined(logic: Any) -> Expression:
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


class _Writer:
    """Writes one function; `namespace` holds everything that is not a generated name."""

    def __init__(self) -> None:
        self.namespace: dict[str, Any] = {}

    def constant(self, value: Any) -> str:
        """A generated name for any object."""
        name = f"c{len(self.namespace)}"
        self.namespace[name] = value
        return name

    def function(self, name: str, parameter: str, lines: Iterable[str]) -> Callable[[Any], Any]:
        """The function whose body is `lines`."""
        source = "\n ".join([f"def {name}({parameter}):", *lines])
        exec(compile(source, "<rules>", "exec"), self.namespace)  # noqa: S102  # generated names only
        function: Callable[[Any], Any] = self.namespace[name]
        return function


class _Column(_Writer):
    """All that is asked of one column's cells: parts of rules, its number, its text."""

    def __init__(self, name: str, place: int) -> None:
        super().__init__()
        self._name = name
        self._place = place
        self._numbers: dict[str, int] = {}
        self._codes: list[str] = []

    def names(self) -> str:
        """The names of all the answers, as a target of an assignment."""
        return "".join(f"a{self._place}_{number}, " for number in range(len(self._codes)))

    def part(self, logic: Any) -> str:
        """The name of the answer to an expression over this column."""
        return self._answer(json.dumps(logic), lambda: self._code(logic, 0))

    def number(self) -> str:
        """The name of the cell as JavaScript's Number."""
        return self._answer("number", lambda: "n")

    def text(self) -> str:
        """The name of what orders texts as JavaScript does; None for no text."""
        return self._answer("text", lambda: f"{self.constant(_order)}(x)")

    def _answer(self, key: str, code: Callable[[], str]) -> str:
        if key not in self._numbers:
            self._numbers[key] = len(self._codes)
            self._codes.append(code())
        return f"a{self._place}_{self._numbers[key]}"

    def table(self) -> Table:
        """cell → all the answers."""
        name, number = self.constant(self._name), self.constant(js.to_number)
        known = f"return ({''.join(f'{code}, ' for code in self._codes)})"
        answer = self.function("column", "x", [f"d = {{{name}: x}}", f"n = {number}(x)", known])

        def answers(key: Any) -> Known:
            try:
                found: Known = answer(_raw(key))
            except (RuleError, RecursionError):  # perhaps in a branch that is never reached
                raise SlowRecordError from None
            return found

        return Table(answers)

    def _code(self, logic: Any, depth: int) -> str:
        if isinstance(logic, dict) and len(logic) == 1:
            operator, arguments = _call(logic)
            code = _bounds(operator, arguments, self._operand)
            code = code or _connective(operator, arguments, depth, self._code)
            if code:
                return code
        return f"{self.constant(defined(logic))}(d)"

    def _operand(self, logic: Any) -> str:
        return self.constant(js.double(logic)) if _is_number(logic) else "n"


class _Generator(_Writer):
    """Writes the function of a rule set."""

    def __init__(self) -> None:
        super().__init__()
        self._columns: dict[str, _Column] = {}
        self._pairs: dict[str, str] = {}

    def build(
        self, logics: Sequence[Any], expressions: Sequence[Expression]
    ) -> Callable[[Any], list[Any]]:
        """A function data -> [value of each rule]; `expressions` are the closures of `logics`."""
        keys = [json.dumps(logic, sort_keys=True) for logic in logics]
        counts = Counter(keys)
        answers: dict[str, str] = {}
        lines: list[str] = []
        for key, logic, expression in zip(keys, logics, expressions, strict=True):
            if key not in answers:
                code = self._rule(logic) or f"{self.constant(expression)}(d)"
                answers[key] = code if counts[key] == 1 or code.isidentifier() else f"v{len(lines)}"
                lines += [] if answers[key] is code else [f"{answers[key]} = {code}"]
        result = f"return [{', '.join(answers[key] for key in keys)}]"
        return self.function("fused", "d", [*self._look_ups(), *lines, result])

    def _look_ups(self) -> Iterable[str]:
        if not self._columns:
            return
        read = self.constant(checked_reader(tuple(self._columns), _PLAIN, _box))
        yield f"{''.join(f'k{i}, ' for i in range(len(self._columns)))} = {read}(d)"
        for i, column in enumerate(self._columns.values()):
            yield f"{column.names()} = {self.constant(column.table())}[k{i}]"
        yield from (f"{name} = {code}" for code, name in self._pairs.items())

    def _column(self, name: str) -> _Column:
        if name not in self._columns:
            self._columns[name] = _Column(name, len(self._columns))
        return self._columns[name]

    def _rule(self, logic: Any) -> str | None:
        """Source for a rule, None where only its closure will do."""
        if isinstance(logic, dict) and len(logic) == 1:
            return self._code(logic, 0)
        return None if isinstance(logic, dict | list | tuple) else self.constant(logic)

    def _code(self, logic: Any, depth: int) -> str:
        name = only_column(logic)
        if name is not None:
            return self._column(name).part(logic)
        if isinstance(logic, bool):
            return repr(logic)
        if isinstance(logic, dict) and len(logic) == 1:
            operator, arguments = _call(logic)
            code = self._pair(operator, arguments)
            code = code or _connective(operator, arguments, depth, self._code)
            if code:
                return code
        return f"{self.constant(defined(logic))}(d)"

    def _pair(self, operator: str, arguments: Sequence[Any]) -> str | None:
        """A comparison of two columns: both texts by their order, anything else as numbers."""
        names = [simple_var(argument) for argument in arguments]
        if operator not in _COMPARE or len(names) != 2 or None in names:
            return None
        texts, numbers = [], []
        for name in names:
            column = self._column(name or "")
            texts.append(column.text())
            numbers.append(column.number())
        code = (
            f"{texts[0]} {operator} {texts[1]} if {texts[0]} is not None is not {texts[1]}"
            f" else {numbers[0]} {operator} {numbers[1]}"
        )
        return self._pairs.setdefault(code, f"p{len(self._pairs)}")


def _call(logic: dict[str, Any]) -> tuple[str, Sequence[Any]]:
    [(operator, arguments)] = logic.items()
    return operator, arguments if isinstance(arguments, list | tuple) else [arguments]


def _order(cell: Any) -> bytes | None:
    """Bytes in JavaScript's order of texts: by UTF-16 units."""
    return cell.encode("utf-16-be", "surrogatepass") if isinstance(cell, str) else None


def _bounds(operator: str, arguments: Sequence[Any], operand: Callable[[Any], str]) -> str | None:
    """Source for a column between written numbers."""
    if operator not in _COMPARE or len(arguments) not in {2, 3 if operator[0] == "<" else 2}:
        return None
    if all(bool(simple_var(a)) != _is_number(a) for a in arguments) and all(
        _is_number(a) or _is_number(b) for a, b in itertools.pairwise(arguments)
    ):
        return f"({f' {operator} '.join(map(operand, arguments))})"
    return None


def _connective(operator: str, arguments: Sequence[Any], depth: int, code: Code) -> str | None:
    """Source for `and`, `or` and `if` over what is true or false."""
    if operator not in {"and", "or", "if", "?:"} or depth >= _MAX_NESTING or not arguments:
        return None
    is_if = operator in {"if", "?:"}
    conditions = arguments[:-1:2] if is_if else arguments
    if len(arguments) > _MAX_BRANCHES or not all(map(is_boolean, conditions)):
        return None
    codes = [code(argument, depth + 1) for argument in arguments]
    if not is_if:
        return f"({f' {operator} '.join(codes)})"
    result = codes.pop() if len(codes) % 2 else "None"
    for condition, value in reversed(list(zip(codes[::2], codes[1::2], strict=True))):
        result = f"({value} if {condition} else {result})"
    return result


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
