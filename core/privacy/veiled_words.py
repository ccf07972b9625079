"""What tells an arm within free text: the labels of its choices, and numbers that look like a kit's.

Both are looked for in the plain reading of a text, of one width and in simplified characters; what is not
masked stays as it was written. A number is masked by its shape, not by its value: which numbers exist already
depends on who was given which kit, and a text without any must read the same (design.md 9.10).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from functools import lru_cache

from core.privacy.fold_text import normalise, simplified
from core.privacy.identifiers import DASHES

MARK = "[设盲]"
"""What stands in its place, whatever stood there."""
_RUN = re.compile(r"[0-9]+|[A-Za-z]+|.", re.DOTALL)
_BEFORE, _AFTER = r"(?<![A-Za-z0-9])", r"(?![A-Za-z0-9])"
_LEAST_WORD, _LEAST_DIGITS = 2, 5
_GAP = r"(?:[^\w,;:.!?。、\n]|_){0,3}"
"""What may stand between the characters of a word: blanks and marks, but for ends of clauses and lines."""


def pattern(words: Collection[str], numbers: Collection[str]) -> re.Pattern[str] | None:
    """What to mask; None where nothing is. One-letter words and short bare numbers stand in every text."""
    told = {_word(word) for word in map(_plain, words) if len(word) >= _LEAST_WORD}
    told |= {_shape(number) for number in map(_plain, numbers) if _is_telling(number)}
    if not told:
        return None
    # The longest first; of equal ones in one order, whatever gave them.
    return re.compile("|".join(sorted(told, key=lambda one: (-len(one), one))), re.IGNORECASE)


def masked(text: str, found: re.Pattern[str] | None) -> str:
    """The text without them."""
    if found is None:
        return text
    if text.isascii():
        return found.sub(MARK, text)
    # Character by character, so that each place of the plain reading is one of the text.
    read = [_plain_character(char) for char in text]
    at = [place for place, chars in enumerate(read) for _char in chars]
    spans = (one.span() for one in found.finditer("".join(read)))
    return "".join(_without(text, ((at[start], at[end - 1] + 1) for start, end in spans)))


def _without(text: str, spans: Iterable[tuple[int, int]]) -> Iterator[str]:
    done = 0
    for start, end in spans:
        yield text[done:start]
        yield MARK
        done = end
    yield text[done:]


def _plain(text: str) -> str:
    return "".join(map(_plain_character, text)).strip()


@lru_cache(maxsize=65536)
def _plain_character(char: str) -> str:
    return simplified(normalise(char))


def _word(word: str) -> str:
    parts = ([run for run in _RUN.findall(part) if run[0].isalnum()] for part in word.split())
    spelled = [_GAP.join(map(re.escape, runs)) for runs in parts if runs]
    letters = "".join(one for one in word if one.isalnum())
    return _bounded(rf"(?:\s*|{_GAP})".join(spelled) or re.escape(word), letters or word)


def _shape(number: str) -> str:
    return _bounded("".join(_shapes(_RUN.findall(number))), number)


def _shapes(runs: Iterable[str]) -> Iterable[str]:
    for run in runs:
        if run[0].isascii() and run.isalnum():
            yield f"{'[0-9]' if run.isdigit() else '[A-Za-z]'}{{{len(run)}}}"
        elif re.fullmatch(rf"[{DASHES}]", run):
            yield rf"\s?[{DASHES}]\s?"
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
