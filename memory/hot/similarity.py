"""When two lines say the same in other words, without a model: normalised text, bigrams, letters, numbers.

Used on keyed hashes as well (memory.hot.tombstones), so everything here is sets of short strings.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path

from core.language import spoken_numbers
from memory.people.quotes import denies, folded

_CLAUSE = re.compile(r"[,，、;；。.!！?？()（）\n]|并且|而且|同时|以及|另外")
_LEAST = 2
_FEW = 3
_ALIKE = 0.55
_PART = 0.65
# The same letters in another order: only nearly all of them, and a few at least.
_ANAGRAM = 0.8
_COUNTED = re.compile(r"[周第]$|星期$|礼拜$")
# What makes a statement another one as numbers do.
_DAYTIME = re.compile(r"早上|上午|中午|下午|晚上")
_LETTER = re.compile(r"[a-z]+|[\u4e00-\u9fff]")


# Other words for the same, from the versioned table: {variant: what stands for it}.
_GROUPS = json.loads((Path(__file__).parent / "wordings.v1.json").read_text(encoding="utf-8"))
_SAME = {variant: name for name, variants in _GROUPS.items() for variant in variants}
_VARIANT = re.compile("|".join(map(re.escape, sorted(_SAME, key=len, reverse=True))))


def normal(text: str) -> str:
    """NFKC, lower case, letters and digits only."""
    plain = folded(text).casefold()
    return "".join(char for char in plain if char.isalnum())


def one_line(text: str) -> str:
    """A model's line without line breaks and without marks of a list or heading."""
    return " ".join(text.split()).lstrip("-*•# ").strip()


@dataclass(frozen=True)
class Piece:
    """A clause or a whole line as sets: pairs of neighbouring characters, its numbers, its letters.

    `denies`: whether it says that something is not; None where nobody noted it.
    """

    grams: frozenset[str]
    numbers: frozenset[str]
    letters: frozenset[str] = frozenset()
    denies: bool | None = None

    def says(self, other: Piece) -> bool:
        """Whether this piece repeats `other`: alike, a part of it, or with it as a part."""
        # Different numbers make a different statement: 3 例 is not 5 例.
        if not (self.numbers <= other.numbers or other.numbers <= self.numbers):
            return False
        # 不查年龄 and 查年龄 share most of their letters.
        if None not in (self.denies, other.denies) and self.denies != other.denies:
            return False
        few, alike = _shares(self.letters, other.letters)
        if few >= _FEW and alike >= _ANAGRAM:
            return True
        few, alike = _shares(self.grams, other.grams)
        if few < _LEAST:
            return self.grams == other.grams and bool(self.grams)
        part = len(self.grams & other.grams) / few
        return part == 1 if few < _FEW else alike >= _ALIKE or part >= _PART


def _shares(one: Set[str], other: Set[str]) -> tuple[int, float]:
    """The size of the smaller set, and how much of both together is in both."""
    sizes = len(one), len(other)
    return min(sizes), 2 * len(one & other) / (sum(sizes) or 1)


def pieces(line: str) -> list[Piece]:
    """The whole line first, then its clauses (the label before a colon is none).

    A clause of a word or two says nothing by itself; one without numbers speaks of those of its line.
    """
    whole = _piece(line)
    value = re.split("[:：]", line, maxsplit=1)[-1]
    clauses = [_piece(part) for part in [value, *_CLAUSE.split(value)] if part != line]
    kept = [
        replace(piece, numbers=piece.numbers or whole.numbers)
        for piece in clauses
        if len(piece.grams) >= _LEAST
    ]
    return [piece for piece in [whole, *kept] if piece.grams]


@lru_cache(maxsize=4096)
def _piece(text: str) -> Piece:
    """By the text itself: a user's memories are compared with every message."""
    said, figures = _figures(normal(text))
    plain = _VARIANT.sub(lambda found: _SAME[found[0]], said)
    grams = {plain[at : at + 2] for at in range(max(len(plain) - 1, 1))} if plain else set()
    return Piece(
        frozenset(grams),
        frozenset([*figures, *_DAYTIME.findall(plain)]),
        frozenset(_LETTER.findall(plain)),
        denies(plain),
    )


def _figures(said: str) -> tuple[str, set[str]]:
    """The text with its numbers as digits, however written, and these.

    One alone is rather an article (一项, 统一), but not in 周一.
    """
    found: set[str] = set()
    left, at = "", 0
    for number in spoken_numbers.find(said):
        is_article = said[number.start : number.end] == "一"
        if is_article and not _COUNTED.search(said[: number.start]):
            continue
        digits = [spoken_numbers.plain_number(end) for end in number.ends]
        left, at = f"{left}{said[at : number.start]}{'-'.join(digits)}", number.end
        found.update(digits)
    return left + said[at:], found


def repeats(candidate: Collection[Piece], known: Collection[Piece]) -> bool:
    """Whether any piece of the one says a piece of the other."""
    return any(one.says(other) for one in candidate for other in known)
