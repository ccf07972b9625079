"""What `by` groups rows by, and the names and order of the groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date

from rules.values import Code, Items, Moment, Reason, Unknown, Value
from study.query.cells import Holder, Line, State, as_moment
from study.query.names import Names
from study.query.related import related
from study.query.sorting import natural
from study.query.tree import Key, Source

GroupValue = str | None
_PARTIAL = Unknown(Reason.PARTIAL_DATE)


def values(key: Key, line: Line) -> Sequence[GroupValue] | Unknown:
    """The groups that a row belongs to: several for a checkbox, None for a blank."""
    if key.kind == "subject":
        return (line.subject.id,)
    if key.kind == "event":
        return (line.event or None,)
    assert key.source is not None  # noqa: S101
    other = related(line, key.source.form)
    if other is None:
        return (None,)
    cell = other.cell(key.source)
    if isinstance(cell.value, Unknown) and cell.value.reason is Reason.NOT_EXPORTED:
        return cell.value
    if cell.state is not State.VALUE:
        return (None,)
    if isinstance(cell.value, Unknown):
        return cell.value
    if key.kind == "column":
        return _coded(cell.value)
    day = as_moment(cell.value)
    return _period(key, day, line.subject) if day else Unknown(Reason.TYPE_MISMATCH)


def _coded(value: Value) -> Sequence[GroupValue]:
    if isinstance(value, Items):
        return [_coded(item)[0] for item in value.known] or (None,)
    if isinstance(value, bool):
        return ("1" if value else "0",)
    return (value.code if isinstance(value, Code) else str(value),)


def _period(key: Key, day: Moment, subject: Holder) -> Sequence[GroupValue] | Unknown:
    start = subject.names.design.start
    named = {period_name(key.kind, number(key.kind, end, start)) for end in day.days}
    return (named.pop(),) if len(named) == 1 else _PARTIAL


def number(kind: str, day: int, start: date) -> int:
    """The running number of the period that a day (as ordinal) lies in."""
    told = date.fromordinal(day)
    if kind == "week":
        return (day - start.toordinal()) // 7 + 1
    return (
        told.year * 12 + told.month - 1
        if kind == "month"
        else told.year * 4 + (told.month - 1) // 3
    )


def period_name(kind: str, at: int) -> str:
    """`2026-09`, `2026-Q3`, `W12` (contracts.md)."""
    if kind == "week":
        return f"W{at}"
    if kind == "month":
        return f"{at // 12:04d}-{at % 12 + 1:02d}"
    return f"{at // 4:04d}-Q{at % 4 + 1}"


def number_of(kind: str, name: str) -> int:
    """The running number of a named period."""
    if kind == "week":
        return int(name[1:])
    year, rest = name.split("-", 1)
    return int(year) * 12 + int(rest) - 1 if kind == "month" else int(year) * 4 + int(rest[1:]) - 1


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
            return 0, self.names.design.event_order.get(value, 10_000), natural(value)
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
