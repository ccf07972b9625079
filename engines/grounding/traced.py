"""Whether a value is that of the field, subject and place it stands beside."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from engines.grounding.claims import unit_fits, unit_of
from engines.grounding.counts import counts_entries, has_entries, is_counted
from engines.grounding.fields import EVERY, Mention
from engines.grounding.places import (
    Place,
    Said,
    at_places,
    is_entry,
    is_numbered,
    place_of,
    places_at,
)
from engines.grounding.sources import Sources
from engines.grounding.values import Token, tokens, values
from engines.tools.results import Fact

_PRESSURE = re.compile(r"血压\D{0,8}?(\d{2,3})\s*/\s*(\d{2,3})")
_SPAN = re.compile(r"\s*(?:~|至|到|-)\s*")
_NOT_THAT = re.compile(r"(?<!是)(?:不是|并非|而非)\s*$")
_AGE = re.compile(r"年龄|\bage\b", re.IGNORECASE)


@dataclass(frozen=True)
class Near:
    """What a value stands beside: fields (`own`: named in its clause), places, clause and subject."""

    mentions: Sequence[Mention]
    clause: str
    places: frozenset[Place]
    said: Sequence[Said]
    subject: str
    own: bool = True

    @property
    def fields(self) -> set[str]:
        """The fields that are named there."""
        return {name for mention in self.mentions for name in mention.fields}


def traced(token: Token, near: Near, sources: Sources) -> bool:
    """Whether the data have the value there."""
    own = [fact for fact in sources.facts if fact.record_id in (near.subject, "")]
    # The plan's numbers for a visit are one fact: which of them is meant only its text tells.
    plan = {f.field for f in own if not f.record_id and f.where and place_of(f) in near.places}
    counted = token.kind == "number" and counts_entries(near.clause, token)
    if counted and is_counted(near.clause, token, near.subject, near.said, own):
        return True
    if counted and has_entries(near.subject, own):
        own = [fact for fact in own if not is_entry(fact.where)]
    unit = unit_of(near.clause, token) if token.kind == "number" else ""
    if not (unit or counted) and is_numbered(near.clause[: token.start], sources.places):
        return False
    beside = at_places([f for f in own if f.field in near.fields | plan], near.places)
    having = [fact for fact in beside if holds(fact, token)]
    every = EVERY.search(near.clause[: token.start]) and len(having) < len(beside)
    if any(in_unit(f, token, unit, own) for f in having if f.field not in plan):
        return not every
    fitting = [fact for fact in own if in_unit(fact, token, unit, own) and holds(fact, token)]
    fitting = [fact for fact in fitting if fact in at_places(own, near.places)]
    if near.own:
        return False
    return of_asked(token, fitting, sources.asked) or _of_unit(token, unit, fitting)


def is_denied(token: Token, clause: str) -> bool:
    """Whether a value is said not to be it: `不是 4 分`."""
    return _NOT_THAT.search(clause[: token.start]) is not None


def rightly_denied(token: Token, near: Near, sources: Sources) -> bool:
    """Whether the fields that are named have values, and not this one."""
    told = [f for f in sources.facts if f.record_id == near.subject and f.field in near.fields]
    return bool(told) and not any(holds(fact, token) for fact in told)


def in_unit(fact: Fact, token: Token, unit: str, own: Sequence[Fact]) -> bool:
    """Whether the fact is told in this unit; a unit that stands in a field of its own counts too."""
    if not unit:
        return True
    beside = [f.value for f in own if f.where == fact.where and f.field == f"{fact.field}_unit"]
    return unit_fits(unit, token, [fact.value, *fact.names, *beside])


def holds(fact: Fact, token: Token) -> bool:
    """Whether the fact has the value."""
    return values(fact.value).holds(token)


def of_asked(token: Token, own: Sequence[Fact], asked: Collection[str]) -> bool:
    """A bare value answers the question when it is the value of what was asked, and of nothing else."""
    having = {fact.field for fact in own if holds(fact, token)}
    return bool(having) and having <= set(asked)


def _of_unit(token: Token, unit: str, fitting: Sequence[Fact]) -> bool:
    """A value whose unit says of which field it is: `58岁`, `55.2kg`, `1级`."""
    if token.kind != "number" or not unit:
        return False
    if unit.endswith("岁"):
        return any(_AGE.search(name) for fact in fitting for name in fact.names)
    told = re.compile(
        rf"(?<![\d.]){re.escape(str(token.value))}\s*{re.escape(unit)}", re.IGNORECASE
    )
    named = [
        f
        for f in fitting
        if told.search(f.value) or any(f"({unit})" in n.casefold() for n in f.names)
    ]
    return len({fact.field for fact in named}) == 1


def pressures(
    clause: str, facts: Sequence[Fact], said: Sequence[Said], places: frozenset[Place]
) -> set[int]:
    """Where the two values of a right blood pressure begin: the systolic one stands first.

    `places`: those that are spoken of where the clause names none (`said`).
    """
    hits = list(_PRESSURE.finditer(clause))
    starts = [hit.start(1) for hit in hits]
    found: set[int] = set()
    for hit in hits:
        here = places_at(hit.start(1), hit.end(2), clause, said, starts) or places
        own = at_places(facts, here)
        low = {(f.where, f.value.split(" ")[0]) for f in own if _named(f, "舒张压")}
        high = [f for f in own if _named(f, "收缩压") and f.value.split(" ")[0] == hit[1]]
        if any((fact.where, hit[2]) in low for fact in high):
            found |= {hit.start(1), hit.start(2)}
    return found


def _named(fact: Fact, word: str) -> bool:
    return any(word in name for name in fact.names)


def wrong_pressures(clause: str, facts: Sequence[Fact], right: Collection[int]) -> Iterator[str]:
    """Pressures of which the data, where they have any, know no such pair (`right`: see pressures)."""
    if any(_named(fact, "收缩压") for fact in facts) and any(_named(f, "舒张压") for f in facts):
        yield from (h[0] for h in _PRESSURE.finditer(clause) if h.start(1) not in right)


def windows(clause: str, facts: Sequence[Fact], places: Collection[Place]) -> set[int]:
    """Where the two dates of a visit's window begin, told as a span of the visits that are named."""
    ends = {(*place_of(f), f.field.rpartition(":")[2]): f.value for f in facts}
    found: set[int] = set()
    for one, other in _spans(clause):
        for place in places:
            opens, closes = ends.get((*place, "open"), ""), ends.get((*place, "close"), "")
            if values(opens).holds(one) and values(closes).holds(other):
                found |= {one.start, other.start}
    return found


def _spans(clause: str) -> Iterator[tuple[Token, Token]]:
    dates = [token for token in tokens(clause) if token.kind == "date"]
    for one, other in pairwise(dates):
        if _SPAN.fullmatch(clause[one.start + len(one.text) : other.start]):
            yield one, other


def reversed_spans(clause: str) -> Iterator[str]:
    """A window that ends before it begins."""
    for one, other in _spans(clause):
        whole = 0 not in (*one.value, *other.value)  # type: ignore[misc]
        if whole and one.value > other.value:  # type: ignore[operator]
            yield other.text


def note_places(
    token: Token, near: Near, sources: Sources, found_at: dict[tuple[str, str], set[str]]
) -> None:
    """From which visits a value may be, where its field has several and the clause names none."""
    own = [f for f in sources.facts if f.record_id == near.subject and f.field in near.fields]
    if len({f.where for f in own}) < 2 or at_places(own, near.places) != own:
        return
    found = {f.where for f in own if holds(f, token)}
    if found:
        found_at.setdefault((near.subject, min(near.fields)), set()).update(found)


def mixed(places: Mapping[tuple[str, str], set[str]]) -> list[str]:
    """Values of several fields in one sentence are of one visit, unless it says of which."""
    problems = []
    for subject in {subject for subject, _field in places}:
        sets = [found for (owner, _field), found in places.items() if owner == subject]
        if len(sets) > 1 and not set.intersection(*sets):
            problems += [name for owner, name in places if owner == subject]
    return problems
