"""Lines and the rules of documents in the characters that a reader wants (design.md 9.4)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import accumulate

from django.utils.translation import gettext as _

from core.language.values import bigrams, plain


def ranked(lines: Sequence[str], question: str) -> list[str]:
    """Lines that share words with the question first, otherwise in their order."""
    asked = bigrams(plain(question).casefold())
    order = sorted(
        range(len(lines)), key=lambda i: (-len(asked & bigrams(plain(lines[i]).casefold())), i)
    )
    return [lines[i] for i in order]


def fit(lines: Sequence[str], limit: int) -> str:
    """As many whole lines as fit; the first one is cut at a sentence end if it must be."""
    taken = _taken(lines, limit)
    return "\n".join(lines[:taken]) if taken else cut(lines[0], limit)


def _taken(lines: Sequence[str], limit: int) -> int:
    """How many whole lines have room; one may be a note of several lines itself."""
    ends = accumulate(len(line) + 1 for line in lines)
    return sum(end - 1 <= limit for end in ends)


def fit_all(lines: Sequence[str], limit: int) -> str:
    """The same, with the number of the lines that had no room."""
    taken = _taken(lines, limit)
    if taken == len(lines) or len(lines) < 2:
        return fit(lines, limit)
    for shown in range(max(taken, 1), 0, -1):
        note = _("(%(number)d more not shown)") % {"number": len(lines) - shown}
        text = "\n".join(lines[:shown])
        if len(text) + len(note) <= limit:
            return text + note
    return cut(lines[0], limit - len(note)) + note


def cut(text: str, limit: int) -> str:
    """At most `limit` characters, cut after a sentence, else after a clause, never inside a number."""
    if len(text) <= limit:
        return text
    piece = text[: max(limit - 1, 1)]
    for marks in ("。!?\uff01\uff1f\n;\uff1b", ",\uff0c、"):
        end = max(piece.rfind(mark) for mark in marks)
        if end >= len(piece) // 3:
            return piece[:end] + ("。" if marks[0] == "。" and piece[end] in "。" else "…")
    return re.sub(r"[\d.A-Za-z-]+$", "", piece) + "…"
