"""When two lines say the same in other words, without a model: normalised text, bigrams, numbers.

Used on keyed hashes as well (memory.tombstones), so everything here is sets of short strings.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Collection, Set
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_CLAUSE = re.compile(r"[,，、;；。.!！?？()（）\n]|并且|而且|同时|以及|另外")
_LEAST = 2
_FEW = 3
_ALIKE = 0.55
_PART = 0.65


@cache
def _table() -> tuple[re.Pattern[str], dict[str, str]]:
    """Other words for the same, from the versioned table: {variant: what stands for it}."""
    path = Path(__file__).parent / "wordings.v1.json"
    groups: dict[str, list[str]] = json.loads(path.read_text(encoding="utf-8"))
    same = {variant: name for name, variants in groups.items() for variant in variants}
    longest_first = sorted(same, key=len, reverse=True)
    return re.compile("|".join(map(re.escape, longest_first))), same


def normal(text: str) -> str:
    """NFKC, lower case, letters and digits only."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(char for char in folded if char.isalnum())


@dataclass(frozen=True)
class Piece:
    """A clause or a whole line as sets: pairs of neighbouring characters, and its numbers."""

    grams: frozenset[str]
    numbers: frozenset[str]

    def says(self, other: Piece) -> bool:
        """Whether this piece repeats `other`: alike, a part of it, or with it as a part."""
        if not _one_in_the_other(self.numbers, other.numbers):
            return False
        shared = len(self.grams & other.grams)
        mine, theirs = len(self.grams), len(other.grams)
        if min(mine, theirs) < _LEAST:
            return self.grams == other.grams and bool(self.grams)
        if min(mine, theirs) < _FEW:
            return shared == min(mine, theirs)
        alike = 2 * shared / (mine + theirs) >= _ALIKE
        return alike or shared / min(mine, theirs) >= _PART


def _one_in_the_other(one: Set[str], other: Set[str]) -> bool:
    """Different numbers make a different statement: 3 例 is not 5 例."""
    return one <= other or other <= one


def pieces(line: str) -> list[Piece]:
    """The whole line first, then its clauses (the label before a colon is none).

    A clause of a word or two says nothing by itself; one without numbers speaks of those of its line.
    """
    whole = _piece(line)
    value = re.split("[:：]", line, maxsplit=1)[-1]
    clauses = [_piece(part) for part in [value, *_CLAUSE.split(value)] if part != line]
    kept = [
        Piece(piece.grams, piece.numbers or whole.numbers)
        for piece in clauses
        if len(piece.grams) >= _LEAST
    ]
    return [piece for piece in [whole, *kept] if piece.grams]


def _piece(text: str) -> Piece:
    pattern, same = _table()
    plain = pattern.sub(lambda found: same[found[0]], normal(text))
    grams = {plain[at : at + 2] for at in range(max(len(plain) - 1, 1))} if plain else set()
    numbers = {digits.lstrip("0") or "0" for digits in re.findall(r"\d+", plain)}
    return Piece(frozenset(grams), frozenset(numbers))


def repeats(candidate: Collection[Piece], known: Collection[Piece]) -> bool:
    """Whether any piece of the one says a piece of the other."""
    return any(one.says(other) for one in candidate for other in known)
