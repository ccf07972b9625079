"""Which of several dated lines is the newest word on its matter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from math import log

from engines.assistant.lines.types import Line
from study.protocol.bm25 import terms

SAME = 0.3
"""Share of an older line's weight (rare terms count more) that a newer one on the same matter has, too."""


def newest(lines: Sequence[Line]) -> list[Line]:
    """The lines in their order, those that a newer one has overtaken known as such."""
    words = [frozenset(_matter(line.text)) if line.day else frozenset() for line in lines]
    held = Counter(term for own in words for term in own)
    dated = [own for own in words if own]
    weight = {term: log(max(len(dated), 1) / count) for term, count in held.items()}
    return [
        replace(line, is_newest=not _overtaken(at, lines, words, weight))
        for at, line in enumerate(lines)
    ]


def _matter(text: str) -> list[str]:
    """What a line speaks of: its terms, without figures."""
    return [term for term in terms(text) if not any(map(str.isdigit, term))]


def _overtaken(
    at: int, lines: Sequence[Line], words: Sequence[frozenset[str]], weight: dict[str, float]
) -> bool:
    line = lines[at]
    own = sum(weight[term] for term in words[at])
    return bool(line.day) and any(
        other.day is not None
        and line.day is not None
        and other.day > line.day
        and sum(weight[term] for term in words[at] & words[later]) >= SAME * own
        for later, other in enumerate(lines)
    )
