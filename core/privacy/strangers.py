"""Record ids that are none of the reader's: masked by their shape, whether there is such a subject or not.

Who could tell a foreign subject from one that does not exist, by what is masked, would know the roster of
the other sites (design.md 9.7).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from core.privacy import clinical_terms
from core.privacy.fold_text import normalise, simplified
from core.privacy.identifier_index import NEVER
from core.privacy.identifiers import COMPACT_DAY, DASHES

_APART = rf"[\s_{DASHES}]"
_SQUEEZED = re.compile(_APART)
_LONG = 5
# P 110 次/分 is a pulse.
_NO_MEASURE = r"(?!\.\d|\s?(?:[次%℃/×]|bpm|mm|cm|mg|ml|μ|U\b|IU\b|copies|拷贝|例|人|元|天|岁))"
_NUMBER = re.compile(r"\d{1,20}(?:[-/]\d{1,20}){0,2}")


@dataclass(frozen=True)
class Strangers:
    """The shapes of a study's record ids, and the ids that the reader may see.

    `numbered`: whether there are bare numbers among the ids, told by the words around them.
    """

    mine: frozenset[str]
    shapes: re.Pattern[str] = NEVER
    numbered: bool = False

    @classmethod
    def of(cls, ids: Collection[str], mine: Collection[str]) -> Strangers:
        """From all record ids of a study and those of the reader."""
        plain = {simplified(normalise(one)).strip().casefold() for one in ids} - {""}
        shapes = {_shape(one) for one in plain if _is_telling(one)}
        either = "|".join(sorted(shapes, key=lambda shape: (-len(shape), shape)))
        return cls(
            mine=frozenset(map(_plain, mine)),
            shapes=re.compile(either, re.IGNORECASE) if either else NEVER,
            numbered=any(_plain(one).isdigit() for one in plain),
        )

    def named(self, text: str) -> Iterator[str]:
        """The ids in a plain text, whosever they are and whether there is such a record or not."""
        for found in self.shapes.finditer(text):
            yield _plain(found[0])

    def spans(self, text: str) -> Iterator[tuple[int, int]]:
        """Where a plain text names a record that is not the reader's, in order."""
        found = (
            one.span() for one in self.shapes.finditer(text) if _plain(one[0]) not in self.mine
        )
        return outside_terms(text, found)

    def numbers(self, text: str, regex: re.Pattern[str]) -> Iterator[tuple[int, int]]:
        """The same for bare numbers where the words around say that they are subjects."""
        found = (
            (around.start() + one.start(), around.start() + one.end())
            for around in (regex.finditer(text) if self.numbered else ())
            for one in _NUMBER.finditer(around[0])
            if _plain(one[0]) not in self.mine
        )
        return outside_terms(text, found)


def outside_terms(text: str, found: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """Those stretches of a plain text that are no part of a clinical term or measure, in order.

    A stretch that is the whole term stays: there the study's ids look like it.
    """
    ids = list(found)
    kept = clinical_terms.spans(text) if ids else []
    for start, end in ids:
        if not any(
            begin < end and start < stop and (begin, stop) != (start, end) for begin, stop in kept
        ):
            yield start, end


def _plain(record_id: str) -> str:
    return _SQUEEZED.sub("", simplified(normalise(record_id)).casefold())


def _is_telling(record_id: str) -> bool:
    """Whether an id needs no words around it to be known as one."""
    plain = _plain(record_id)
    return len(plain) >= _LONG if plain.isdigit() else len(plain) > 1


def _shape(record_id: str) -> str:
    """What looks like this id: the same letters, any digits; a bare number begins as it does."""
    plain = _plain(record_id)
    if plain.isdigit():
        signs = "".join(r"\d" if char.isdigit() else re.escape(char) for char in record_id[1:])
        number = rf"(?!{COMPACT_DAY}){record_id[0]}{signs}"
        return rf"(?<![\dA-Za-z.])(?<!\d-){number}(?![\dA-Za-z])(?!-\d){_NO_MEASURE}"
    apart = f"{_APART}{{0,2}}"
    letters = apart.join(r"\d" if char.isdigit() else re.escape(char) for char in plain)
    return rf"(?<![0-9A-Za-z]){letters}(?![0-9A-Za-z]){_NO_MEASURE}"
