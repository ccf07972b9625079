"""Constants of a query, typed by what they are compared with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date, datetime, timedelta
from decimal import Decimal

from django.utils.translation import gettext as _

from core.rules import parse
from core.rules.context import Kind
from core.rules.values import DAY, Code, Moment, Value
from study.query.errors import QueryError, nearest
from study.query.tree import Source, Type

_TODAY = re.compile(r"today(?:([+-])(\d{1,5}))?")
ORDERED = frozenset({">", ">=", "<", "<=", "between"})
Plain = bool | int | float | str


def literal(value: Plain, source: Source, kind: Type, op: str, today: date, at: str) -> Value:
    """`value` beside a column (`kind`: its type, or that of what is computed of it). Raises QueryError."""
    if kind is Type.NUMBER:
        return _number(value, at)
    if kind is Type.DATE:
        return date_of(value, today, at)
    if kind is Type.TIME:
        found = parse.clock(value.strip()) if isinstance(value, str) else None
        if found is None:
            raise QueryError(
                at, _("A time of day is needed here, not “%(value)s”.") % {"value": value}
            )
        return found
    if kind is Type.TEXT:
        return _text(value, op, today, at)
    if op in ORDERED:
        return _code_number(value, source, at)
    return _code(value, source, at)


def whole_numbers(source: Source) -> bool:
    """Whether the codes have an order: all of them are integers."""
    codes = source.choices
    return bool(codes) and all(re.fullmatch(r"-?\d+", code) for code in codes)


def midnight(day: date) -> Moment:
    """A day as a value."""
    start = datetime(day.year, day.month, day.day)  # noqa: DTZ001
    return Moment(start, start, DAY)


def _number(value: Plain, at: str) -> Decimal:
    found = None if isinstance(value, bool) else parse.exact(str(value).strip())
    if found is None:
        raise QueryError(at, _("A number is needed here, not “%(value)s”.") % {"value": value})
    return found


def relative(value: Plain, today: date) -> Moment | None:
    """`today` and `today±n`; None for anything else."""
    found = _TODAY.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    days = int(found[2] or 0) * (-1 if found[1] == "-" else 1)
    return midnight(today + timedelta(days=days))


def date_of(value: Plain, today: date, at: str) -> Moment:
    """A date, or a day relative to today. Raises QueryError."""
    told = relative(value, today)
    if told is None and isinstance(value, str):
        told = parse.moment(value.strip())
    if told is None:
        raise QueryError(at, _("A date is needed here, not “%(value)s”.") % {"value": value})
    return told


def _text(value: Plain, op: str, today: date, at: str) -> Value:
    """Unvalidated text takes its type from this literal."""
    if isinstance(value, bool):
        raise QueryError(at, _("A text is needed here, not “%(value)s”.") % {"value": value})
    if not isinstance(value, str):
        return _number(value, at)
    if op == "contains":
        return value
    told = relative(value, today)
    if told is not None:
        return told
    if op not in ORDERED:
        return parse.moment(value.strip()) if parse.is_full_date(value.strip()) else value
    number = parse.number(value.strip())
    found = parse.moment(value.strip()) if number is None else number
    if found is None:
        raise QueryError(at, _("Texts have no order: compare with a number or a date."))
    return found


def _code(value: Plain, source: Source, at: str) -> Value:
    code = _spelled(value, source)
    if code is None:
        told = _("“%(value)s” is no choice of “%(name)s”.") % {"value": value, "name": source.name}
        known = {label: code for code, label in source.choices.items()}
        raise QueryError(at, told, nearest(str(value), known | {c: c for c in source.choices}))
    if source.column is None:
        return code
    if source.column.kind in {Kind.FLAG, Kind.TICK}:
        return Decimal(code)
    return Code(code, parse.exact(code), source.choices.get(code, ""))


def _code_number(value: Plain, source: Source, at: str) -> Decimal:
    if not whole_numbers(source):
        told = _("The choices of “%(name)s” have no order.") % {"name": source.name}
        raise QueryError(at, told)
    code = _spelled(value, source)
    return Decimal(code) if code is not None else _number(value, at)


def _spelled(value: Plain, source: Source) -> str | None:
    """The code that a code or a whole label means; of @site anything, known or not."""
    if isinstance(value, bool):
        value = int(value)
    text = str(value).strip()
    if text in source.choices:
        return text
    labels: dict[str, str] = {}
    columns: Mapping[str, str] = source.column.choices if source.column else {}
    is_tick = source.column is not None and source.column.kind is Kind.TICK
    for choices in (source.choices, {} if is_tick else columns):
        for code, label in choices.items():
            labels.setdefault(label.strip().casefold(), code)
    found = labels.get(text.casefold())
    return text if found is None and source.name == "@site" else found
