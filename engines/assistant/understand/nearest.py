"""The fields an unknown word may have meant, to be asked back: never answered (肌红蛋白 is no 血红蛋白)."""

from __future__ import annotations

import difflib

from engines.assistant.understand.tokens import Kind
from engines.assistant.understand.types import Ambiguous
from engines.assistant.understand.vocabulary import Vocabulary

_ALIKE = 0.6
_MOST = 3
_LONGEST = 12


def nearest(word: str, vocabulary: Vocabulary) -> Ambiguous | None:
    """The readings of the words that are spelt nearly so; None where there is none."""
    known = (
        w
        for w, m in vocabulary.words.items()
        if m.kind in (Kind.FIELD, Kind.FORM) and abs(len(w) - len(word)) < 2
    )
    close = difflib.get_close_matches(word[:_LONGEST], known, n=_MOST, cutoff=_ALIKE)
    names = dict.fromkeys(r.name for w in close for r in vocabulary.words[w].readings[:1])
    return Ambiguous(word, tuple(names)[:_MOST]) if names else None
