"""The sweep of standard mode: the values of a rule set on many records, columns once, rules over
columns (design.md section 8).

A rule that is true or false is computed for a whole batch at once: each of its leaves is a number
with one byte per record, `and`, `or`, `!` and `if` are bitwise operations on them. A leaf over one
column asks the closures once per distinct cell; every other rule goes through them record by
record. As nothing is short-circuited here, a batch in which anything fails is halved until the
record that fails is alone, so that errors come where they come record by record.
"""

from __future__ import annotations

import json
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from engines.rules import fused
from engines.rules.chunks import Cells, Comparable, Index, chunks, columns, compared
from engines.rules.errors import RuleError
from engines.rules.fused import Answers, SlowRecordError, defined, simple_var

_SMALL = 8
_TEXTS = fused.Texts()
_MAX_DEPTH = 24
_COMPARE: dict[str, Callable[[str, str], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
Expression = Callable[[Any], Any]


class Batch:
    """Records, their columns, and the leaves already computed for them."""

    def __init__(self, records: Sequence[Any], cells: dict[str, Cells]) -> None:
        self.records = records
        self.cells = cells
        self.ones = int.from_bytes(b"\1" * len(records), "little")
        self.leaves: dict[int, int] = {}
        self._texts: dict[str, Comparable] = {}

    def texts(self, name: str) -> Comparable:
        """The cells that Python compares as JavaScript does (ASCII text)."""
        if name not in self._texts:
            self._texts[name] = Comparable(self.cells[name], _TEXTS, "")
        return self._texts[name]

    def bools(self, bits: int) -> list[bool]:
        """One byte per record as truths."""
        packed = bits.to_bytes(len(self.records), "little")
        truths: list[Any] = memoryview(packed).cast("?").tolist()
        return truths


Bits = Callable[[Batch], int]
Column = Callable[[Batch], list[Any]]


class StandardSweep:
    """Compiled rules over batches of records; `evaluate` is the reference, record by record."""

    def __init__(self, logics: Sequence[Any], evaluate: Callable[[Any], list[Any]]) -> None:
        self._evaluate = evaluate
        self._indices: dict[str, Index] = {}
        self._leaves: dict[str, Bits] = {}
        self._columns = [self._column(logic) for logic in logics]

    def run(self, records: Iterable[Any]) -> Iterator[list[Any]]:
        """The list of values of each record, in order; errors as in `evaluate`."""
        for chunk in chunks(records):
            yield from self._swept(chunk)

    def _swept(self, chunk: list[Any]) -> Iterator[list[Any]]:
        if len(chunk) > _SMALL and self._columns:
            try:
                yield from self._values(chunk)
                return
            except (SlowRecordError, RuleError, TypeError, RecursionError):
                half = len(chunk) // 2
            yield from self._swept(chunk[:half])
            yield from self._swept(chunk[half:])
        else:
            yield from map(self._evaluate, chunk)

    def _values(self, chunk: list[Any]) -> list[list[Any]]:
        if any(type(record) is not dict for record in chunk):
            raise SlowRecordError
        batch = Batch(chunk, columns(self._indices, chunk, None))
        return list(map(list, zip(*(column(batch) for column in self._columns), strict=True)))

    # --- compiling --------------------------------------------------------------------------------

    def _column(self, logic: Any) -> Column:
        bits = self._bits(logic, 0)
        if bits is not None:
            known = bits
            return lambda batch: batch.bools(known(batch))
        name = fused.only_column(logic)
        if name is None:
            expression = defined(logic)
            return lambda batch: list(map(expression, batch.records))
        self._read(name)
        answers = Answers(name, defined(logic))
        return lambda batch: list(map(answers.__getitem__, batch.cells[name].cells))

    def _read(self, *names: str) -> None:
        for name in names:
            self._indices.setdefault(name, Index(fused.boxed, fused.PLAIN))

    def _bits(self, logic: Any, depth: int) -> Bits | None:
        """The truths of an expression that is true or false by its form; None for any other."""
        if isinstance(logic, bool):
            return lambda batch: batch.ones if logic else 0
        if not _is_truth(logic) or depth > _MAX_DEPTH:
            return None
        [(name, arguments)] = logic.items()
        arguments = arguments if isinstance(arguments, list | tuple) else [arguments]
        if name in {"and", "or", "if", "?:"} or (name in {"!", "!!"} and _is_truth(arguments[0])):
            parts = [self._bits(argument, depth + 1) for argument in arguments]
            known = [part for part in parts if part is not None]
            return _COMBINED[name](known) if len(known) == len(parts) else None
        key = json.dumps(logic)
        if key not in self._leaves:
            self._leaves[key] = _once(self._leaf(logic, name, arguments), len(self._leaves))
        return self._leaves[key]

    def _leaf(self, logic: Any, name: str, arguments: Sequence[Any]) -> Bits:
        sides = [simple_var(argument) for argument in arguments]
        if name in _COMPARE and len(sides) == 2 and sides[0] and sides[1]:
            return self._texts(logic, _COMPARE[name], sides[0], sides[1])
        column = fused.only_column(logic)
        expression = defined(logic)
        if column is None:
            return lambda batch: _packed(map(expression, batch.records))
        self._read(column)
        answers = Answers(column, expression)
        return lambda batch: int.from_bytes(batch.cells[column].states(answers), "little")

    def _texts(
        self, logic: Any, compare: Callable[[str, str], bool], first: str, second: str
    ) -> Bits:
        """Two columns: text against text at once, anything else by the closures."""
        self._read(first, second)
        expression = defined(logic)
        gaps = fused.PairAnswers((first, second), expression)

        def bits(batch: Batch) -> int:
            a, b = batch.cells[first].cells, batch.cells[second].cells
            states = compared(
                compare, batch.texts(first), batch.texts(second), lambda row: gaps[a[row], b[row]]
            )
            return int.from_bytes(states, "little")

        return bits


def _packed(truths: Iterable[bool]) -> int:
    return int.from_bytes(bytes(truths), "little")


def _once(bits: Bits, number: int) -> Bits:
    """A leaf that several rules share is computed once per batch."""

    def evaluate(batch: Batch) -> int:
        known = batch.leaves.get(number)
        if known is None:
            known = batch.leaves[number] = bits(batch)
        return known

    return evaluate


def _is_truth(logic: Any) -> bool:
    """As `fused.is_boolean`, and an `if` all of whose results are."""
    if isinstance(logic, dict) and len(logic) == 1:
        [(name, arguments)] = logic.items()
        if name in {"if", "?:"} and isinstance(arguments, list | tuple) and len(arguments) % 2:
            return all(map(_is_truth, arguments))
        if name in {"and", "or"} and isinstance(arguments, list | tuple) and arguments:
            return all(map(_is_truth, arguments))
    return fused.is_boolean(logic)


def _all(parts: list[Bits]) -> Bits:
    def evaluate(batch: Batch) -> int:
        found = batch.ones
        for part in parts:
            found &= part(batch)
        return found

    return evaluate


def _any(parts: list[Bits]) -> Bits:
    def evaluate(batch: Batch) -> int:
        found = 0
        for part in parts:
            found |= part(batch)
        return found

    return evaluate


def _not(parts: list[Bits]) -> Bits:
    return lambda batch: batch.ones ^ parts[0](batch)


def _chosen(parts: list[Bits]) -> Bits:
    def evaluate(batch: Batch) -> int:
        found = parts[-1](batch)
        for condition, value in reversed(list(zip(parts[:-1:2], parts[1::2], strict=True))):
            which = condition(batch)
            found = (which & value(batch)) | (found & ~which)
        return found

    return evaluate


_COMBINED: dict[str, Callable[[list[Bits]], Bits]] = {
    **{"and": _all, "or": _any, "!": _not, "!!": lambda parts: parts[0]},
    **{"if": _chosen, "?:": _chosen},
}
