"""What tells an arm within free text: the labels of its choices, and numbers that look like a kit's.

A number is masked by its shape, not by its value: which numbers exist already depends on who was given which
kit, and a text without any must read the same (design.md 9.10).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable

MARK = "[设盲]"
"""What stands in its place, whatever stood there."""
_RUN = re.compile(r"[0-9]+|[A-Za-z]+|.", re.DOTALL)
_BEFORE, _AFTER = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_LEAST_WORD, _LEAST_DIGITS = 2, 5


def pattern(words: Collection[str], numbers: Collection[str]) -> re.Pattern[str] | None:
    """What to mask; None where nothing is. One-letter words and short bare numbers stand in every text."""
    told = {_word(word) for word in words if len(word) >= _LEAST_WORD}
    told |= {_shape(number) for number in numbers if _is_telling(number)}
    if not told:
        return None
    # The longest first; of equal ones in one order, whatever gave them.
    return re.compile("|".join(sorted(told, key=lambda one: (-len(one), one))), re.IGNORECASE)


def masked(text: str, found: re.Pattern[str] | None) -> str:
    """The text without them."""
    return found.sub(MARK, text) if found else text


def _word(word: str) -> str:
    return _bounded(r"\s*".join(map(re.escape, word.split())), word)


def _shape(number: str) -> str:
    return _bounded("".join(_shapes(_RUN.findall(number))), number)


def _shapes(runs: Iterable[str]) -> Iterable[str]:
    for run in runs:
        if run[0].isascii() and run.isalnum():
            yield f"{'[0-9]' if run.isdigit() else '[A-Za-z]'}{{{len(run)}}}"
        else:
            yield re.escape(run)


def _bounded(found: str, text: str) -> str:
    """Latin letters and digits count as whole words only."""
    before = _BEFORE if text[0].isascii() and text[0].isalnum() else ""
    after = _AFTER if text[-1].isascii() and text[-1].isalnum() else ""
    return f"{before}{found}{after}"


def _is_telling(number: str) -> bool:
    digits = sum(one.isdigit() for one in number)
    return digits >= _LEAST_DIGITS or (0 < digits < len(number))
