"""Where values are from: visits, events, and the single entries of a repeating form."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engines.grounding.named import spans
from engines.grounding.values import plain
from engines.tools.results import Fact

Place = tuple[str, str]
"""Subject and place: `("P003", "Log AE #2")`."""

YES = frozenset({"是", "yes"})
_ENTRY = re.compile(r"^(.*)#\s*(\d+)$")
_TITLE = re.compile(r"[\u4e00-\u9fffA-Za-z][\u4e00-\u9fffA-Za-z0-9 -]{1,29}")
_WORD = re.compile(r"[^\s\d]{2,}\s+\d\S*|\S+")
_NUMBERED = re.compile(r"(\D{2,}?)\s*\d+")
_STUCK = re.compile(r"\s*(?:级|度|期)?的?$")


def place_of(fact: Fact) -> Place:
    """The subject and place of a value."""
    return fact.record_id, fact.where


def is_entry(where: str) -> bool:
    """Whether a place is one entry of a repeating form."""
    return _ENTRY.match(where) is not None


def form_of(where: str) -> str:
    """The repeating form of an entry, with its event."""
    hit = _ENTRY.match(where)
    return hit[1].strip() if hit else ""


def title_of(fact: Fact) -> str:
    """What an entry may be called by: a short text that somebody wrote, without its brackets."""
    if not is_entry(fact.where) or fact.others:
        return ""
    text = plain(fact.value).partition("(")[0].strip()
    return text.casefold() if _TITLE.fullmatch(text) else ""


def names_of_places(facts: Iterable[Fact]) -> dict[str, frozenset[Place]]:
    """{name as it is said, folded: places}: `v2`, `baseline`, `基线`, and the titles of entries."""
    found: dict[str, set[Place]] = {}
    for fact in facts:
        for name in _names(fact):
            found.setdefault(name, set()).add(place_of(fact))
    return {name: frozenset(places) for name, places in found.items()}


def _names(fact: Fact) -> list[str]:
    if is_entry(fact.where):
        title = title_of(fact)
        return [title] if title else []
    return list(event_names(fact.where))


def event_names(where: str) -> set[str]:
    """What an event is called by: its label, and the words of it; `Visit 1` is not called `Visit`."""
    folded = plain(where).strip().casefold()
    words = {folded, *(word for word in _WORD.findall(folded) if len(word) > 1)}
    return {word for word in words if any(char.isalpha() for char in word)}


def is_numbered(before: str, names: Collection[str]) -> bool:
    """Whether a number behind this text numbers a place: `Visit 3`, where there are Visit 1 and Visit 2."""
    kinds = {hit[1] for hit in map(_NUMBERED.fullmatch, names) if hit}
    return before.rstrip().casefold().endswith(tuple(kinds))


@dataclass(frozen=True)
class Said:
    """A place that a clause names, and where."""

    start: int
    end: int
    name: str
    places: frozenset[Place]


def said_places(clause: str, names: Mapping[str, frozenset[Place]]) -> list[Said]:
    """The places a clause names, in order."""
    return [Said(start, end, name, names[name]) for start, end, name in spans(clause, names)]


def places_at(
    start: int, end: int, clause: str, said: Sequence[Said], values: Sequence[int]
) -> frozenset[Place]:
    """The places a value at `start` is said of: those named last before it, or right behind it.

    Several places in a row with as many values behind them are taken in order; `values`: where the
    values of the clause begin.
    """
    if not said:
        return frozenset()
    behind = next((one for one in said if one.start >= end), None)
    if behind and _STUCK.match(clause[end : behind.start]):
        return behind.places
    before = [one for one in said if one.end <= start]
    if not before:
        return behind.places if behind else frozenset()
    last = max((v for v in values if v < before[-1].start), default=-1)
    group = [one for one in before if one.start > last]
    mine = [v for v in values if v >= group[-1].end]
    following = next((one.start for one in said if one.start > group[-1].end), len(clause))
    mine = [v for v in mine if v < following]
    if len(group) == len(mine) > 1 and start in mine:
        return group[mine.index(start)].places
    return frozenset().union(*(one.places for one in group))


def torn(said: Sequence[Said], facts: Collection[Fact], subject: str) -> list[str]:
    """Names from different entries of one form that stand together as if they were of one."""
    fields = {(f.where, title_of(f)): f.field for f in facts if f.record_id == subject}
    problems = []
    for one in said:
        for other in said:
            pairs = [
                (a, b)
                for _r, a in one.places
                for _s, b in other.places
                if (a, one.name) in fields and (b, other.name) in fields
                and form_of(a) == form_of(b) != ""
                and fields[a, one.name] != fields[b, other.name]
            ]  # fmt: skip
            if pairs and all(a != b for a, b in pairs):
                problems.append(other.name)
    return problems


def at_places(facts: Sequence[Fact], places: Collection[Place]) -> list[Fact]:
    """Where places were named, only the values from there; all where none is from there.

    What one entry does not have is not that of another entry of its form.
    """
    here = [fact for fact in facts if place_of(fact) in places]
    forms = {(subject, form_of(where)) for subject, where in places if is_entry(where)}
    return here or [f for f in facts if (f.record_id, form_of(f.where)) not in forms]


def entries_told_yes(facts: Sequence[Fact]) -> dict[str, frozenset[Place]]:
    """{name of a question, folded: entries that answer it with yes}, as `SAE` names the serious ones."""
    found: dict[str, set[Place]] = {}
    for fact in facts:
        if is_entry(fact.where) and fact.value.casefold() in YES:
            for name in {n.casefold() for n in fact.names if len(n) > 2}:
                found.setdefault(name, set()).add(place_of(fact))
    return {name: frozenset(places) for name, places in found.items()}
