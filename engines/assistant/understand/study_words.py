"""The words of one study: its labels and their parts, choices, forms, events, visits, sites, synonyms, and the
lay words that mean something in it. Compiled once for each StudyDesign.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping

from engines.assistant.intents.lexicon import words_of
from engines.assistant.understand.lay import Concept, lay
from engines.assistant.understand.naming import (
    choice_names,
    choice_tails,
    denied,
    fold,
    parts_of,
    whole_names,
)
from engines.assistant.understand.tokens import Kind, Reading
from engines.assistant.understand.vocabulary import Meaning, Rank, Vocabulary
from language.numerals import HAN
from language.sounds import sound
from study.design import StudyDesign

_CODED = ("radio", "dropdown", "checkbox")
MOST_READINGS = 6
_UNHEARD = frozenset(
    {Kind.FILL, Kind.TERM, Kind.RULE, Kind.NOT, Kind.EMPTY, Kind.YES_NO, Kind.VISIT}
)
_Key = tuple[object, ...]
_compiled: dict[_Key, Vocabulary] = {}
_MOST_KEPT = 32


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
    for word in lay().identifiers:
        found.add(word, Meaning(Kind.IDENTIFIER, rank=Rank.GRAMMAR))
    _identifiers(found, design)
    _fields(found, design)
    _forms(found, design)
    _choices(found, design)
    _places(found, design)
    _sites(found, sites)
    _concepts(found, design)
    _own_words(found, design)
    for word in words_of("S"):
        found.add(word, Meaning(Kind.TERM, word, rank=Rank.TRADE))
    for word in words_of("F"):
        if len(word) > 1 and not _begins_known(word, found):
            found.add(word, Meaning(Kind.ABSENT, word, rank=Rank.TRADE))
    found.longest = max(map(len, [*found.words, *found.rewrites]))
    for word, meaning in found.words.items():
        # 实际 sounds like 四级: a numeral is not misheard into a word, and none into one that only asks or
        # denies (每天, 没填; 酮康唑了吗, 做了吗).
        numbered = any(char in HAN for char in word)
        weak = meaning.kind in _UNHEARD or meaning.rank == Rank.PART or numbered
        if len(word) > 1 and not word.isascii() and not weak:
            found.sounds.setdefault(sound(word), word)
    return found


def _begins_known(word: str, found: Vocabulary) -> bool:
    """Whether a word of the trade begins with one of the study's: 知情日期."""
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


def _identifiers(found: Vocabulary, design: StudyDesign) -> None:
    for name in design.metadata.identifier_fields:
        for word in whole_names(design.metadata.label(name)):
            found.add(word, Meaning(Kind.IDENTIFIER, rank=Rank.GRAMMAR))


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
        for word in {fold(unique), name, *name.split(), unique.split("_arm_")[0].replace("_", " ")}:
            if len(word) > 1 and word not in visits:
                names[word].append(Reading(unique))
    for word, readings in names.items():
        suffixed = (
            [f"{word}{more}" for more in ("期", "时", "访视", "时候")] if not word.isascii() else []
        )
        for spelling in (word, *suffixed):
            found.add(spelling, Meaning(Kind.PLACE, "event", tuple(readings), Rank.SITE))
    for number, visit in enumerate(dict.fromkeys(visits.values()), 1):
        for word in (
            visit,
            f"访视{number}",
            f"第{number}次访视",
            f"第{'零一二三四五六七八九十'[number] if number <= 10 else number}次访视",
            f"第{'零一二三四五六七八九十'[number] if number <= 10 else number}次随访",
            f"第{number}次随访",
            f"{visit}访视",
            f"{visit}随访",
        ):
            found.add(word, Meaning(Kind.PLACE, "visit", (Reading(visit),), Rank.OWN))


_LAST_PART = re.compile(r"[^a-z0-9]([a-z]|\d{1,2})$")


def _sites(found: Vocabulary, sites: Mapping[str, str]) -> None:
    for code, label in sites.items():
        folded = fold(label)
        for word in {fold(code), folded, *folded.split()}:
            if len(word) > 1:
                found.add(word, Meaning(Kind.SITE, code, (Reading(code),), Rank.OWN))
        for tail in _telling_tails(
            [fold(code), folded], [[fold(c), fold(n)] for c, n in sites.items() if c != code]
        ):
            for word in (
                f"{tail}中心",
                f"{tail} 中心",
                f"{tail}医院",
                f"{tail}院区",
                f"site {tail}",
                f"中心{tail}",
                f"{tail}院",
                f"{tail}组中心",
            ):
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
        shared = 0
        while (
            rest
            and all(name[: shared + 1] == other[: shared + 1] for other in rest)
            and shared < len(name)
        ):
            shared += 1
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
    if "开始日期" in concept.words:
        found.onsets = _field_of_rows(concept, design)
    if "结束日期" in concept.words:
        found.ends = _field_of_rows(concept, design)
    if "报告日期" in concept.words:
        found.reports = _field_of_rows(concept, design)
    if "用药原因" in concept.words:
        found.reasons = _field_of_rows(concept, design)
    if "分级" in concept.words:
        found.grades = _field_of_rows(concept, design)
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
    if not concept.form:
        return []
    labels = {
        str(r["instrument_name"]): fold(str(r["instrument_label"]))
        for r in design.metadata.instruments
    }
    for term in concept.labels:
        forms = [form for form, label in labels.items() if term in label]
        if forms:
            return sorted(
                forms, key=lambda form: (form not in design.repeating_forms, len(labels[form]))
            )
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
        if term in whole_names(label):
            shares[name] = 1.0
        elif term.isascii():
            if term in fold(label).replace("(", " ").replace(")", " ").split() or dict(
                parts_of(label)
            ).get(term):
                shares[name] = len(term) / len(fold(label))
        elif term in fold(label):
            shares[name] = len(term) / len(whole_names(label)[0]) if whole_names(label) else 0.5
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
        if code and name in shown:
            found.add(word, Meaning(Kind.CHOICE, "", (Reading(name, code),), Rank.OWN))
        elif name in shown:
            found.add(word, Meaning(Kind.FIELD, "", (Reading(name),), Rank.OWN))
        elif name in forms:
            found.add(word, Meaning(Kind.FORM, "", (Reading(name),), Rank.OWN))
        elif name in design.metadata.identifier_fields:
            found.add(word, Meaning(Kind.IDENTIFIER, rank=Rank.OWN))
