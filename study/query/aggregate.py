"""Counts, means, extremes, sums and shares, with groups."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from rules.arithmetic import CONTEXT, to_number
from rules.values import Moment, Range, Reason, Unknown, Value
from study.facts import Scalar
from study.query import keys
from study.query.cells import Line, as_moment
from study.query.found import Doubts, is_missing
from study.query.operands import value_of
from study.query.schema import Aggregate
from study.query.tree import Key, Read, Type

_MISMATCH = Unknown(Reason.TYPE_MISMATCH)
Number = Decimal | Moment


@dataclass
class Entry:
    """One row that an aggregate is made of; `held`: of a share, whether the conditions hold."""

    line: Line
    value: Number | None = None
    held: bool = True


@dataclass
class Bucket:
    """The entries of one group."""

    by: tuple[keys.GroupValue, ...]
    entries: list[Entry] = field(default_factory=list)

    @property
    def subjects(self) -> list[str]:
        """Who is in it, each once, in order."""
        return list(dict.fromkeys(entry.line.subject.id for entry in self.entries))


def entries_of(read: Read, lines: Iterable[Line], dated: bool, doubts: Doubts) -> list[Entry]:
    """The exact values of rows; who has one that is not exact is undecided."""
    found = []
    for line in lines:
        value = _exact(value_of(read, line, line.cell(read.source)), read, line, dated)
        if not isinstance(value, Unknown):
            found.append(Entry(line, value))
        elif not is_missing(value):
            doubts.add(line.subject, value)
    return found


def _exact(value: Value, read: Read, line: Line, dated: bool) -> Number | Unknown:
    if isinstance(value, Unknown):
        return value
    if read.type is Type.DATE or dated:
        day = as_moment(value)
        if day is None:
            return _MISMATCH
        return Unknown(Reason.PARTIAL_DATE) if day.is_partial else day
    number = to_number(line.subject.record, value)
    return Unknown(number.reason) if isinstance(number, Range) else number


def grouped(by: Sequence[Key], entries: Iterable[Entry], doubts: Doubts) -> list[Bucket]:
    """Entries by group; who cannot be assigned is undecided."""
    buckets: dict[tuple[keys.GroupValue, ...], Bucket] = {}
    for entry in entries:
        parts = [keys.values(key, entry.line) for key in by]
        doubt = next((part for part in parts if isinstance(part, Unknown)), None)
        if doubt is not None:
            doubts.add(entry.line.subject, doubt)
            continue
        named = [part for part in parts if not isinstance(part, Unknown)]
        for name in itertools.product(*named):
            buckets.setdefault(name, Bucket(name)).entries.append(entry)
    return list(buckets.values())


def value(aggregate: Aggregate, bucket: Bucket, *, rows: bool) -> Number | None:
    """The aggregate of a group; `rows`: count rows instead of subjects. None where there is nothing."""
    entries = bucket.entries
    if aggregate == "count":
        return Decimal(len(entries) if rows else len(bucket.subjects))
    if aggregate == "share":
        held = sum(entry.held for entry in entries)
        return CONTEXT.divide(Decimal(held), Decimal(len(entries))) if entries else None
    numbers = [entry.value for entry in entries if entry.value is not None]
    if not numbers:
        return None
    if aggregate in {"min", "max"}:
        choose = min if aggregate == "min" else max
        return choose(numbers, key=lambda n: n.low if isinstance(n, Moment) else n)
    return _of_numbers(aggregate, [n for n in numbers if isinstance(n, Decimal)])


def _of_numbers(aggregate: Aggregate, numbers: list[Decimal]) -> Decimal:
    if aggregate == "median":
        ordered, middle = sorted(numbers), len(numbers) // 2
        if len(numbers) % 2:
            return ordered[middle]
        return CONTEXT.divide(CONTEXT.add(ordered[middle - 1], ordered[middle]), Decimal(2))
    total = Decimal(0)
    for number in numbers:
        total = CONTEXT.add(total, number)
    return total if aggregate == "sum" else CONTEXT.divide(total, Decimal(len(numbers)))


def plain(number: Number | None) -> Scalar:
    """As a fact holds it: dates as ISO text."""
    return number.low.date().isoformat() if isinstance(number, Moment) else number
