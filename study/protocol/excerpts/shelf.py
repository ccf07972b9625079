"""The rules of a study's documents, and the one that answers a question."""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from heapq import nlargest

from language.kinds import Kind, kinds
from language.numerals import HAN, number
from study.protocol.bm25 import query_terms, terms, without_asking
from study.protocol.excerpts.figures import Range, fitting, ranges
from study.protocol.excerpts.standing import (
    HEADING,
    TITLE,
    TITLE_ONLY,
    Fields,
    Names,
    Standing,
)
from study.protocol.excerpts.units import Unit, units
from study.protocol.synonyms import synonyms_of

LEAST = 0.34
"""Share of the question's words that a rule has to speak of to be its answer."""

EXAMPLE = 0.9
"""What an example counts: it is no rule."""

OTHER_WORD, SHORT_WORD = 0.85, 0.6
"""What another word for the one of the question counts; the characters alone of an unknown one (锁库)."""

CASE, HELD, MISSED = 1.5, 1.25, 0.8
"""What a rule counts that is for the case asked, whose range holds the figure asked, or does not."""

SEAM = 0.2
"""What a pair counts that stands nowhere: mostly the seam between two words."""

MOST_WANTED = 48
"""Things that are looked for; the rarest, where a message names more."""

FOREIGN = 1.5
"""What a character counts that stands nowhere: the question speaks of something else (疫苗)."""

TERM = 1.5
"""What a word counts more that has other words: it is a term of the trade."""

HEAVY, SPOKEN = 0.2, 0.5
"""A share of the question that none of its answers may leave out, and from what on it is spoken of."""

MAIN = 1.1
"""What a rule of the protocol itself counts more than one of a document around it."""

NEXT = 0.88
"""Share of the best rule's score at which another rule of its section answers, too."""

WHOLE = 0.8
"""Share of the question that a heading says from which on the whole section is meant."""

_PROTOCOL = re.compile(r"方案|protocol", re.IGNORECASE)
_BRACKETS = re.compile(r"[(（].*?[)）]")
_EXAMPLE = re.compile(r"示例|举例|example", re.IGNORECASE)
_NTH = re.compile(rf"第\s*([\d{HAN}]+)\s*次?\s*(?:访视|随访|回访)")
_SPAN = re.compile(r"v(\d)\s*[至到~～-]\s*v(\d)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Excerpt:
    """What answers: lines of one section, the best first.

    `document`, `place` ("§5.2.3", else the heading) and `title` name it; `rule` is the best as it stands in
    the text; `more`: the section says more than these lines; `then`: what the best says of its case, where it
    is a row.
    """

    document: str
    place: str
    rule: str
    lines: tuple[str, ...]
    more: bool
    then: tuple[str, ...] = ()
    title: str = ""

    @property
    def mark(self) -> str:
        """`研究方案 §5.2.3`"""
        return f"{self.document} {self.place}".strip()


@dataclass(frozen=True, slots=True)
class _Wanted:
    """Something a question speaks of: sets of terms that each name it, with what they count, and its weight."""

    names: Names
    weight: float
    is_term: bool = False


@dataclass(frozen=True, slots=True)
class _Scored:
    """What each rule scores for a question, the best of them, and the least that an answer scores."""

    scores: Sequence[float]
    best: int
    case: _Case
    ideal: float
    least: float


class Shelf:
    """Documents (name, text), ready to be asked; `units`: their rules in reading order."""

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        self.units = units(documents)
        near: dict[int, frozenset[str]] = {}
        for unit in self.units:
            near[unit.section] = near.get(unit.section, frozenset()) | frozenset(terms(unit.text))
        fields: list[Fields] = [
            (
                frozenset(terms(unit.text)),
                frozenset(terms(_visits(unit.title))),
                frozenset(terms(unit.lead)),
                frozenset(terms(f"{unit.document} {unit.above}")),
                near[unit.section],
            )
            for unit in self.units
        ]
        self._holding = Counter(term for text, title, *_rest in fields for term in text | title)
        self._standing = Standing(fields)
        self._title_sizes = [len(one[TITLE]) for one in fields]
        self._when = [frozenset(terms(unit.when)) for unit in self.units]
        self._priors = [_prior(unit) for unit in self.units]

    def answer(self, question: str, own: Mapping[str, Iterable[str]]) -> Excerpt | None:
        """The rule that answers with what belongs to it; None where none speaks of it."""
        found = self._scored(question, own)
        if found is None:
            return None
        best = found.best
        titled = None if found.case.figures else self._titled(found)
        if titled is not None and not self._tells_when(titled, found, question):
            titled = None
        if titled is not None and _main(self.units[titled]) >= _main(self.units[best]):
            return self._excerpt(self._telling_first(self._listed_first(titled), found, question))
        if found.scores[best] < found.least:
            return None
        return self._excerpt(self._answering(found))

    def ranked(self, question: str, own: Mapping[str, Iterable[str]]) -> list[tuple[float, Unit]]:
        """All rules that speak of a question with their scores, best first."""
        found = self._scored(question, own)
        if found is None:
            return []
        pairs = zip(found.scores, self.units, strict=True)
        spoken = [(score, unit) for score, unit in pairs if score >= found.least]
        return sorted(spoken, key=lambda pair: -pair[0])

    def _scored(self, question: str, own: Mapping[str, Iterable[str]]) -> _Scored | None:
        """None where a question names nothing, or there is nothing to read."""
        figures = ranges(question)
        wanted = self._wanted(question, own, figures)
        ideal = sum(one.weight for one in wanted)
        if not (ideal and self.units):
            return None
        asked = kinds(question)
        case = _Case(figures, [one for one in wanted if one.weight >= HEAVY * ideal], wanted)
        scores = [0.0] * len(self.units)
        for at, share in self._shares(wanted).items():
            unit = self.units[at]
            fit = case.fit(unit, self._when[at])
            scores[at] = share / ideal * _kind(asked, unit) * fit * self._priors[at]
        best = max(range(len(scores)), key=lambda at: (scores[at], -at))
        foreign = FOREIGN * self._foreign(question, own) * math.log(1 + len(self.units))
        return _Scored(scores, best, case, ideal, LEAST * (1 + foreign / ideal))

    def _shares(self, wanted: Iterable[_Wanted]) -> Mapping[int, float]:
        """Rules that hold a word of what is wanted -> how far they speak of all of it."""
        shares: defaultdict[int, float] = defaultdict(float)
        for one in wanted:
            for at, told in self._standing.told(one.names).items():
                shares[at] += one.weight * told
        return shares

    def _wanted(
        self, question: str, own: Mapping[str, Iterable[str]], figures: tuple[Range, ...]
    ) -> list[_Wanted]:
        rest, found = _visits(question.casefold()), []
        for word in synonyms_of(rest, own).said:
            rest = rest.replace(word.casefold(), " ")
            others = synonyms_of(word, own).others
            names = [(frozenset(terms(word)), 1.0)]
            names += [(frozenset(terms(other)), OTHER_WORD) for other in others]
            weight = TERM * max(self._weight(held) for held, _counts in names)
            found.append(_Wanted(names, weight, is_term=True))
        single = query_terms(rest) if without_asking(rest).strip() else {}
        for term, weight in single.items():
            if term.isdecimal() and figures:
                continue
            counts = self._counts(term)
            held = frozenset([term]) if counts == 1 else frozenset(term)
            found.append(_Wanted([(held, counts)], weight * self._rarity(term)))
        return nlargest(MOST_WANTED, found, key=lambda one: one.weight)

    def _counts(self, term: str) -> float:
        return SHORT_WORD if term not in self._holding and not term.isascii() else 1.0

    def _foreign(self, question: str, own: Mapping[str, Iterable[str]]) -> int:
        """How many characters of a question stand nowhere in the documents: it speaks of something else."""
        for word in synonyms_of(question, own).said:
            question = question.casefold().replace(word.casefold(), " ")
        plain = without_asking(question)
        return sum(char not in self._holding for char in plain if "\u3400" <= char <= "\u9fff")

    def _weight(self, held: frozenset[str]) -> float:
        """Of a word: that of its pairs of characters, as if it were written out."""
        pairs = [term for term in held if len(term) > 1 or term.isascii()]
        known = [term for term in pairs if term in self._holding]
        return sum(map(self._rarity, known)) if len(known) == len(pairs) else 0.0

    def _rarity(self, term: str) -> float:
        """Terms that stand nowhere are mostly the seams between two words."""
        held, size = self._holding.get(term, 0), len(self.units)
        if not held:
            return SEAM * math.log(1 + size) if len(term) > 1 else 0.0
        return math.log(1 + (size - held + 0.5) / (held + 0.5))

    def _titled(self, asked: _Scored) -> int | None:
        """The first rule of the section whose heading says what is asked for, the tightest heading first."""
        headings = [(one, self._standing.told(one.names, TITLE_ONLY)) for one in asked.case.wanted]
        best: tuple[float, bool, int] | None = None
        found = None
        for at, unit in enumerate(self.units):
            if at and self.units[at - 1].section == unit.section:
                continue
            share = sum(one.weight * told.get(at, 0.0) for one, told in headings)
            share = share / asked.ideal / HEADING
            rank = (round(share, 1), _main(unit), -self._title_sizes[at])
            told = all(told.get(at, 0.0) >= SPOKEN for one, told in headings if one.is_term)
            if told and share >= WHOLE and (best is None or rank > best):
                best, found = rank, at
        return found

    def _section(self, at: int) -> list[int]:
        """All rules of the section of one."""
        own = self.units[at].section
        return [other for other, unit in enumerate(self.units) if unit.section == own]

    def _listed_first(self, at: int) -> list[int]:
        """All rules of a section: a list with what introduces it before what is said beside it."""
        section = self._section(at)
        leads = {self.units[one].lead for one in section} - {""}
        listed = [one for one in section if self.units[one].lead or self.units[one].text in leads]
        return list(dict.fromkeys([*listed, *section]))

    def _tells_when(self, at: int, found: _Scored, question: str) -> bool:
        """Whether a section that is called what a time is asked of tells one, as well as any other does."""
        asked = [kind for kind in kinds(question)[:1] if kind.is_time]
        least = NEXT * found.scores[found.best]
        return not asked or any(
            found.scores[one] >= least and kind.tells(self.units[one].text)
            for one in self._section(at)
            for kind in asked
        )

    def _telling_first(self, section: list[int], found: _Scored, question: str) -> list[int]:
        """Of a section that is meant as a whole first the rules that tell the time that is asked for."""
        asked = [kind for kind in kinds(question)[:1] if kind.is_time]
        telling = [at for at in section if any(kind.tells(self.units[at].text) for kind in asked)]
        best = max((found.scores[at] for at in telling), default=0.0)
        first = [at for at in telling if found.scores[at] >= NEXT * best]
        first.sort(key=lambda at: -found.scores[at])
        return list(dict.fromkeys([*first, *section]))

    def _answering(self, found: _Scored) -> list[int]:
        """The best rule, those of its section that answer as well, and what its paragraph goes on to say."""
        best, scores, case = found.best, found.scores, found.case
        spoken = (self._standing.told(one.names) for one in case.heavy)
        heavy = [told for told in spoken if told.get(best, 0.0) >= SPOKEN]
        section = self._section(best)
        also = [
            at
            for at in section
            if at != best
            and scores[at] >= NEXT * scores[best]
            and case.holds(self.units[at]) >= case.holds(self.units[best])
            and all(told.get(at, 0.0) >= SPOKEN for told in heavy)
        ]
        own = self.units[best].paragraph
        text = self.units[best].text
        after = [
            at
            for at in section
            if at > best and (self.units[at].paragraph == own >= 0 or self.units[at].lead == text)
        ]
        return list(dict.fromkeys([best, *also, *after]))

    def _excerpt(self, chosen: Sequence[int]) -> Excerpt:
        """The lines, what introduces a list only before the first of its items."""
        lines: list[str] = []
        said = ""
        for unit in (self.units[at] for at in chosen):
            lines.append(unit.text if unit.lead in ("", said) else f"{unit.lead}{unit.text}")
            said = unit.lead or unit.text
        more = len(chosen) < len(self._section(chosen[0]))
        first = self.units[chosen[0]]
        return Excerpt(
            first.document, _place(first), first.text, tuple(lines), more, first.then, _title(first)
        )


def _visits(text: str) -> str:
    """第六次访视 → v6; "V2 至 V5" → each of them."""
    text = _NTH.sub(lambda hit: f"v{number(hit[1])} ", text)
    return _SPAN.sub(
        lambda hit: " ".join(f"v{at}" for at in range(int(hit[1]), int(hit[2]) + 1)), text
    )


def _kind(asked: Sequence[Kind], unit: Unit) -> float:
    return max((kind.counts for kind in asked if kind.tells(unit.text)), default=1.0)


def _prior(unit: Unit) -> float:
    return (MAIN if _main(unit) else 1.0) * (EXAMPLE if _EXAMPLE.search(unit.title) else 1.0)


def _main(unit: Unit) -> bool:
    return bool(_PROTOCOL.search(unit.document))


@dataclass(frozen=True)
class _Case:
    """The case that a question puts: its figures, and what it mainly and at all speaks of."""

    figures: tuple[Range, ...]
    heavy: Sequence[_Wanted]
    wanted: Sequence[_Wanted]

    @cached_property
    def _said(self) -> frozenset[str]:
        return frozenset(t for one in self.wanted for names, _counts in one.names for t in names)

    def holds(self, unit: Unit) -> int:
        """As `fitting` of the figures."""
        return fitting(self.figures, unit.when)

    def fit(self, unit: Unit, when: frozenset[str]) -> float:
        """How far a rule is for this case; `when`: the terms that say which one it is for."""
        is_row = unit.when != unit.text
        factor = HELD if is_row and self._says(when) else 1.0
        if not self.figures:
            return factor
        fits = self.holds(unit)
        if fits < 0:
            return factor * MISSED
        if fits > 0:
            own = any(names <= when for one in self.heavy for names, _counts in one.names)
            return factor * ((CASE if is_row else HELD) if own else 1.0)
        return factor * (HELD if fitting(self.figures, unit.text) > 0 else 1.0)

    def _says(self, when: frozenset[str]) -> bool:
        """Whether the question says all that a row is about."""
        return bool(when) and when <= self._said


def _title(unit: Unit) -> str:
    """The heading behind its number, without what it adds in brackets."""
    return _BRACKETS.sub("", unit.title).strip() if unit.number else ""


def _place(unit: Unit) -> str:
    return f"§{unit.number}" if unit.number else unit.title.removeprefix(unit.document).strip()
