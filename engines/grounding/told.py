"""Whether a text source (memory, a report, a passage, an earlier answer) tells a value."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from engines.grounding.claims import unit_fits
from engines.grounding.sources import Sources, bare
from engines.grounding.values import Token, Values, bigrams, values

_PIECE = re.compile(r"[。!?;\n]|,(?!\d{3})")
_ANCHOR = re.compile(r"[Ww]\s?(\d{1,3})|第\s*(\d{1,3})\s*周|(本周|上周|本月|上月)|(\d{1,2})\s*月")
_EMPTY = frozenset(
    {"受试者", "患者", "研究", "项目", "您好", "数据", "目前", "可以", "建议", "查看"}
)


@dataclass(frozen=True)
class Wanted:
    """A value and what it is said of.

    `names`: one of them must stand beside it in the source; `goes_on`: they were named in an earlier
    clause, so the words of its own clause may stand there instead. `strict`: the data say otherwise
    beside this field, so only the same week, month or subject counts.
    """

    token: Token
    unit: str
    subject: str
    names: Collection[str]
    goes_on: bool
    strict: bool
    clause: str
    sentence: str


def is_told(wanted: Wanted, sources: Sources) -> bool:
    """Whether a text says the value, in its unit, of the same subject or at least of the same matter."""
    return any(
        held.holds(wanted.token) and _tells(wanted, text, held) and _in_unit(wanted, text)
        for text, held in sources.texts
    )


def _tells(wanted: Wanted, text: str, held: Values) -> bool:
    subject = wanted.subject
    if subject and held.ids and subject not in held.ids:
        return False
    pieces = list(_pieces(wanted.token, text, subject, held.ids))
    same_time = bool(_anchors(wanted.sentence) & _anchors(text))
    if not pieces or (wanted.names and not same_time and not _beside(pieces, wanted)):
        return False
    if wanted.strict:
        return same_time or (bool(subject) and subject in held.ids)
    return _share(wanted.sentence, text)


def _pieces(token: Token, text: str, subject: str, known: Collection[str]) -> Iterator[str]:
    """The pieces of a text that hold the value and speak of this subject, or of nobody."""
    spoken: frozenset[str] = frozenset()
    for piece in _PIECE.split(text):
        held = values(piece, known)
        spoken = held.ids or spoken
        if held.holds(token) and (not subject or not spoken or subject in spoken):
            yield piece.casefold()


def _beside(pieces: Sequence[str], wanted: Wanted) -> bool:
    """Whether a piece names what the value is said of."""
    names = {short for name in wanted.names if (short := bare(name))}
    if any(name in piece for piece in pieces for name in names):
        return True
    return wanted.goes_on and any(_share(wanted.clause.casefold(), piece) for piece in pieces)


def _share(said: str, text: str) -> bool:
    return bool((bigrams(said) & bigrams(text)) - _EMPTY)


def _anchors(text: str) -> set[str]:
    found: set[str] = set()
    for week, number, word, month in _ANCHOR.findall(text):
        found.add(f"w{int(week or number)}" if week or number else word or f"m{int(month)}")
    return found


def _in_unit(wanted: Wanted, text: str) -> bool:
    return not wanted.unit or unit_fits(wanted.unit, wanted.token, _holding(wanted.token, text))


def _holding(token: Token, text: str) -> Iterable[str]:
    return [piece for piece in _PIECE.split(text) if values(piece).holds(token)]
