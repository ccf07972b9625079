"""What understanding a message gives: the questions in it as StudyQueries, and what to keep for follow-ups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any, TypeAlias

Query: TypeAlias = dict[str, Any]
"""A StudyQuery as contracts.md has it, JSON."""


class Shape(StrEnum):
    """What the answer is to show of the facts."""

    VALUE = "value"
    SERIES = "series"
    TALLY = "tally"
    EXTREME = "extreme"
    ROWS = "rows"
    COUNT = "count"
    COUNT_ROWS = "count_rows"
    LIST = "list"
    GROUPS = "groups"
    AGGREGATE = "aggregate"
    SHARE = "share"
    DIFFERENCE = "difference"
    CHANGE = "change"
    LASTED = "lasted"
    RATIO_TO_LIMIT = "ratio_to_limit"
    YES_NO = "yes_no"
    WHEN = "when"
    TARGET = "target"
    TARGET_LEFT = "target_left"
    TARGET_RATE = "target_rate"
    TARGET_PACE = "target_pace"
    VISITS = "visits"
    NEXT_VISIT = "next_visit"
    FINDINGS = "findings"
    REVIEWS = "reviews"
    RUNS = "runs"
    CHANGES = "changes"
    TODO = "todo"
    OVERVIEW = "overview"
    BLANKS = "blanks"
    WATCH = "watch"
    DICTIONARY = "dictionary"


class Topic(StrEnum):
    """Which kind of rows a question is about."""

    DATA = "data"
    VISITS = "visits"
    FINDINGS = "findings"
    REVIEWS = "reviews"
    RUNS = "runs"
    CHANGES = "changes"
    TARGET = "target"
    TODO = "todo"
    DICTIONARY = "dictionary"


@dataclass(frozen=True, slots=True)
class Slots:
    """A question by its parts; a follow-up changes some of them. JSON-able through `as_json`.

    `where`, `of`: conditions of StudyQuery. `site`: codes. `period`: ISO dates or None. `aspect`: of visits.
    `nth`: the one of `rows` that is told (第二次化验). `every`: `where` is to hold of no row.
    `named`: fields asked for by name whose whole form is selected: the answer is to tell them.
    """

    topic: Topic = Topic.DATA
    shape: Shape = Shape.VALUE
    subjects: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
    named: tuple[str, ...] = ()
    where: tuple[Query, ...] = ()
    of: tuple[Query, ...] = ()
    site: tuple[str, ...] = ()
    place: tuple[str, ...] = ()
    period: tuple[str | None, str | None] | None = None
    rows: str | dict[str, int] | None = None
    nth: int | None = None
    aggregate: str = ""
    by: tuple[str, ...] = ()
    order: str = ""
    limit: int | None = None
    change: str = ""
    every: bool = False
    aspect: str = ""

    def as_json(self) -> dict[str, Any]:
        """The parts that are set."""
        return {
            name: value
            for name, value in asdict(self).items()
            if value not in ((), "", None, False)
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Slots:
        """What `as_json` gave, also after a round through JSON."""
        known = {name: _tuples(data[name]) for name in cls.__dataclass_fields__ if name in data}
        if "topic" in known:
            known["topic"] = Topic(known["topic"])
        if "shape" in known:
            known["shape"] = Shape(known["shape"])
        return cls(**known)


def _tuples(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True)
class State:
    """What follow-ups refer to: the slots of the last question and the subjects last spoken of or found."""

    last: Slots | None = None
    subjects: tuple[str, ...] = ()

    def found(self, subjects: tuple[str, ...]) -> State:
        """The same after an answer that listed these subjects ("他们的年龄")."""
        return replace(self, subjects=subjects) if subjects else self

    def as_json(self) -> dict[str, Any]:
        """For the session's store."""
        return {"last": self.last.as_json() if self.last else None, "subjects": list(self.subjects)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> State:
        """What `as_json` gave."""
        last = data.get("last")
        return cls(Slots.from_json(last) if last else None, tuple(data.get("subjects") or ()))


@dataclass(frozen=True, slots=True)
class Asked:
    """One question: its queries (several where their results are compared), and what it asks for.

    A question of the dictionary has none: no data are read for it.

    `about`: names of fields, forms or columns, in the order asked. `said`: the part of the message.
    """

    queries: tuple[Query, ...]
    shape: Shape
    about: tuple[str, ...]
    said: str
    slots: Slots

    @property
    def query(self) -> Query:
        """The first query."""
        return self.queries[0]


@dataclass(frozen=True, slots=True)
class Ambiguous:
    """A word with several readings: field or form names, nearest first."""

    word: str
    readings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Understood:
    """All questions of a message.

    `unknown`: words for what this study does not collect. `withheld`: words that ask for an identifier.
    `unplanned`: places that the study has not.
    `left`: words that no part of the grammar took; where there are many the reading is not sure.
    `rules`: words that ask what must be, of which no data tell.
    `is_guess`: a model read it, so the answer says how it was understood.
    `goes_on`: it only changes the last question. `is_asked`: some word of it asks, so that it states nothing.
    `asks_who`: some word of it asks who (谁), not which kind of people (哪些患者). `asks_any`: whether there is
    one (有没有).
    `contrasts`: it says what is not meant, and what is (不是问P002,是问所有人).
    """

    asked: tuple[Asked, ...] = ()
    unknown: tuple[str, ...] = ()
    ambiguous: tuple[Ambiguous, ...] = ()
    withheld: tuple[str, ...] = ()
    unplanned: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()
    state: State = field(default_factory=State)
    is_guess: bool = False
    goes_on: bool = False
    is_asked: bool = False
    asks_who: bool = False
    asks_any: bool = False
    contrasts: bool = False
