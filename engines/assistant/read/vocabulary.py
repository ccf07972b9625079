"""The words of one study: its labels and their parts, choices, forms, events, visits, sites, synonyms, and the
lay words that mean something in it. Compiled once for each StudyDesign.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import IntEnum
from itertools import takewhile

from core.language.numerals import HAN
from core.language.sounds import sound
from engines.assistant.read.lay import Concept, lay
from engines.assistant.read.naming import (
    choice_names,
    choice_tails,
    denied,
    fold,
    parts_of,
    whole_names,
)
from engines.assistant.read.tokens import Kind, Reading
from study.design import StudyDesign

_ROLES = {
    "开始日期": "onsets",
    "结束日期": "ends",
    "报告日期": "reports",
    "用药原因": "reasons",
    "分级": "grades",
}
"""Words of the concepts whose field of a repeating form says when its rows began, ended, …"""
_CODED = ("radio", "dropdown", "checkbox")
MOST_READINGS = 6
_HEARD = frozenset(
    {Kind.FIELD, Kind.FORM, Kind.CHOICE, Kind.PLACE, Kind.SITE, Kind.ENROLLED, Kind.RUN}
)
_Key = tuple[object, ...]
_MOST_KEPT = 32


class Rank(IntEnum):
    """Which of a word's meanings holds, strongest first; a part of a label is weak."""

    OWN = 8
    GRAMMAR = 7
    ROWS = 6
    WHOLE = 5
    LAY = 4
    SITE = 3
    PART = 2
    TRADE = 1


@dataclass(frozen=True, slots=True)
class Meaning:
    """What a word stands for."""

    kind: Kind
    value: str = ""
    readings: tuple[Reading, ...] = ()
    rank: int = 0


def is_name_of_study(meaning: Meaning) -> bool:
    """Whether a word is the whole name of a field or a form."""
    return meaning.kind in (Kind.FIELD, Kind.FORM) and meaning.rank >= Rank.WHOLE


@dataclass
class Vocabulary:
    """Word -> its strongest meaning; `others`: further meanings by kind; `units`: unit -> its field."""

    words: dict[str, Meaning] = field(default_factory=dict)
    others: dict[str, list[Meaning]] = field(default_factory=lambda: defaultdict(list))
    sounds: dict[str, str] = field(default_factory=dict)
    units: dict[str, tuple[Reading, ...]] = field(default_factory=dict)
    rewrites: Mapping[str, str] = field(default_factory=dict)
    event_form: str = ""
    drug_form: str = ""
    onsets: dict[str, str] = field(default_factory=dict)
    ends: dict[str, str] = field(default_factory=dict)
    grades: dict[str, str] = field(default_factory=dict)
    reports: dict[str, str] = field(default_factory=dict)
    reasons: dict[str, str] = field(default_factory=dict)
    enrolled_choices: frozenset[Reading] = frozenset()
    done_choices: frozenset[Reading] = frozenset()
    visit_stems: frozenset[str] = frozenset()
    longest: int = 0
    reach: dict[str, int] = field(default_factory=dict)
    """The first letter of a word -> the length of the longest one that begins so."""

    def add(self, word: str, meaning: Meaning) -> None:
        """Keep the strongest meaning; equally strong ones of a kind are readings of one word."""
        word = fold(word)
        known = self.words.get(word)
        if known is None or meaning.rank > known.rank:
            if known is not None:
                self.others[word].append(known)
            self.words[word] = meaning
        elif known.kind is meaning.kind and known.rank == meaning.rank and known.readings:
            both = dict.fromkeys((*known.readings, *meaning.readings))
            self.words[word] = Meaning(known.kind, known.value, tuple(both), known.rank)
        elif known.kind is not meaning.kind:
            self.others[word].append(meaning)

    def other(self, word: str, kind: Kind) -> Meaning | None:
        """A weaker meaning of a word, of another kind."""
        return next((m for m in self.others.get(word, ()) if m.kind is kind), None)


_compiled: dict[_Key, Vocabulary] = {}


def vocabulary(design: StudyDesign, sites: Mapping[str, str]) -> Vocabulary:
    """The words of a study as one reader may know it, compiled once: every message asks for them."""
    key = _key(design, sites)
    kept = _compiled.get(key)
    if kept is None:
        if len(_compiled) >= _MOST_KEPT:
            _compiled.clear()
        kept = _compiled[key] = _compile(design, sites)
    return kept


def _key(design: StudyDesign, sites: Mapping[str, str]) -> _Key:
    """All that the words are made of."""
    metadata = design.metadata
    return (
        metadata.digest,
        repr(metadata.instruments),
        repr(metadata.events),
        tuple(visit.visit for visit in design.plan.visits),
        design.hidden,
        design.status_field,
        frozenset(_beside(design)),
        tuple(sorted(design.mapped.items())),
        tuple(sorted(design.synonyms.items())),
        tuple(sorted(sites.items())),
    )


def _compile(design: StudyDesign, sites: Mapping[str, str]) -> Vocabulary:
    found = Vocabulary(rewrites={fold(k): fold(v) for k, v in lay().rewrites.items()})
    for word, (kind, value) in lay().grammar.items():
        if "#" not in word:
            found.add(word, Meaning(kind, value, rank=Rank.GRAMMAR))
    # The name of a date that was not told yet may be any date's.
    hidden = design.metadata.identifier_fields.difference(design.metadata.identity.asked)
    names = [word for name in hidden for word in whole_names(design.metadata.label(name))]
    for word in (*lay().identifiers, *names):
        found.add(word, Meaning(Kind.IDENTIFIER, rank=Rank.GRAMMAR))
    _fields(found, design)
    _forms(found, design)
    _choices(found, design)
    _places(found, design)
    _sites(found, sites)
    _concepts(found, design)
    _own_words(found, design)
    for word in lay().happens:
        found.add(word, Meaning(Kind.TERM, word, rank=Rank.TRADE))
    for word in lay().measured:
        if len(word) > 1 and not _begins_known(word, found):
            found.add(word, Meaning(Kind.ABSENT, word, rank=Rank.TRADE))
    for word in (*found.words, *found.rewrites):
        found.reach[word[:1]] = max(len(word), found.reach.get(word[:1], 0))
    found.longest = max(found.reach.values())
    for word, meaning in found.words.items():
        # A numeral is not misheard into a word, and none into one that only asks or denies.
        numbered = any(char in HAN for char in word)
        weak = meaning.kind not in _HEARD or meaning.rank == Rank.PART or numbered
        if len(word) > 1 and not word.isascii() and not weak:
            found.sounds.setdefault(sound(word), word)
    return found


def _begins_known(word: str, found: Vocabulary) -> bool:
    """Whether a word of the trade begins with one of the study's."""
    heads = (found.words.get(word[:size]) for size in range(2, len(word)))
    return any(
        head and head.kind in (Kind.FIELD, Kind.FORM) and head.rank > Rank.PART for head in heads
    )


def _shown(design: StudyDesign) -> list[str]:
    hidden = design.hidden | design.metadata.identifier_fields | {design.metadata.record_id_field}
    return [
        n
        for n, row in design.metadata.fields.items()
        if n not in hidden and row["field_type"] != "descriptive"
    ]


def _beside(design: StudyDesign) -> set[str]:
    """Fields that only go with another one: units, limits."""
    ranges = (limit for found in design.ranges.values() for r in found for limit in (r.low, r.high))
    return {*design.unit_fields.values(), *(limit for limit in ranges if isinstance(limit, str))}


def _fields(found: Vocabulary, design: StudyDesign) -> None:
    parts: dict[str, list[Reading]] = defaultdict(list)
    beside = _beside(design)
    for name in _shown(design):
        label = design.metadata.label(name)
        for word in (*whole_names(label), fold(name)):
            found.add(word, Meaning(Kind.FIELD, "", (Reading(name),), Rank.WHOLE))
        for word, share in parts_of(label):
            parts[word].append(Reading(name, "", share * (0.4 if name in beside else 1.0)))
    for word, readings in parts.items():
        best = sorted(set(readings), key=lambda r: -r.weight)
        if len(best) <= MOST_READINGS:
            found.add(word, Meaning(Kind.FIELD, "part", tuple(best), Rank.PART))


def _forms(found: Vocabulary, design: StudyDesign) -> None:
    for row in design.metadata.instruments:
        form, label = str(row["instrument_name"]), fold(str(row["instrument_label"]))
        rank = Rank.ROWS if form in design.repeating_forms else Rank.WHOLE
        for word in (fold(form), *whole_names(label)):
            found.add(word, Meaning(Kind.FORM, "", (Reading(form),), rank))
        for word in choice_names(label)[1:]:
            if len(word) > 2:
                found.add(word, Meaning(Kind.FORM, "", (Reading(form),), Rank.PART))


def _choices(found: Vocabulary, design: StudyDesign) -> None:
    for name in _shown(design):
        if design.metadata.fields[name]["field_type"] not in _CODED:
            continue
        for code, label in design.metadata.choices(name).items():
            for place, word in enumerate(choice_names(label)):
                if len(word) > 1 or place == 0:
                    reading = Reading(name, code, 1.0 if place < 2 else 0.8)
                    found.add(word, Meaning(Kind.CHOICE, "", (reading,), Rank.WHOLE))
            if word := denied(label):
                rest = (c for c in design.metadata.choices(name) if c != code)
                found.add(
                    word, Meaning(Kind.CHOICE, "", tuple(Reading(name, c) for c in rest), Rank.LAY)
                )
            for word in choice_tails(label):
                found.add(word, Meaning(Kind.CHOICE, "", (Reading(name, code, 0.5),), Rank.PART))


def _places(found: Vocabulary, design: StudyDesign) -> None:
    visits = {fold(visit.visit): visit.visit for visit in design.plan.visits}
    numbered = (name for name in visits if name[-1:].isdigit())
    found.visit_stems = frozenset(filter(None, (n.rstrip("0123456789") for n in numbered)))
    names: dict[str, list[Reading]] = defaultdict(list)
    for row in design.metadata.events:
        unique, name = str(row["unique_event_name"]), fold(str(row["event_name"]))
        bare = unique.rpartition("_arm_")[0] or unique
        for word in {fold(unique), name, *name.split(), bare.replace("_", " ")}:
            if len(word) > 1 and word not in visits:
                names[word].append(Reading(unique))
    for word, readings in names.items():
        more = () if word.isascii() else ("期", "时", "访视", "时候")
        for spelling in (word, *(word + end for end in more)):
            found.add(spelling, Meaning(Kind.PLACE, "event", tuple(readings), Rank.SITE))
    for number, visit in enumerate(dict.fromkeys(visits.values()), 1):
        spelt = "零一二三四五六七八九十"[number] if number <= 10 else number
        words = [f"第{n}次{what}" for n in (number, spelt) for what in ("访视", "随访")]
        for word in (visit, f"访视{number}", f"{visit}访视", f"{visit}随访", *words):
            found.add(word, Meaning(Kind.PLACE, "visit", (Reading(visit),), Rank.OWN))


_LAST_PART = re.compile(r"[^a-z0-9]([a-z]|\d{1,2})$")


_SITE_FORMS = ("{}中心", "{} 中心", "{}医院", "{}院区", "site {}", "中心{}", "{}院", "{}组中心")


def _sites(found: Vocabulary, sites: Mapping[str, str]) -> None:
    for code, label in sites.items():
        own = [fold(code), fold(label)]
        others = [[fold(c), fold(n)] for c, n in sites.items() if c != code]
        words = [word for word in {*own, *fold(label).split()} if len(word) > 1]
        tails = _telling_tails(own, others)
        words += [form.format(tail) for tail in tails for form in _SITE_FORMS]
        for word in words:
            found.add(word, Meaning(Kind.SITE, code, (Reading(code),), Rank.OWN))


def _telling_tails(names: Iterable[str], others: Iterable[Iterable[str]]) -> set[str]:
    """What is left of a site's names where the others begin alike: site_a among site_b -> a.

    Who may know of one site only calls it by its last letter or number, too.
    """
    others = [*others]
    if not others:
        return {hit[1] for name in names if (hit := _LAST_PART.search(name))}
    found = set()
    for name, *rest in zip(names, *others, strict=False):
        alike = takewhile(lambda letters: len({*letters}) == 1, zip(name, *rest, strict=False))
        shared = len([*alike]) if rest else 0
        if shared:
            found.add(name[shared:].strip("_- "))
    return {tail for tail in found if tail and len(tail) <= 4}


def _concepts(found: Vocabulary, design: StudyDesign) -> None:
    for concept in lay().concepts:
        forms = _concept_forms(concept, design)
        fields = () if forms else _concept_fields(concept, design)
        if forms:
            meaning = Meaning(Kind.FORM, "", (Reading(forms[0]),), Rank.LAY)
        elif fields:
            meaning = Meaning(Kind.FIELD, "all" if concept.all else "", fields, Rank.LAY)
        elif concept.column:
            meaning = Meaning(Kind.FIELD, "", (Reading(concept.column),), Rank.LAY)
        else:
            meaning = Meaning(Kind.ABSENT, concept.words[0], rank=Rank.TRADE)
        for word in concept.words:
            found.add(word, meaning)
        for unit in concept.units if fields or concept.column else ():
            found.units.setdefault(unit, meaning.readings)
        _rows_of(concept, forms, found, design)
    for choice in lay().choices:
        readings = tuple(_concept_choices(choice, design))
        for word in choice.words if readings else ():
            found.add(word, Meaning(Kind.CHOICE, "", readings, Rank.LAY))
        if choice.enrolled:
            found.enrolled_choices |= {reading._replace(weight=1.0) for reading in readings}
        if choice.done:
            found.done_choices |= {reading._replace(weight=1.0) for reading in readings}


def _rows_of(concept: Concept, forms: list[str], found: Vocabulary, design: StudyDesign) -> None:
    """What a concept says of repeating forms: which tells events, which drugs, and their days."""
    for word, role in _ROLES.items():
        if word in concept.words:
            setattr(found, role, _field_of_rows(concept, design))
    if forms and "ae" in concept.words:
        found.event_form = forms[0]
    if forms and "conmed" in concept.words:
        found.drug_form = forms[0]


def _field_of_rows(concept: Concept, design: StudyDesign) -> dict[str, str]:
    """Repeating form -> its field of a concept: when what its rows tell began, or ended, how severe it was."""
    found: dict[str, str] = {}
    for name in _shown(design):
        label = fold(design.metadata.label(name))
        form = design.form_of(name)
        if form in design.repeating_forms and any(term in label for term in concept.labels):
            found.setdefault(form, name)
    return found


def _concept_forms(concept: Concept, design: StudyDesign) -> list[str]:
    """The forms whose label has the first term that some label has, those with rows of their own first."""
    rows = design.metadata.instruments if concept.form else ()
    labels = {str(r["instrument_name"]): fold(str(r["instrument_label"])) for r in rows}
    for term in concept.labels:
        if forms := [form for form, label in labels.items() if term in label]:
            return sorted(forms, key=lambda f: (f not in design.repeating_forms, len(labels[f])))
    return []


def _concept_fields(concept: Concept, design: StudyDesign) -> tuple[Reading, ...]:
    found: list[Reading] = []
    for term in concept.labels:
        best = _best_label(term, design)
        found += [reading for reading in best if reading.name not in {r.name for r in found}]
        if found and not concept.all:
            break
    return tuple(found)


def _best_label(term: str, design: StudyDesign) -> list[Reading]:
    """The fields whose label is best covered by a term."""
    shares: dict[str, float] = {}
    for name in _shown(design):
        label = design.metadata.label(name)
        folded, whole = fold(label), whole_names(label)
        words = folded.replace("(", " ").replace(")", " ").split()
        if term in whole:
            shares[name] = 1.0
        elif term.isascii() and (term in words or dict(parts_of(label)).get(term)):
            shares[name] = len(term) / len(folded)
        elif not term.isascii() and term in folded:
            shares[name] = len(term) / len(whole[0]) if whole else 0.5
    for name in _beside(design) & shares.keys():
        shares[name] *= 0.4
    top = max(shares.values(), default=0.0)
    return [Reading(name) for name, share in shares.items() if share == top]


def _concept_choices(concept: Concept, design: StudyDesign) -> Iterable[Reading]:
    for name in _shown(design):
        if design.metadata.fields[name]["field_type"] not in _CODED:
            continue
        labels = {code: fold(label) for code, label in design.metadata.choices(name).items()}
        for term in concept.labels:
            if concept.all:
                yield from (Reading(name, c) for c, label in labels.items() if label.endswith(term))
                continue
            hits = [code for code, label in labels.items() if term == label] or [
                code for code, label in labels.items() if label.startswith(term)
            ]
            if hits:
                yield Reading(name, hits[0])
                break


def _own_words(found: Vocabulary, design: StudyDesign) -> None:
    """The study's mapping and synonyms: a word means that and nothing else."""
    shown = set(_shown(design))
    forms = {str(row["instrument_name"]) for row in design.metadata.instruments}
    for word, meant in (*design.mapped.items(), *design.synonyms.items()):
        name, _equals, code = meant.partition("=")
        if name in design.metadata.identifier_fields:
            found.add(word, Meaning(Kind.IDENTIFIER, rank=Rank.OWN))
        elif name in shown or (name in forms and not code):
            kind = Kind.CHOICE if code else Kind.FIELD if name in shown else Kind.FORM
            found.add(word, Meaning(kind, "", (Reading(name, code),), Rank.OWN))
