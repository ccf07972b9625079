"""Which fields a value of a clause stands beside."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from engines.grounding.named import is_inside, spans
from engines.grounding.values import Token

EVERY = re.compile(r"均|都|全部")


@dataclass(frozen=True)
class Mention:
    """A name in a clause and the fields that are called so."""

    start: int
    end: int
    text: str
    fields: frozenset[str]


def mentions_in(
    clause: str, called: Mapping[str, frozenset[str]], places: Collection[str]
) -> list[Mention]:
    """Where fields are named; one name may mean several (`called`: {name, folded: fields}).

    The name of a visit names all its fields, so it counts only where no field is named beside it.
    """
    found = [Mention(*span, called[span[2]]) for span in spans(clause, called)]
    return [mention for mention in found if mention.text not in places] or found


def is_part(token: Token, mention: Mention, whole: bool) -> bool:
    """Whether a value is but part of a name: `RECIST 1.1`, or a month that something is counted by.

    A bare number is no name, and a month only where no subject is spoken of (`whole`).
    """
    if not is_inside(token, mention):
        return False
    return whole if token.kind == "date" else any(char.isalpha() for char in mention.text)


def beside(
    mentions: Sequence[Mention], token: Token, number: int, total: int, clause: str
) -> list[Mention]:
    """The fields a value stands beside."""
    if not mentions or (total == 1 and not EVERY.search(clause)):
        return _of_periods(mentions) or list(mentions)
    before = [mention for mention in mentions if mention.start < token.start]
    if len(before) == total == len(mentions) and total > 1:
        return [mentions[number]]
    return [before[-1]] if before else [mentions[0]]


def _of_periods(mentions: Sequence[Mention]) -> list[Mention]:
    """Those that name a stretch of time: what is counted in it is not what is counted in all."""
    return [m for m in mentions if any(name.startswith("period:") for name in m.fields)]
