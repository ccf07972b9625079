"""Counts, means, extremes, sums and shares, with groups."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal, localcontext
from statistics import median

from core.rules.arithmetic import CONTEXT, to_number
from core.rules.values import Code, Items, Moment, Range, Reason, Unknown, Value
from study.facts import Scalar
from study.query.conditions import Doubts
from study.query.names import Names
from study.query.operands import is_missing, value_of
from study.query.schema import Aggregate
from study.query.subject import NOT_EXPORTED, Line, State, as_moment, related
from study.query.tree import Key, Plan, Read, Source, Span, Type, natural, rank

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

    by: tuple[GroupValue, ...]
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
    buckets: dict[tuple[GroupValue, ...], Bucket] = {}
    for entry in entries:
        parts = [groups_of(key, entry.line) for key in by]
        doubt = next((part for part in parts if isinstance(part, Unknown)), None)
        if doubt is not None:
            doubts.add(entry.line.subject, doubt)
            continue
        named = [part for part in parts if not isinstance(part, Unknown)]
        for name in itertools.product(*named):
            buckets.setdefault(name, Bucket(name)).entries.append(entry)
    return list(buckets.values())


def aggregate_value(aggregate: Aggregate, bucket: Bucket, *, rows: bool) -> Number | None:
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
    exact = [number for number in numbers if isinstance(number, Decimal)]
    with localcontext(CONTEXT):
        total = sum(exact, Decimal(0))
        return {"median": median(exact), "sum": total, "mean": total / len(exact)}[aggregate]


def as_scalar(number: Number | None) -> Scalar:
    """As a fact holds it: dates as ISO text."""
    return number.low.date().isoformat() if isinstance(number, Moment) else number


GroupValue = str | None
_PARTIAL = Unknown(Reason.PARTIAL_DATE)


def groups_of(key: Key, line: Line) -> Sequence[GroupValue] | Unknown:
    """The groups that a row belongs to: several for a checkbox, None for a blank."""
    if key.kind == "subject":
        return (line.subject.id,)
    if key.kind == "event":
        return (line.event or None,)
    assert key.source is not None  # noqa: S101
    other = related(line, key.source.form)
    if other is None:
        return NOT_EXPORTED if key.source.form in line.subject.unread else (None,)
    cell = other.cell(key.source)
    if isinstance(cell.value, Unknown) and cell.value.reason is Reason.NOT_EXPORTED:
        return cell.value
    if cell.state is not State.VALUE:
        return (None,)
    if isinstance(cell.value, Unknown):
        return cell.value
    if key.kind == "column":
        return _coded(cell.value)
    if (day := as_moment(cell.value)) is None:
        return _MISMATCH
    start = line.subject.names.design.start
    named = {period_name(key.kind, period_number(key.kind, end, start)) for end in day.days}
    return (named.pop(),) if len(named) == 1 else _PARTIAL


def _coded(value: Value) -> Sequence[GroupValue]:
    if isinstance(value, Items):
        return [_coded(item)[0] for item in value.known] or (None,)
    if isinstance(value, bool):
        return ("1" if value else "0",)
    return (value.code if isinstance(value, Code) else str(value),)


_PER_YEAR = {"month": 12, "quarter": 4}


def period_number(kind: str, day: int, start: date) -> int:
    """The running number of the period that a day (as ordinal) lies in."""
    if kind == "week":
        return (day - start.toordinal()) // 7 + 1
    told = date.fromordinal(day)
    return told.year * _PER_YEAR[kind] + (told.month - 1) * _PER_YEAR[kind] // 12


def period_name(kind: str, at: int) -> str:
    """`2026-09`, `2026-Q3`, `W12` (contracts.md)."""
    if kind == "week":
        return f"W{at}"
    year, part = divmod(at, _PER_YEAR[kind])
    return f"{year:04d}-{part + 1:02d}" if kind == "month" else f"{year:04d}-Q{part + 1}"


def number_of(kind: str, name: str) -> int:
    """The running number of a named period."""
    if kind == "week":
        return int(name[1:])
    year, part = name.split("-", 1)
    return int(year) * _PER_YEAR[kind] + int(part.removeprefix("Q")) - 1


@dataclass(frozen=True)
class KeyOrder:
    """Groups in the order of choices, events, time, or of their names; blanks last."""

    key: Key
    names: Names

    def rank(self, value: GroupValue) -> tuple[int, int, tuple[object, ...]]:
        """What to sort by."""
        if value is None:
            return 2, 0, ()
        if self.key.kind in {"month", "week", "quarter"}:
            return 0, number_of(self.key.kind, value), ()
        if self.key.kind == "event":
            return (0, self.names.design.event_order.get(value, 10_000), natural(value))
        codes = list(self.key.source.choices) if self.key.source else []
        is_site = self.key.source is not None and self.key.source.name == "@site"
        at = codes.index(value) if value in codes and not is_site else len(codes)
        return 0, at, natural(value)

    def label(self, value: GroupValue) -> str:
        """What people call a group."""
        if value is None:
            return ""
        if self.key.kind == "event":
            return self.names.design.metadata.event_label(value)
        source: Source | None = self.key.source if self.key.kind == "column" else None
        return source.choices.get(value, value) if source else value


_PERIODS = ("month", "week", "quarter")
MOST_PERIODS = 1000


def arranged(buckets: list[Bucket], plan: Plan, names: Names) -> list[Bucket]:
    """In the order of their keys, or of their values; empty periods between are listed."""
    orders = [KeyOrder(key, names) for key in plan.by]
    filled = _with_gaps(buckets, plan, names)
    filled.sort(key=lambda b: tuple(o.rank(v) for o, v in zip(orders, b.by, strict=True)))
    if plan.order is None:
        return filled
    named = [n for n, key in enumerate(plan.by) if key.source and key.source.name == plan.order.by]
    if named and plan.order_item is None:
        at = named[0]
        filled.sort(key=lambda b: orders[at].rank(b.by[at]), reverse=plan.order.desc)
        return filled
    known = [b for b in filled if measured(b, plan) is not None]
    known.sort(key=lambda b: rank(measured(b, plan)) or (0, 0), reverse=plan.order.desc)
    return known + [b for b in filled if measured(b, plan) is None]


def measured(bucket: Bucket, plan: Plan) -> Number | None:
    """The value of a group; with `@subject`, `count` counts rows."""
    by_subject = any(key.kind == "subject" for key in plan.by)
    return aggregate_value(plan.aggregate or "count", bucket, rows=by_subject)


def _with_gaps(buckets: list[Bucket], plan: Plan, names: Names) -> list[Bucket]:
    found = {bucket.by: bucket for bucket in buckets}
    for at, key in enumerate(plan.by):
        if key.kind not in _PERIODS:
            continue
        others = {by[:at] + by[at + 1 :] for by in found} or ({()} if len(plan.by) == 1 else set())
        listed = _periods(key, [by[at] for by in found], plan.listed, names)
        for rest, name in itertools.product(others, listed):
            by = (*rest[:at], name, *rest[at:])
            found.setdefault(by, Bucket(by))
    return list(found.values())


def _periods(key: Key, named: Sequence[GroupValue], span: Span | None, names: Names) -> list[str]:
    start = names.design.start
    numbers = [number_of(key.kind, name) for name in named if name is not None]
    first, last = (span.first, span.last) if span else (None, None)
    if first is not None:
        numbers.append(period_number(key.kind, first, start))
    if last is not None:
        numbers.append(period_number(key.kind, last, start))
    if not numbers:
        return []
    least, most = min(numbers), max(numbers)
    return [period_name(key.kind, n) for n in range(least, min(most, least + MOST_PERIODS) + 1)]
