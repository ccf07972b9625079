"""A checked query: names resolved, literals typed, places as events."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Literal, TypeAlias, TypeVar

from django.utils.functional import Promise

from core.rules import parse
from core.rules.context import Column
from core.rules.values import Clock, Code, Items, Moment, Range, Unknown, Value
from study.query.schema import Aggregate, As, Op, Order, Rows

T = TypeVar("T")


class Type(StrEnum):
    """What can be compared with what."""

    NUMBER = "number"
    DATE = "date"
    TIME = "time"
    CODE = "code"
    CODES = "codes"
    TEXT = "text"


SUBJECT, VISITS, PROJECT = "@", "@visits", "@project"
"""Forms of the columns that are no fields: one row a subject, a planned visit, the study."""
WORK = ("@findings", "@reviews", "@runs", "@changes")


@dataclass(frozen=True)
class Source:
    """A column: `name` as facts call it, the form whose rows hold it, its type.

    `label`: what people call a column that is no field.
    """

    name: str
    form: str
    type: Type
    column: Column | None = None
    choices: Mapping[str, str] = field(default_factory=dict)
    label: str | Promise = ""


@dataclass(frozen=True)
class Places:
    """What `place` names: events, and planned visits by their names."""

    events: frozenset[str]
    visits: frozenset[str]


@dataclass(frozen=True)
class Constant:
    """A typed constant."""

    value: Value


@dataclass(frozen=True)
class Ref:
    """A limit of the range of the field beside it."""

    side: Literal["low", "high"]
    times: Decimal


@dataclass(frozen=True)
class Read:
    """What a column holds, in the row at hand or where `place` and `rows` say, perhaps less `minus`."""

    source: Source
    place: Places | None = None
    rows: Rows | None = None
    minus: Operand | None = None
    how: As = "diff"

    @property
    def stands_alone(self) -> bool:
        """Whether its rows are its own and not those of the other conditions."""
        return self.place is not None or self.rows is not None

    @property
    def type(self) -> Type:
        """A difference is a number."""
        return self.source.type if self.minus is None else Type.NUMBER


Operand: TypeAlias = Constant | Ref | Read


@dataclass(frozen=True)
class Test:
    """One comparison; `right` as many as the operator takes."""

    left: Read
    op: Op
    right: tuple[Operand, ...] = ()
    every: bool = False


@dataclass(frozen=True)
class Joint:
    """Conditions that hold together: all of them, one of them, or none of them."""

    how: Literal["all", "any", "none"]
    parts: tuple[Condition, ...]


Condition: TypeAlias = Test | Joint


@dataclass(frozen=True)
class FormItem:
    """A whole form in `select`."""

    form: str
    sources: tuple[Source, ...]


Item: TypeAlias = Read | FormItem


Period = Literal["month", "week", "quarter"]


@dataclass(frozen=True)
class Key:
    """One of `by`: a column, or what a row itself tells."""

    kind: Literal["column", "subject", "event"] | Period
    source: Source | None = None


@dataclass(frozen=True)
class Span:
    """A period of days as ordinals, inclusive; None is open."""

    first: int | None
    last: int | None


@dataclass(frozen=True)
class Plan:
    """A query that can be answered; `listed`: the period across which empty groups are listed."""

    where: Joint
    of: Joint
    items: tuple[Item, ...]
    by: tuple[Key, ...]
    subjects: tuple[str, ...] | None = None
    rows: Rows | None = None
    place: Places | None = None
    period: Span | None = None
    listed: Span | None = None
    aggregate: Aggregate | None = None
    order: Order | None = None
    order_item: int | None = None
    limit: int | None = None


def cut(found: list[T], ranks: Sequence[object], plan: Plan) -> tuple[list[T], int]:
    """The first `limit` of what is ranked so, with the ties of the last, and how many were left out."""
    if plan.limit is None or len(found) <= plan.limit:
        return found, 0
    at = plan.limit
    while plan.order is not None and at < len(found) and ranks[at] == ranks[plan.limit - 1]:
        at += 1
    return found[:at], len(found) - at


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
