"""The rules of a study's documents, and which of them answer a question (reference/redcap_dify.md 3.2).

A question is a handful of things that it speaks of: words with their synonyms, pairs of characters where the
documents know no word, figures. A rule scores by the share of them that it speaks of, rare ones counting more,
its own text more than its heading, the sentence above its list, or the rest of its section. The weights below
were measured with tests/assistant/retrieval*.jsonl.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from core.language.kinds import kinds
from study.protocol.figures import Range, fitting, ranges
from study.protocol.synonyms import synonyms_of
from study.protocol.terms import (
    RUN,
    Wanted,
    figures_said,
    folded,
    name_of,
    pairs_of,
    same,
    terms,
    visits_named,
    without_asking,
)
from study.protocol.units import Unit, units

LEAST = 0.34
"""Share of the question that a rule has to speak of to be listed at all."""
TEXT, HEADING, LEAD, ABOVE, NEAR, TITLED = 1.0, 0.85, 0.7, 0.4, 0.2, 0.2
"""What a word counts by where it stands; `NEAR`: elsewhere in the section; `TITLED`: in the heading, too."""
OTHER_WORD, TERM = 0.85, 1.5
"""What another word for the one of the question counts; what a word counts more that has other words."""
ALONE, UNKNOWN, PART = 0.25, 0.7, 0.6
"""What a character counts that is in no known pair, what each of several such side by side (a word that stands
nowhere), and what these count where they stand in others (读片, 阅片)."""
CASE, HELD, MISSED = 1.6, 1.2, 0.8
"""What a rule counts whose case is the one asked, whose range holds the figure asked, or does not."""
MAIN, EXAMPLE = 1.1, 0.9
"""What a rule of the protocol itself counts more than one of a document around it; an example less."""
MOST = 48
"""Things that are looked for; the rarest, where a message names more."""
MISSED_SHARE, AHEAD = 0.16, 1.08
MISSED_OPEN, AHEAD_OPEN = 0.05, 1.25
"""A rule may be quoted unasked where it leaves out at most this share of the question and scores so much more
than the next that says something else; `OPEN`: where no kind of thing (a time, a figure, a person) is asked."""
SEAM = 16
"""A pair is the seam between two words where one beside it stands in so many times the rules."""
HEAVY, SPOKEN = 0.22, 0.59
"""A share of the question that is its subject; from what on a rule speaks of a thing."""
WHOLE, TIGHT = 0.9, 0.8
"""A section is meant as a whole where its heading says this share of the question, which says that of it."""
SECTION_SHARE, MOST_LINES, NEXT = 0.6, 3, 0.88
"""Of the best score, from which another rule of a cited section is quoted, and how many at most; `NEXT`: from
which another rule of the best one's section answers, too."""

_FUNCTION = frozenset(
    "不没别去来上下里外想用做说看听找放拿掉出完起接算样成道知先后前时内间为以从由向比更最只行该须将等其之所快一吃喝服"
)
_SECTION = re.compile(r"§\s*(\d+(?:\.\d+)*)")
_PROTOCOL = re.compile(r"方案|protocol", re.IGNORECASE)
_NUMBERED = re.compile(r"^\d+[.、)]\s+")
_BRACKETS = re.compile(r"[(（].*?[)）]")
_EXAMPLE = re.compile(r"示例|举例|example", re.IGNORECASE)

Synonyms = Mapping[str, Iterable[str]]
"""The study's own table: term -> other words for it."""


def rule_lines(rules: Sequence[Unit]) -> list[str]:
    """Rules as lines, what introduces a list only before the first of its items."""
    made, said = list[str](), ""
    for unit in rules:
        made.append(unit.text if unit.lead in ("", said) else f"{unit.lead}{unit.text}")
        said = unit.lead or unit.text
    return made


def is_protocol(document: str) -> bool:
    """Whether a document is called the protocol, and no guide, letter or consent beside it."""
    return bool(_PROTOCOL.search(document))


@dataclass(frozen=True, slots=True)
class Found:
    """Rules that speak of a question, best first.

    `is_sure`: the first may be quoted as the answer although nobody judged it. `quoted`: it and what of its
    section belongs to it, in reading order. `whole`: the question names a section, all of which that is.
    """

    rules: tuple[Unit, ...] = ()
    is_sure: bool = False
    whole: bool = False
    quoted: tuple[Unit, ...] = ()


@dataclass(frozen=True, slots=True)
class _Scored:
    """What the rules score that speak of a question, best first; `shares`: without its kind and case."""

    question: str
    wanted: Sequence[Wanted]
    has_figures: bool
    shares: Mapping[int, float]
    scores: Mapping[int, float]

    @property
    def listed(self) -> list[int]:
        return [at for at, score in self.scores.items() if score >= LEAST]

    @property
    def ideal(self) -> float:
        return sum(one.weight for one in self.wanted)


class RuleIndex:
    """Documents (name, text), ready to be asked; `units`: their rules in reading order."""

    def __init__(self, documents: Sequence[tuple[str, str]]) -> None:
        self.units = units(documents)
        self._sections: defaultdict[int, list[int]] = defaultdict(list)
        self._places: defaultdict[str, dict[int, float]] = defaultdict(dict)
        self._titles: defaultdict[str, set[int]] = defaultdict(set)
        self._heads: dict[int, frozenset[str]] = {}
        for at, unit in enumerate(self.units):
            title = visits_named(unit.title)
            texts = {ABOVE: f"{unit.document} {unit.above}", LEAD: unit.lead, HEADING: title}
            for place, text in (texts | {TEXT: unit.text}).items():
                for term in terms(text):
                    self._places[term][at] = place
            if unit.section not in self._sections:
                self._add_head(unit.section, title, _BRACKETS.sub("", title.replace("的", " ")))
            self._sections[unit.section].append(at)
        self._chapters = self._named_chapters()

    def _add_head(self, section: int, title: str, name: str) -> None:
        self._heads[section] = name_of(name)
        for term in terms(title):
            self._titles[term].add(section)

    def _named_chapters(self) -> Mapping[int, list[int]]:
        """Chapters that say nothing themselves → those of their sections that are called like them.

        2 研究目的 is told by 2.1 主要目的 and 2.2 次要目的. A chapter has the number of the first of them
        inverted, which is below zero.
        """
        found: defaultdict[tuple[str, str], list[Unit]] = defaultdict(list)
        for unit in (self.units[places[0]] for places in self._sections.values()):
            parent, _dot, _last = unit.number.rpartition(".")
            if parent and "." not in parent and unit.title[-2:] == unit.above[-2:]:
                found[unit.document, parent].append(unit)
        own = {(unit.document, unit.number) for unit in self.units}
        chapters = {~told[0].section: told for named, told in found.items() if named not in own}
        for chapter, told in chapters.items():
            above = without_asking(told[0].above)
            self._add_head(chapter, above, above)
        return {chapter: [unit.section for unit in told] for chapter, told in chapters.items()}

    def ranked(self, question: str, own: Synonyms) -> list[tuple[float, Unit]]:
        """The rules that speak of a question with the share of it that they speak of, best first."""
        found = self._scored(question, own)
        return [(found.shares[at], self.units[at]) for at in found.listed] if found else []

    def find(self, question: str, own: Synonyms, search: str = "") -> Found:
        """The rules that speak of a question; `search`: further words for it, such as a model's.

        A section that is cited ("研究方案 §5.2.3") is the one that is meant.
        """
        if cited := _SECTION.search(question):
            places = self._numbered(cited[1])
            named = [at for at in places if self.units[at].document in question]
            if places:
                return self._inside(named or places, _SECTION.sub(" ", question), own, search)
        found = self._scored(question, own, search)
        if found is None:
            return Found()
        if (section := self._titled(found)) is not None:
            told = self._chapters.get(section, [section])
            whole = self._of(at for one in told for at in self._listed(one))
            return Found(whole, True, True, whole)
        rules = self._of(found.listed)
        return Found(rules, bool(rules) and self._is_sure(found), quoted=self._belonging(found))

    def within(self, section: str, questions: Sequence[str], own: Synonyms) -> tuple[Unit, ...]:
        """The rules of a numbered section that speak of the first question that any does, in their order.

        The first of the section where none does; () where no document has the section.
        """
        places = self._numbered(section)
        told = (self._inside(places, question, own, "") for question in questions if places)
        found = next((one for one in told if not one.whole), None)
        return found.quoted if found else self._of(places[:MOST_LINES])

    def has(self, section: str) -> bool:
        """Whether a document has a section of this number, or one below it."""
        return bool(self._numbered(section))

    def _of(self, places: Iterable[int]) -> tuple[Unit, ...]:
        return tuple(self.units[at] for at in places)

    def _numbered(self, section: str) -> list[int]:
        """The rules of a numbered section and of those below it."""
        return [at for at, u in enumerate(self.units) if f"{u.number}.".startswith(f"{section}.")]

    def _listed(self, section: int) -> list[int]:
        """All rules of a section, a list with what introduces it before what is said beside it."""
        own = self._sections[section]
        leads = {self.units[at].lead for at in own} - {""}
        return sorted(own, key=lambda at: not (self.units[at].lead or self.units[at].text in leads))

    def _belonging(self, found: _Scored) -> tuple[Unit, ...]:
        """The best rule, those of its section that answer as well, and what its paragraph goes on to say."""
        best = next(iter(found.scores))
        unit, least = self.units[best], NEXT * found.scores[best]

        def goes_on(at: int) -> bool:
            other = self.units[at]
            return at > best and (other.paragraph == unit.paragraph >= 0 or other.lead == unit.text)

        return self._of(
            at
            for at in self._sections[unit.section]
            if at == best or found.scores.get(at, 0.0) >= least or goes_on(at)
        )

    def _inside(self, places: Sequence[int], question: str, own: Synonyms, search: str) -> Found:
        """The rules of a section, those that speak of a question first; all of it where none does."""
        for document in {self.units[at].document for at in places}:
            question = question.replace(document, " ")
        found = self._scored(question, own, search)
        scores = {at: found.scores.get(at, 0.0) for at in places} if found else {}
        best = max(scores.values(), default=0.0)
        if best <= 0:
            return Found(self._of(places), True, True, self._of(places))
        order = sorted(places, key=lambda at: (-scores[at], at))
        near = [at for at in order if scores[at] >= SECTION_SHARE * best][:MOST_LINES]
        return Found(self._of(order), True, quoted=self._of(sorted(near)))

    def _is_sure(self, found: _Scored) -> bool:
        """Whether the best rule speaks of nearly all that is asked, tells the kind of thing that is asked for,
        and stands well before any rule of another section that says something else.
        """
        order = [*found.scores]
        unit = self.units[order[0]]
        if all(len(term) < 2 for one in found.wanted for name, _c in one.names for term in name):
            return False
        if found.has_figures and not fitting(ranges(found.question), unit.text):
            # The case of a figure is no other's than of the rule that names its range.
            return False
        missed = (o.weight for o in found.wanted if self._speak(o).get(order[0], 0.0) < SPOKEN)
        share = sum(missed) / found.ideal
        told = f"{unit.title} {unit.lead} {_NUMBERED.sub('', unit.text)}"
        asked = kinds(found.question)[:1]
        if share > (MISSED_SHARE if asked else MISSED_OPEN):
            return False
        if not all(kind.tells(told) for kind in asked):
            return False
        own = name_of(unit.text)
        rivals = (at for at in order if self.units[at].section != unit.section)
        rival = next((at for at in rivals if not same(own, name_of(self.units[at].text))), None)
        least = (AHEAD if asked else AHEAD_OPEN) + share
        return rival is None or found.scores[order[0]] >= least * found.scores[rival]

    def _scored(self, question: str, own: Synonyms, search: str = "") -> _Scored | None:
        """None where no rule speaks of the question."""
        question = figures_said(question)
        figures = ranges(question)
        wanted = self._wanted(f"{question} {search}".strip(), own, bool(figures))
        ideal = sum(one.weight for one in wanted)
        shares: defaultdict[int, float] = defaultdict(float)
        for one in wanted:
            for at, told in self._speak(one).items():
                shares[at] += one.weight * told / ideal
        if not shares:
            return None
        asked = kinds(question)
        heavy = [one for one in wanted if one.weight >= HEAVY * ideal]
        scores = {}
        for at, share in shares.items():
            unit = self.units[at]
            text = _NUMBERED.sub("", unit.text)
            score = share * max((kind.counts for kind in asked if kind.tells(text)), default=1.0)
            score *= MAIN if is_protocol(unit.document) else 1.0
            score *= EXAMPLE if _EXAMPLE.search(unit.title) else 1.0
            # Rounded: the order of a sum is no difference.
            scores[at] = round(score * self._fit(figures, heavy, unit), 6)
        ordered = dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))
        return _Scored(question, wanted, bool(figures), shares, ordered)

    def _wanted(self, text: str, own: Synonyms, has_figures: bool) -> list[Wanted]:
        rest, found = visits_named(text), list[Wanted]()
        for word in synonyms_of(rest, own).said:
            if folded(word) not in rest:
                continue
            rest = rest.replace(folded(word), " ")
            others = ((name_of(other), OTHER_WORD) for other in synonyms_of(word, own).others)
            names = ((name_of(word), 1.0), *others)
            known = [one for one in names if all(term in self._places for term in one[0])]
            sizes = [sum(map(self._rarity, held)) for held, _counts in known]
            if known and known[0][1] == 1.0:
                sizes = sizes[:1]
            weight = sum(sizes) / max(1, len(sizes))
            found.append(Wanted(tuple(known), TERM * weight or UNKNOWN * self._rarity("")))
        for run in dict.fromkeys(RUN.findall(without_asking(rest))):
            if not run[0].isascii():
                found += self._words(run)
            elif not (has_figures and run.replace(".", "").isdecimal()):
                found.append(Wanted(((frozenset([run]), 1.0),), self._rarity(run)))
        return sorted(dict.fromkeys(found), key=lambda one: -one.weight)[:MOST]

    def _words(self, run: str) -> Iterator[Wanted]:
        """The pairs of a run of Chinese that the documents know, and the characters that are in none."""
        pairs = pairs_of(run)
        counts = [len(self._places.get(pair, ())) for pair in pairs]
        covered: set[int] = set()
        for at, pair in enumerate(pairs):
            if counts[at] and SEAM * counts[at] >= max(counts[max(at - 1, 0) : at + 2]):
                covered |= {at, at + 1}
                yield Wanted(((frozenset([pair]), 1.0),), self._rarity(pair))
        loose = "".join(
            " " if at in covered or char in _FUNCTION else char for at, char in enumerate(run)
        )
        for word in loose.split():
            share, part = (ALONE, 1.0) if len(word) == 1 else (UNKNOWN, PART)
            yield Wanted(((frozenset(word), part),), share * sum(map(self._rarity, word)))

    def _speak(self, wanted: Wanted) -> Mapping[int, float]:
        """Rules -> how far they speak of a thing, by the best of its names; Latin words have to be there."""
        best: dict[int, float] = {}
        for name, counts in wanted.names:
            held = {term: self._held(term) for term in name}
            exact = [told for term, told in held.items() if term.isascii()]
            for at in {at for told in held.values() for at in told}:
                if all(at in told for told in exact):
                    total = sum(told.get(at, 0.0) for told in held.values())
                    best[at] = max(best.get(at, 0.0), counts * total / len(name))
        return best

    def _held(self, term: str) -> Mapping[int, float]:
        """Rules -> what a term counts there: its place, more where the heading has it, little where near."""
        own = self._places.get(term, {})
        told = {
            at: place + TITLED * (self.units[at].section in self._titles[term])
            for at, place in own.items()
        }
        for section in {self.units[at].section for at, place in own.items() if place == TEXT}:
            for at in self._sections[section]:
                told.setdefault(at, NEAR)
        return told

    def _fit(self, figures: tuple[Range, ...], heavy: Sequence[Wanted], unit: Unit) -> float:
        """How far a rule is for the case whose figures are asked about."""
        if not figures:
            return 1.0
        fits = fitting(figures, unit.when)
        if fits > 0 and unit.when != unit.text:
            said = frozenset(terms(f"{visits_named(unit.title)} {unit.when}"))
            is_case = any(name <= said for one in heavy for name, _counts in one.names)
            return CASE if is_case else 1.0
        if fits < 0:
            return MISSED
        return HELD if fits > 0 or fitting(figures, unit.text) > 0 else 1.0

    def _rarity(self, term: str) -> float:
        held = sum(place >= HEADING for place in self._places.get(term, {}).values())
        return math.log(1 + (len(self.units) - held + 0.5) / (held + 0.5))

    def _titled(self, found: _Scored) -> int | None:
        """The section whose heading says all that is asked for, of the protocol first."""
        if found.has_figures or any(kind.is_figure for kind in kinds(found.question)):
            return None
        told: defaultdict[int, float] = defaultdict(float)
        said: defaultdict[int, set[str]] = defaultdict(set)
        for one in found.wanted:
            best: dict[int, float] = {}
            for name, counts in one.names:
                for section in set.intersection(*(self._titles.get(term, set()) for term in name)):
                    best[section] = max(best.get(section, 0.0), counts)
                    said[section] |= name
            for section, counts in best.items():
                told[section] += one.weight * counts / found.ideal

        def order(section: int) -> tuple[float, bool, bool, int]:
            first = max(section, ~section)
            document = self.units[self._sections[first][0]].document
            return round(told[section], 2), is_protocol(document), section >= 0, -first

        named = (
            section
            for section, share in told.items()
            if share >= WHOLE and len(said[section]) >= TIGHT * len(self._heads[section])
        )
        return max(named, key=order, default=None)
