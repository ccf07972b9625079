"""Typed values worth trying for what a rule reads: at, below and above what the rule itself names."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from itertools import combinations, islice
from typing import Any

from core.rules import parse
from core.rules.context import Column, Kind, StudyContext, checkbox_column
from core.rules.expression import Type
from core.rules.limits import parts

Value = str | tuple[str, ...]
"""A cell as REDCap exports it, or the ticked codes of a checkbox; "" and () are blank."""
Slot = tuple[str, str | None]
"""A field and its event; None is the row's own."""

MOST = 24
LONGEST = 200
_TAKEN = {Type.NUMBER: Kind.NUMBER, Type.DATE: Kind.DATE, Type.TIME: Kind.TIME}
_JOINS = frozenset({"and", "or", "!", "!!", "if", "?:", "across_events"})


@dataclass
class Named:
    """What the conditions that read a field name beside it."""

    constants: list[str] = field(default_factory=list)
    is_today: bool = False


def named_in(logic: Any, context: StudyContext) -> Mapping[str, Named]:
    """Field -> what stands beside it in its conditions."""
    found: dict[str, Named] = {}
    for condition in _conditions(logic):
        inner = [*parts(condition)][::-1]  # as they are written
        names = {name for one in inner if (name := _variable(one))}
        constants = [str(one) for one in inner if is_constant(one) and one not in names]
        is_today = any(isinstance(one, Mapping) and "today" in one for one in inner)
        for name in names:
            column = context.columns.get(name)
            about = found.setdefault(column.field if column else name, Named())
            fresh = (one for one in constants if one not in about.constants)
            about.constants += [one for one in fresh if len(one) <= LONGEST]
            about.is_today |= is_today
    return found


def values(column: Column, named: Named, today: date, taken: Type | None) -> list[Value]:
    """Values of a column, the likeliest to decide first; none of them blank.

    `column` of a checkbox is the whole one. `taken`: what a text is taken for by what stands beside it.
    """
    numbers = [n for text in named.constants if (n := parse.exact(text)) is not None]
    tried: Iterator[Value]
    match _TAKEN.get(taken, column.kind) if column.kind is Kind.TEXT and taken else column.kind:
        case Kind.TICKS:
            tried = _ticked(column, named)
        case Kind.CODE | Kind.FLAG:
            tried = (code for code in [*named.constants, *column.choices] if code in column.choices)
        case Kind.NUMBER | Kind.INTEGER:
            tried = _numbers(numbers, is_whole=column.kind is Kind.INTEGER)
            if column.decimal_comma:
                tried = (one.replace(".", ",") for one in tried)
        case Kind.DATE:
            tried = map(str, _days(named, numbers, today))
        case Kind.DATETIME:
            written = (one for one in named.constants if parse.is_full_date(one) and ":" in one)
            tried = iter([*written, *(f"{day} 08:00" for day in _days(named, numbers, today))])
        case Kind.TIME:
            clocks = [one for one in named.constants if parse.clock(one)]
            tried = iter([*clocks, "08:00", "09:00", "10:00", "00:00", "23:59"])
        case _:
            tried = _texts(named)
    return [*islice(dict.fromkeys(tried), MOST)]


def cells(column: Column, value: Value) -> dict[str, str]:
    """The cells of a row that hold a value of a column."""
    if column.kind is not Kind.TICKS:
        return {column.name: str(value)}
    return ticks(column, value) if value else dict.fromkeys(ticks(column, ()), "")


def ticks(column: Column, ticked: Collection[str]) -> dict[str, str]:
    """The cells of a checkbox's boxes."""
    return {
        checkbox_column(column.name, code): "1" if code in ticked else "0"
        for code in column.choices
    }


def is_constant(part: Any) -> bool:
    """Whether a part of a rule is a text or number that it compares with."""
    return isinstance(part, str | int | float) and not isinstance(part, bool)


def _conditions(logic: Any) -> Iterator[Any]:
    """The parts of a rule that no connective splits."""
    todo = [logic]
    while todo:
        part = todo.pop()
        if not isinstance(part, Mapping) or len(part) != 1:
            continue
        [(name, given)] = part.items()
        if name in _JOINS:
            todo.extend(given if isinstance(given, list | tuple) else [given])
        else:
            yield part


def _variable(part: Any) -> str:
    name = part.get("var") if isinstance(part, Mapping) else None
    name = name[0] if isinstance(name, list | tuple) and name else name
    return name if isinstance(name, str) else ""


def _numbers(named: list[Decimal], *, is_whole: bool) -> Iterator[str]:
    wanted = [*named]
    for number in named:
        exponent = number.as_tuple().exponent
        step = Decimal(1).scaleb(exponent) if isinstance(exponent, int) and exponent < 0 else 1
        wanted += [number - step, number + step]
    wanted += [Decimal(one) for one in (1, 2, 0, 10, 100, -1)]
    yield from (f"{n:f}" for n in wanted if not is_whole or n == n.to_integral_value())


def _days(named: Named, numbers: list[Decimal], today: date) -> Iterator[date]:
    """Days that the rule names, then today, and as many days from it as the rule names."""
    moments = (parse.moment(one) for one in named.constants if parse.is_full_date(one))
    known = [one.low.date() for one in moments if one is not None]
    if not known or named.is_today:
        known.append(today)
    yield from known
    counts = [int(n) for n in numbers if abs(n) <= 5000 and n == n.to_integral_value()][:4]
    steps = [1, *counts, *(a + b for a, b in combinations(counts, 2))]
    steps += [a - b for a, b in combinations(counts, 2)] + [one + 1 for one in [*steps]]
    for step in sorted({*steps}, key=abs, reverse=True):
        for day in known:
            yield day - timedelta(step)
            yield day + timedelta(step)


def _texts(named: Named) -> Iterator[str]:
    yield from (one.strip() for one in named.constants if one.strip())
    yield "x"


def _ticked(column: Column, named: Named) -> Iterator[tuple[str, ...]]:
    asked = [code for code in named.constants if code in column.choices]
    for code in [*asked, *column.choices]:
        yield (code,)
    if len(asked) > 1:
        yield tuple(code for code in column.choices if code in asked)
