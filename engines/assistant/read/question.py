"""A question of the study's data by its parts; a follow-up changes some of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, TypeAlias

Query: TypeAlias = dict[str, Any]
"""A StudyQuery as contracts.md has it, JSON."""


class Shape(StrEnum):
    """What the answer is to show of the facts."""

    VALUE = "value"
    SERIES = "series"
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
    OVERVIEW = "overview"
    BLANKS = "blanks"


class Topic(StrEnum):
    """Which kind of rows a question is about."""

    DATA = "data"
    VISITS = "visits"
    FINDINGS = "findings"
    REVIEWS = "reviews"
    RUNS = "runs"
    CHANGES = "changes"
    TARGET = "target"
    DICTIONARY = "dictionary"
    ELIGIBILITY = "eligibility"


@dataclass(frozen=True, slots=True)
class Question:
    """One question; JSON-able through `as_json`.

    `select`: fields, forms or columns. `where`, `of`: conditions of StudyQuery. `site`: codes. `place`:
    visits or unique event names. `period`: ISO dates or None. `rows`: as in StudyQuery. `nth`: the one of
    `rows` that is told (第二次化验). `aggregate`: of StudyQuery, several by commas. `order`: `+field` or
    `-field`. `change`: what is computed of two readings: days, since, diff, percent, ratio, limit:high,
    limit:low, places. `aspect`: of data never (no row of who is named is to meet `where`), unlimited (of a
    range that is not set), difference; of visits next, last, due, overdue, late, early, missing, closing,
    pending, actual; of findings why, undecided, mine, new; of runs failed, missing; of changes review.
    `versus`: the subject, visit, site or group that the first is compared with.
    """

    topic: Topic = Topic.DATA
    shape: Shape = Shape.VALUE
    subjects: tuple[str, ...] = ()
    select: tuple[str, ...] = ()
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
    versus: tuple[str, ...] = ()
    aspect: str = ""

    def as_json(self) -> dict[str, Any]:
        """The parts that are set."""
        unset = ((), "", None, False)
        return {name: value for name, value in asdict(self).items() if value not in unset}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Question:
        """What `as_json` gave, also after a round through JSON."""
        names = [name for name in cls.__dataclass_fields__ if name in data]
        known: dict[str, Any] = {name: data[name] for name in names}
        known |= {n: tuple(value) for n, value in known.items() if isinstance(value, list)}
        if "topic" in known:
            known["topic"] = Topic(known["topic"])
        if "shape" in known:
            known["shape"] = Shape(known["shape"])
        return cls(**known)


def conditions_of(parts: Iterable[Query], *, but: str = "") -> list[Query]:
    """All comparisons, those of an any, all and none among them; not those of `but`."""
    found: list[Query] = []
    for part in parts:
        inner = [part[key] for key in ("any", "all", "none") if key in part]
        found += (
            conditions_of(inner[0], but=but) if inner and but not in part else [part][: not inner]
        )
    return found


def one_each(query: Query) -> list[Query]:
    """Of an average or the like over several fields one query each: over what it is is its own."""
    select, order = query.get("select"), query.get("order")
    is_measure = query.get("aggregate") not in (None, "count", "share")
    if not is_measure or not isinstance(select, list) or len(select) < 2:
        return [query]
    if isinstance(order, dict) and order.get("by") in select:
        # Each is ordered by its own figure.
        query = query | {"order": order | {"by": "value"}}
    return [query | {"select": [name]} for name in select]


def condition_fields(parts: Iterable[Query], *, but: str = "") -> list[str]:
    """The fields that conditions are on, in order, each once; not those of `but`."""
    fields = (condition["field"] for condition in conditions_of(parts, but=but))
    return list(dict.fromkeys(str(f["field"] if isinstance(f, dict) else f) for f in fields))
