"""Which rows of a subject count: those at a place, the latest, the highest …"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from rules.compare import less
from rules.values import Unknown, Value
from study.query.cells import Line, State
from study.query.schema import Newest, Oldest, Rows
from study.query.tree import VISITS, Places, Source

ValueOf: TypeAlias = Callable[[Line], Value]


def standing(lines: Sequence[Line], place: Places | None) -> list[Line]:
    """Those at the events or visits of `place`."""
    if place is None:
        return list(lines)
    return [line for line in lines if stands(line, place)]


def stands(line: Line, place: Places) -> bool:
    """Whether a row stands at the events, or is one of the visits, of `place`."""
    if line.form == VISITS and not line.event:
        return line.values["@visits.visit"] in place.visits
    return line.event in place.events


def chosen(
    lines: Sequence[Line], rows: Rows | None, source: Source | None, value_of: ValueOf | None = None
) -> list[Line]:
    """The rows that `rows` picks from lines in order; `source` None: of a form, whose blanks count."""
    if rows is None or rows == "all":
        return list(lines)
    told = [line for line in lines if source is None or _is_told(line, source)]
    if isinstance(rows, Newest):
        return told[-rows.latest :]
    if isinstance(rows, Oldest):
        return told[: rows.first]
    if rows == "latest":
        return told[-1:]
    if rows == "first":
        return told[:1]
    read = value_of or (_reader(source) if source is not None else None)
    return _extreme(told, rows == "highest", read) if read is not None else told


def _is_told(line: Line, source: Source) -> bool:
    return line.cell(source).state in {State.VALUE, State.CODE}


def _reader(source: Source) -> ValueOf:
    return lambda line: line.subject.measure.value(line, source, line.cell(source))


def _extreme(lines: Sequence[Line], highest: bool, value_of: ValueOf) -> list[Line]:
    """Those that no other surely exceeds: ties, and what bounds leave open."""
    known = [(line, value) for line in lines if not isinstance(value := value_of(line), Unknown)]
    values = [value for _line, value in known]
    record = lines[0].subject.record if lines else None

    def exceeded(value: Value) -> bool:
        assert record is not None  # noqa: S101
        pairs = ((value, other) if highest else (other, value) for other in values)
        return any(less(record, low, high) is True for low, high in pairs)

    return [line for line, value in known if not exceeded(value)]
