"""The typed tokens of the grammar."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from core.rules.context import Kind as ColumnKind

CODED = (ColumnKind.CODE, ColumnKind.FLAG, ColumnKind.TICKS)
"""Kinds of columns whose values are choices."""


class Kind(StrEnum):
    """What a word is in a question; the values of the grammar's are explained in lay_words.v1.json."""

    SUBJECT = "subject"
    FIELD = "field"
    FORM = "form"
    CHOICE = "choice"
    PLACE = "place"
    SITE = "site"
    OWN_SITE = "own_site"
    EACH_SITE = "each_site"
    EVERYONE = "everyone"
    PERIOD = "period"
    NUMBER = "number"
    IDENTIFIER = "identifier"
    ABSENT = "absent"
    TERM = "term"
    ENROLLED = "enrolled"
    TARGET = "target"
    VISIT = "visit"
    FINDING = "finding"
    REVIEW = "review"
    RUN = "run"
    CHANGED = "changed"
    TODO = "todo"
    WHO = "who"
    COUNT = "count"
    COUNT_ROWS = "count_rows"
    WHEN = "when"
    WHAT = "what"
    YES_NO = "yes_no"
    OVERVIEW = "overview"
    AGGREGATE = "aggregate"
    SHARE = "share"
    ROWS = "rows"
    COMPARE = "compare"
    BOUND = "bound"
    LIMIT = "limit"
    TIMES = "times"
    BASELINE = "baseline"
    DIFFERENCE = "difference"
    GROUP = "group"
    EACH = "each"
    AMONG = "among"
    NOT = "not"
    EMPTY = "empty"
    PRONOUN = "pronoun"
    AND = "and"
    FOLLOW = "follow"
    LASTED = "lasted"
    HAD = "had"
    TOOK = "took"
    RULE = "rule"
    ALWAYS = "always"
    DURING = "during"
    DICTIONARY = "dictionary"
    BREAK = "break"
    FILL = "fill"
    LEFT = "left"


Days: TypeAlias = tuple[date | None, date | None]


def iso(days: Days) -> tuple[str | None, str | None]:
    """The first and the last day as ISO dates."""
    first, last = days
    return first.isoformat() if first else None, last.isoformat() if last else None


class Reading(NamedTuple):
    """One thing a word may mean, and how well it stands for it: 1 is its whole name."""

    name: str
    code: str = ""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Token:
    """A word of the message. `value`: of the grammar's kinds; `readings`: of fields, forms, choices, places."""

    kind: Kind
    said: str
    value: str = ""
    readings: tuple[Reading, ...] = ()
    number: Decimal | None = None
    days: Days = (None, None)

    @property
    def name(self) -> str:
        """The best reading."""
        return self.readings[0].name if self.readings else self.value

    @property
    def iso(self) -> tuple[str | None, str | None]:
        """The first and the last of the days."""
        return iso(self.days)
