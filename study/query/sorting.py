"""Orders of names and values."""

from __future__ import annotations

import re
from decimal import Decimal

from rules import parse
from rules.values import Clock, Code, Items, Moment, Range, Unknown, Value

_DIGITS = re.compile(r"(\d+)")


def natural(name: str) -> tuple[object, ...]:
    """P9 before P10; what reads alike otherwise by its letters."""
    parts = _DIGITS.split(name)
    return (*((0, int(p), "") if n % 2 else (1, 0, p) for n, p in enumerate(parts)), (2, 0, name))


def rank(value: Value) -> tuple[int, Decimal | str] | None:
    """What values of one column are ordered by: what is open by its lower end; None for what is not known."""
    if value is None or isinstance(value, Unknown):
        return None
    if isinstance(value, Code):
        return (0, value.number) if value.number is not None else (1, value.code)
    if isinstance(value, bool | Decimal):
        return 0, Decimal(value)
    if isinstance(value, Range):
        end = value.low if value.low is not None else value.high
        return 0, end if end is not None else Decimal(0)
    if isinstance(value, Moment):
        seconds = value.low.hour * 3600 + value.low.minute * 60 + value.low.second
        return 0, Decimal(value.low.toordinal() * 86_400 + seconds)
    if isinstance(value, Clock):
        return 0, Decimal(value.seconds)
    if isinstance(value, Items):
        return (0, Decimal(len(value.known))) if value.known else None
    return _text_rank(value)


def _text_rank(value: str) -> tuple[int, Decimal | str]:
    number = parse.exact(value.strip())
    if number is not None:
        return 0, number
    day = parse.moment(value.strip())
    told = rank(day) if day is not None else None
    return told if told is not None else (1, value)
