"""Facts: the one type for everything an answer can say (contracts.md, StudyQuery and facts)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any, TypeAlias

Scalar: TypeAlias = int | float | Decimal | str | None
FactValue: TypeAlias = Scalar | tuple[str, ...]


class Kind(StrEnum):
    """What a fact is about."""

    VALUE = "value"
    BLANK = "blank"
    AGGREGATE = "aggregate"
    SUBJECTS = "subjects"
    WINDOW = "window"
    FINDING = "finding"
    REVIEW = "review"
    RUN = "run"
    CHANGE = "change"
    PROJECT = "project"
    PASSAGE = "passage"
    REPORT = "report"
    MEMORY = "memory"


class Flag(StrEnum):
    """What is to be said with a value."""

    HIGH = "high"
    LOW = "low"
    MISSING_CODE = "missing_code"
    LATE = "late"
    EARLY = "early"
    OVERDUE = "overdue"
    PLANNED = "planned"
    FUTURE = "future"
    PARTIAL = "partial"
    CONFLICTING = "conflicting"
    OLD = "old"


class Role(StrEnum):
    """What a date is the date of."""

    ACTUAL = "actual"
    OPEN = "open"
    CLOSE = "close"
    TARGET = "target"
    START = "start"
    END = "end"
    REPORTED = "reported"
    ENTERED = "entered"


@dataclass(frozen=True, slots=True)
class Limit:
    """The reference limits of a lab value, in the unit of the fact; None: open on that side."""

    low: Decimal | None = None
    high: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """One thing that is known, with what a claim about it hangs on.

    `subject` "" is the study as a whole; `event` and `instrument` are unique names, `date` the row's date.
    `value`: number, ISO date, choice code, codes or None; `text`: as read, labels for codes. `limit` says which
    direction is worse and how far; it is not part of the JSON.
    """

    id: str
    kind: Kind
    subject: str = ""
    field: str = ""
    label: str = ""
    event: str = ""
    instrument: str = ""
    instance: int | None = None
    date: str | None = None
    role: Role | None = None
    value: FactValue = None
    text: str = ""
    unit: str = ""
    flags: frozenset[Flag] = frozenset()
    limit: Limit | None = None

    def as_json(self) -> dict[str, Any]:
        """The keys of contracts.md in their order."""
        told = {one.name: getattr(self, one.name) for one in fields(self) if one.name != "limit"}
        return told | {"value": json_value(self.value), "flags": sorted(self.flags)}


@dataclass(frozen=True, slots=True)
class Group:
    """One row of an answer with `by`: the values it stands for, who is in it, and the aggregate."""

    by: tuple[Scalar, ...]
    subjects: tuple[str, ...]
    count: int
    rows: int
    value: Scalar


@dataclass(frozen=True, slots=True)
class Undecided:
    """A subject of whom three-valued logic could not tell, and why (rules.values.Reason)."""

    subject: str
    reason: str


@dataclass(frozen=True, slots=True)
class Basis:
    """What was looked at: subjects, rows, and subjects in whom what was asked for is missing."""

    subjects: int = 0
    rows: int = 0
    missing: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The result of one StudyQuery; `read_at` is an ISO time with offset, None where nothing was ever read.

    `unread`: the fields and forms it was asked of that REDCap does not show whole; not part of the JSON.
    """

    facts: tuple[Fact, ...] = ()
    groups: tuple[Group, ...] = ()
    undecided: tuple[Undecided, ...] = ()
    basis: Basis = Basis()
    left_out: int = 0
    read_at: str | None = None
    unread: tuple[str, ...] = ()

    def numbered(self, start: int = 1) -> Answer:
        """The same with ids F1, F2 … in the order of the facts."""
        facts = tuple(replace(f, id=f"F{number}") for number, f in enumerate(self.facts, start))
        return replace(self, facts=facts)

    def as_json(self) -> dict[str, Any]:
        """The object of contracts.md."""
        return {
            "facts": [fact.as_json() for fact in self.facts],
            "groups": [
                asdict(group)
                | {"by": [json_value(v) for v in group.by], "value": json_value(group.value)}
                for group in self.groups
            ],
            "undecided": [asdict(item) for item in self.undecided],
            "basis": asdict(self.basis),
            "left_out": self.left_out,
            "read_at": self.read_at,
        }


def json_value(value: FactValue) -> Any:
    """A value as JSON: exact decimals as numbers, tuples as lists."""
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    return list(value) if isinstance(value, tuple) else value
