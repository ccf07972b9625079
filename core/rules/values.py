"""What an expression can be worth in clinical mode.

Plain Python stands for what is fully known: `bool`, `Decimal`, `str` (free text), `None` (a literal
null). The classes here hold the rest: what is unknown and why, what is only bounded (censored
values, partial dates), dates, clock times, coded answers and lists.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeAlias


class Reason(StrEnum):
    """Why a rule could not be decided or had to fail (contracts.md, check_rules)."""

    MISSING = "missing"
    MISSING_CODE = "missing_code"
    CENSORED = "censored"
    PARTIAL_DATE = "partial_date"
    NOT_EXPORTED = "not_exported"
    INVALID_CHOICE = "invalid_choice"
    UNIT_MISSING = "unit_missing"
    TYPE_MISMATCH = "type_mismatch"
    APPLICABILITY_UNKNOWN = "applicability_unknown"
    HIDDEN_WITH_VALUE = "hidden_with_value"


@dataclass(frozen=True, slots=True)
class Unknown:
    """Not evaluable. `reason` None: a computation without a result (division by zero)."""

    reason: Reason | None
    note: str = ""

    def __bool__(self) -> bool:
        raise TypeError("an unknown value has no truth")


@dataclass(frozen=True, slots=True)
class Range:
    """A number known only by its bounds; None is unbounded."""

    low: Decimal | None
    high: Decimal | None
    low_open: bool = False
    high_open: bool = False
    reason: Reason = Reason.CENSORED


DAY, MINUTE, SECOND = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or datetime: its earliest and latest meaning and the unit it was written in."""

    low: datetime
    high: datetime
    precision: int

    @property
    def is_partial(self) -> bool:
        """Whether the calendar day or the time of day was left open."""
        return self.low != self.high

    @property
    def days(self) -> tuple[int, int]:
        """Earliest and latest calendar day as ordinals."""
        return self.low.toordinal(), self.high.toordinal()


@dataclass(frozen=True, slots=True)
class Clock:
    """A time of day (or a mm:ss duration) in seconds."""

    seconds: int
    precision: int


@dataclass(frozen=True, slots=True)
class Code:
    """The answer to a radio or dropdown field."""

    code: str
    number: Decimal | None
    label: str


@dataclass(frozen=True, slots=True)
class Items:
    """A list; `maybes` are items that might belong to it, each with the reason of the doubt."""

    known: tuple[Any, ...]
    maybes: tuple[tuple[Any, Unknown], ...] = ()


Value: TypeAlias = bool | Decimal | str | Unknown | Range | Moment | Clock | Code | Items | None


def json_value(value: Value) -> Any:
    """`value` as JSON for `detail`: numbers as numbers, dates as ISO text, unknown as null."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, Moment):
        return None if value.is_partial else _iso(value)
    if isinstance(value, Clock):
        minutes, seconds = divmod(value.seconds, 60)
        clock = f"{minutes // 60:02d}:{minutes % 60:02d}"
        return clock if value.precision == MINUTE else f"{clock}:{seconds:02d}"
    if isinstance(value, Code):
        return value.code
    if isinstance(value, Items):
        return [json_value(item) for item in value.known]
    return None if isinstance(value, Unknown | Range) else value


def _iso(value: Moment) -> str:
    if value.precision == DAY:
        return value.low.date().isoformat()
    return value.low.isoformat(
        sep=" ", timespec="minutes" if value.precision == MINUTE else "seconds"
    )
