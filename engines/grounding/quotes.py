"""Whole statements of a source, repeated word for word, need no tracing value by value.

Only complete statements count (a sentence, a line, a heading with its text), so that nothing is taken
out of what it is said of; spaces, punctuation and bullets may differ.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from engines.grounding.statements import SENTENCE
from engines.grounding.values import bigrams, ids_in, plain

_LONGEST = 12
_TELLING = 3
_BULLET = re.compile(r"(?m)^\s*(?:(?:[#>•·]+|[-*](?=\s))\s*)+")
_MARK = re.compile(r"[\s:,、;。!?()\[\]【】\"“”…*|`]+")
_LOOSE = re.compile(r"(?<![!-~]) | (?![!-~])")
_NAMED = "*"


class Quotable:
    """One source text, prepared for looking up its statements."""

    def __init__(
        self, text: str, known: Collection[str], *, whole: bool = False, owned: bool = False
    ) -> None:
        """`whole`: only all of it may be quoted; `owned`: only what is about a subject."""
        self._text = ""
        self._owned = owned
        self._starts: dict[int, str] = {}
        self._ends: set[int] = set()
        folded, subject = plain(text), ""
        for piece in [folded] if whole else SENTENCE.findall(folded):
            words = _words(piece)
            if not words:
                continue
            ids = ids_in(piece, known)
            self._text += _joint(self._text, words)
            self._starts[len(self._text)] = _NAMED if ids else subject
            self._text += words
            self._ends.add(len(self._text))
            subject = ids[-1] if ids else subject

    def holds(self, words: str) -> bool:
        """Whether the words stand here at all."""
        return words in self._text

    def says(self, words: str, subject: str) -> bool:
        """Whether the words are one or more whole statements here that may be told of this subject.

        A statement that names its subject itself may always be told; one that goes on about a subject
        only of that one; one about nobody always, unless the text is `owned`.
        """
        at = self._text.find(words)
        while at >= 0:
            if at in self._starts and at + len(words) in self._ends:
                about = self._starts[at]
                if about in (_NAMED, subject) or not about:
                    return bool(about) or not self._owned
            at = self._text.find(words, at + 1)
        return False


def quoted(sentences: Sequence[str], subject: str, sources: Sequence[Quotable]) -> int:
    """How many sentences at the beginning are, together, whole statements of one source."""
    words = [_words(sentence) for sentence in sentences[:_LONGEST]]
    if not words or not words[0]:
        return 0
    near = [source for source in sources if source.holds(words[0])]
    for number in range(len(words) if near else 0, 0, -1):
        said = ""
        for piece in words[:number]:
            said += _joint(said, piece) + piece
        telling = len(bigrams(said)) >= _TELLING
        if words[number - 1] and telling and any(s.says(said, subject) for s in near):
            return number
    return 0


def _words(piece: str) -> str:
    """What is said, without layout; a space only where two Latin words or numbers would touch."""
    bare = _MARK.sub(" ", _BULLET.sub("", piece)).strip(" .").casefold()
    return _LOOSE.sub("", bare)


def _joint(before: str, after: str) -> str:
    """The space between two statements, as inside of one."""
    return " " if before and "!" <= before[-1] <= "~" and "!" <= after[:1] <= "~" else ""
