"""Which fields a value of a clause stands beside."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from engines.grounding.sources import bare
from engines.grounding.values import Token, plain
from engines.tools.results import Fact

_ALL = re.compile(r"均|都")


@dataclass(frozen=True)
class Mention:
    """A name in a clause and the fields that are called so."""

    start: int
    end: int
    text: str
    fields: frozenset[str]


def mentions_in(
    clause: str, facts: Iterable[Fact], labels: Mapping[str, str], places: Collection[str]
) -> list[Mention]:
    """Where fields are named, the longest name first; one place may mean several fields.

    The name of a visit names all its fields, so it counts only where no field is named beside it.
    """
    named = _fields_by_name(facts, labels)
    folded, taken = clause.casefold(), [False] * len(clause)
    found: list[Mention] = []
    for name in sorted(filter(None, named), key=len, reverse=True):
        edge = (r"(?<![a-z0-9])", r"(?![a-z])") if name[0].isascii() else ("", "")
        for hit in re.finditer(f"{edge[0]}{re.escape(name)}{edge[1]}", folded):
            if not any(taken[hit.start() : hit.end()]):
                taken[hit.start() : hit.end()] = [True] * (hit.end() - hit.start())
                text = clause[slice(*hit.span())]
                found.append(Mention(*hit.span(), text, frozenset(named[name])))
    telling = [mention for mention in found if mention.text.casefold() not in places]
    return sorted(telling or found, key=lambda mention: mention.start)


def _fields_by_name(facts: Iterable[Fact], labels: Mapping[str, str]) -> dict[str, set[str]]:
    named: dict[str, set[str]] = {}
    for name, label in labels.items():
        named.setdefault(bare(label), set()).add(name)
    for fact in facts:
        for name in fact.names:
            named.setdefault(plain(name).strip().casefold(), set()).add(fact.field)
            named.setdefault(bare(name), set()).add(fact.field)
    return named


def is_part(token: Token, mention: Mention, clause: str, whole: bool) -> bool:
    """Whether a value is but part of a name: `RECIST 1.1`, or a month that something is counted by.

    A bare number is no name, and a month only where no subject is spoken of (`whole`).
    """
    if not (mention.start <= token.start and token.start + len(token.text) <= mention.end):
        return False
    name = clause[mention.start : mention.end]
    return whole if token.kind == "date" else any(char.isalpha() for char in name)


def beside(
    mentions: Sequence[Mention], token: Token, number: int, total: int, clause: str
) -> list[Mention]:
    """The fields a value stands beside."""
    if not mentions or (total == 1 and not _ALL.search(clause)):
        return list(mentions)
    before = [mention for mention in mentions if mention.start < token.start]
    if len(before) == total == len(mentions) and total > 1:
        return [mentions[number]]
    return [before[-1]] if before else [mentions[0]]
