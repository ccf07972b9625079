"""A text as its letters and digits alone, each with its place: what people put between them or draw around
them, the script's width, accents and look-alikes are gone, so that one comparison finds every spelling.
"""

from __future__ import annotations

import itertools
import unicodedata
from functools import lru_cache

from core.privacy.identifiers import DOTS

BREAK = "\0"
"""Stands for a place that nothing is read across; text that was normalised holds none."""
_HAN_DIGITS = {
    char: str(number)
    for digits in ("〇一二三四五六七八九", "零壹贰叁肆伍陆柒捌玖", "○幺两三四五六七八九")
    for number, char in enumerate(digits)
}
_ALIKE = _HAN_DIGITS | {"o": "0", "l": "1", "i": "1"}
_SIGNS = frozenset(f"{DOTS}\u30fc")


class Folded:
    """The letters of a plain text. `exact[i]` stands at `at[i]`; in `alike` what looks like a digit is one."""

    __slots__ = ("alike", "at", "exact", "plain")

    def __init__(self, plain: str) -> None:
        letters = [*map(_letter, plain)]
        self.plain = plain
        self.at = [place for place, letter in enumerate(letters) if letter]
        self.exact = "".join(letters)
        self.alike = look(self.exact)

    def between(self, start: int, size: int) -> list[str]:
        """What stands between `size` letters from the one at `start`, without marks drawn on them."""
        places = self.at[start : start + size]
        return [
            _without_marks(self.plain[one + 1 : other]) if other - one > 1 else ""
            for one, other in itertools.pairwise(places)
        ]

    def span(self, start: int, size: int) -> tuple[int, int]:
        """From, to in the plain text, with the marks on the last letter."""
        end = self.at[start + size - 1] + 1
        while end < len(self.plain) and is_mark(self.plain[end]):
            end += 1
        return self.at[start], end


def look(exact: str) -> str:
    """Letters by what they look like: o is 0, l and i are 1, 三 is 3."""
    return exact.translate(_LOOK)


def letters(text: str) -> str:
    """The letters and digits of a text, as `Folded.exact` has them."""
    return "".join(map(_letter, text))


_LOOK = str.maketrans(_ALIKE)


@lru_cache(maxsize=65536)
def is_mark(char: str) -> bool:
    """Whether a character is drawn on or around the one before it, or not at all: an accent, a keycap."""
    return unicodedata.category(char) in ("Mn", "Me", "Cf")


@lru_cache(maxsize=4096)
def _without_marks(text: str) -> str:
    return "".join(char for char in text if not is_mark(char))


@lru_cache(maxsize=65536)
def _letter(char: str) -> str:
    """One letter or digit; "" for everything else."""
    if char == BREAK:
        return BREAK
    if char in _HAN_DIGITS:
        return char
    base = unicodedata.normalize("NFD", char)[0].lower()
    return base if len(base) == 1 and base.isalnum() and char not in _SIGNS else ""
