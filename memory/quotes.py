"""Where a quote stands in a text: letter for letter but for punctuation and blanks."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from memory.people import clauses
from memory.people.clauses import Clause

# What separates two digits, unless it is the comma of 80,000.
_BETWEEN = re.compile(r"\d(?!,\d{3})[^\w\s]\d")


@dataclass(frozen=True)
class Place:
    """Where a quote stands: its stretch of the text and the clauses it touches."""

    start: int
    end: int
    text: str
    clauses: tuple[Clause, ...]

    @property
    def context(self) -> str:
        """The whole clauses."""
        return ",".join(clause.text for clause in self.clauses)


def places(text: str, quote: str) -> Iterator[Place]:
    """Every place of a quote in a text, both folded (`clauses.folded`)."""
    stood, where = letters(text)
    wanted, _ = letters(quote)
    split = clauses.split(text)
    at = stood.find(wanted) if wanted else -1
    while at >= 0:
        start, end = where[at], where[at + len(wanted) - 1] + 1
        yield Place(start, end, text[start:end], tuple(clauses.at(split, start, end)))
        at = stood.find(wanted, at + 1)


def letters(text: str) -> tuple[str, list[int]]:
    """Letters and digits in small letters, and where each stood; 1.5 and 1-2 do not become 15 and 12."""
    kept = [
        (char.casefold(), at)
        for at, char in enumerate(text)
        if char.isalnum() or _BETWEEN.match(text, at - 1 if at else 0, at + 5)
    ]
    pairs = [(one, at) for chars, at in kept for one in chars]
    return "".join(one for one, _ in pairs), [at for _, at in pairs]
