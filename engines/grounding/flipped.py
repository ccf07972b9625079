"""What a note denies, told as if it affirmed it, or the other way round."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from engines.grounding.coverage import says_something
from engines.grounding.modality import denied_at
from engines.grounding.values import plain

_PIECE = re.compile(r"[^,。;!?\n]+")
_RUN = re.compile(r"[\u4e00-\u9fffa-z0-9]+")
_LEAST = 3
_ANSWERED = re.compile(r"\s*[:为是]?\s*(?:无(?!关)|否|阴性|没有)")
_VERDICT = re.compile(r"良好|较好|好|差|佳|稳定|平稳|改善|充分|不足")


def flipped(clause: str, notes: Iterable[str]) -> Iterator[str]:
    """Words of a clause that all notes which have them deny where it affirms, or affirm where it denies."""
    folded = clause.casefold()
    pieces = [piece for note in notes for piece in _PIECE.findall(plain(note).casefold())]
    for start, end in _shared(folded, pieces):
        words = folded[start:end]
        said = denied_at(folded, start) or _ANSWERED.match(folded, end) is not None
        told = {
            denied_at(p, hit.start()) for p in pieces for hit in re.finditer(re.escape(words), p)
        }
        if said not in told:
            yield words
        verdict = _VERDICT.match(folded, end) or _VERDICT.match(folded, end + 1)
        near = [piece for piece in pieces if words in piece]
        if verdict and not any(verdict[0] in piece for piece in near):
            yield verdict[0]


def _shared(clause: str, pieces: list[str]) -> Iterator[tuple[int, int]]:
    """The longest stretches that the clause has in common with a piece."""
    for run in _RUN.finditer(clause):
        at = run.start()
        while at < run.end():
            end = at
            while end < run.end() and any(clause[at : end + 1] in piece for piece in pieces):
                end += 1
            if end - at >= _LEAST and says_something(clause[at:end]):
                yield at, end
            at = max(end, at + 1)
