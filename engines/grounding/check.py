"""Tracing the values of an answer to their sources (decisions.md, "有据").

A data value is grounded only beside the field and subject it has in its source; the question is no
source, so that a false number in it is not confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from engines.grounding.claims import false_claims, unit_fits, unit_of
from engines.grounding.quotes import SENTENCE, quoted
from engines.grounding.sources import Sources, bare, place_of
from engines.grounding.told import Wanted, is_told
from engines.grounding.values import Token, plain, tokens, values
from engines.tools.results import Fact

_CLAUSE = re.compile(r"[^,()\[\]【】]+")
_BEHIND = re.compile(r"(\d[\d.]*)\s*\(([^()\d]{1,20})\)")
_PRESSURE = re.compile(r"血压\D{0,8}?(\d{2,3})\s*/\s*(\d{2,3})")
_EACH = re.compile(r"分别|依次")
_ALL = re.compile(r"均|都")
_ELSEWHERE = re.compile(r"[之此以]前|[上前下首末]次|较|比|后来|其后|随后|最近|最新|目前")
_NOT = r"(?:尚未|还没有?|没有|未|没)\s*"


@dataclass
class _Mention:
    start: int
    end: int
    text: str
    fields: frozenset[str]


@dataclass(frozen=True)
class _Near:
    """What a value stands beside: fields (`own`: named in its clause), words and the visits named last."""

    mentions: Sequence[_Mention]
    own: bool
    clause: str
    sentence: str
    places: frozenset[str]

    @property
    def fields(self) -> set[str]:
        return {name for mention in self.mentions for name in mention.fields}


@dataclass
class _State:
    subject: str = ""
    places: frozenset[str] = frozenset()
    mentions: list[_Mention] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    found_at: dict[tuple[str, str], set[str]] = field(default_factory=dict)


def check(answer: str, sources: Sources) -> list[str]:
    """What in the answer has no source; [] when everything has."""
    state = _State()
    owners = {fact.record_id for fact in sources.facts if fact.record_id}
    if len(owners) == 1:
        state.subject = next(iter(owners))
    sentences = SENTENCE.findall(plain(answer))
    while sentences:
        number = quoted(sentences, state.subject, sources.quotable)
        if number:
            for sentence in sentences[:number]:
                named = [t for t in tokens(sentence, sources.subjects) if t.kind == "id"]
                state.subject = str(named[-1].value) if named else state.subject
        else:
            _check_sentence(sentences[0], sources, state)
        sentences = sentences[number or 1 :]
    return list(dict.fromkeys(state.problems))


def _check_sentence(sentence: str, sources: Sources, state: _State) -> None:
    sentence = _BEHIND.sub(r"\2 \1", sources.unbracketed(sentence))
    state.places, state.mentions, state.found_at = frozenset(), [], {}
    for clause in _CLAUSE.findall(sentence):
        _check_clause(clause, sentence, sources, state)
    state.problems += _mixed(state.found_at)


def _check_clause(clause: str, sentence: str, sources: Sources, state: _State) -> None:
    known = sources.subjects
    found = tokens(clause, known)
    ids = [token for token in found if token.kind == "id"]
    for token in ids:
        if str(token.value) not in known:
            state.problems.append(token.text)
    mentions = _mentions(clause, sources.facts, sources.labels)
    data = [token for token in found if token.kind in ("number", "date")]
    whole = not (ids or state.subject)
    data = [t for t in data if not any(_is_part(t, m, clause, whole) for m in mentions)]
    for token in found:
        if token.kind == "name" and not _is_name(token, sources):
            data.append(token)
    kept = frozenset[str]() if _ELSEWHERE.search(clause) else state.places
    state.places = _places_in(clause, sources) or kept
    for number, token in enumerate(data):
        subject = _subject(ids, token, state, number, len(data), clause)
        own = _near(mentions, token, number, len(data), clause)
        near = _Near(own or state.mentions, bool(own), clause, sentence, state.places)
        if not _grounded(token, subject, near, sources):
            state.problems.append(token.text)
        _note_places(token, subject, near, sources, state)
    if ids:
        state.subject = str(ids[-1].value)
    state.problems += _false_words(clause, state.subject, mentions, sources.facts)
    state.problems += _pressure(clause, sources.of(state.subject))
    state.problems += false_claims(clause, state.subject, bool(ids), sources)
    state.mentions = mentions or state.mentions


def _is_part(token: Token, mention: _Mention, clause: str, whole: bool) -> bool:
    """Whether a value is but part of a name: `RECIST 1.1`, or a month that something is counted by.

    A bare number is no name, and a month only where no subject is spoken of (`whole`).
    """
    if not (mention.start <= token.start and token.start + len(token.text) <= mention.end):
        return False
    name = clause[mention.start : mention.end]
    return whole if token.kind == "date" else any(char.isalpha() for char in name)


def _places_in(clause: str, sources: Sources) -> frozenset[str]:
    """The visits and events of the data that a clause names."""
    said = clause.upper()
    return frozenset(
        place
        for place in sources.places
        if place in said and re.search(rf"(?<![A-Z0-9]){re.escape(place)}(?!\d)", said)
    )


def _note_places(token: Token, subject: str, near: _Near, sources: Sources, state: _State) -> None:
    """From which visits a value may be, where its field has several and the clause names none."""
    own = [f for f in sources.facts if f.record_id == subject and f.field in near.fields]
    if len({f.where for f in own}) < 2 or _at_place(own, near.places) != own:
        return
    found = {f.where for f in own if _holds(f, token)}
    if found:
        state.found_at.setdefault((subject, min(near.fields)), set()).update(found)


def _mixed(places: Mapping[tuple[str, str], set[str]]) -> list[str]:
    """Values of several fields in one sentence are of one visit, unless it says of which."""
    problems = []
    for subject in {subject for subject, _field in places}:
        sets = [found for (owner, _field), found in places.items() if owner == subject]
        if len(sets) > 1 and not set.intersection(*sets):
            problems += [name for owner, name in places if owner == subject]
    return problems


def _pressure(clause: str, facts: Sequence[Fact]) -> list[str]:
    """108/89: the systolic value stands first."""
    high = {(f.where, f.value.split(" ")[0]) for f in facts if _named(f, "收缩压")}
    low = {(f.where, f.value.split(" ")[0]) for f in facts if _named(f, "舒张压")}
    if not high or not low:
        return []
    return [
        hit[0]
        for hit in _PRESSURE.finditer(clause)
        if not any((place, hit[2]) in low for place, value in high if value == hit[1])
    ]


def _named(fact: Fact, word: str) -> bool:
    return any(word in name for name in fact.names)


def _is_name(token: Token, sources: Sources) -> bool:
    return token.value in {*sources.places, *(name.upper() for name in sources.names)} or any(
        held.holds(token) for _text, held in sources.texts
    )


def _mentions(clause: str, facts: Iterable[Fact], labels: Mapping[str, str]) -> list[_Mention]:
    """Where fields are named, the longest name first; one place may mean several fields."""
    named: dict[str, set[str]] = {}
    for name, label in labels.items():
        named.setdefault(bare(label), set()).add(name)
    for fact in facts:
        for name in fact.names:
            named.setdefault(plain(name).strip().casefold(), set()).add(fact.field)
            named.setdefault(bare(name), set()).add(fact.field)
    folded, taken = clause.casefold(), [False] * len(clause)
    found: list[_Mention] = []
    for name in sorted(filter(None, named), key=len, reverse=True):
        edge = (r"(?<![a-z0-9])", r"(?![a-z])") if name[0].isascii() else ("", "")
        for hit in re.finditer(f"{edge[0]}{re.escape(name)}{edge[1]}", folded):
            if not any(taken[hit.start() : hit.end()]):
                taken[hit.start() : hit.end()] = [True] * (hit.end() - hit.start())
                found.append(
                    _Mention(*hit.span(), clause[slice(*hit.span())], frozenset(named[name]))
                )
    return sorted(found, key=lambda mention: mention.start)


def _subject(
    ids: Sequence[Token], token: Token, state: _State, number: int, total: int, clause: str
) -> str:
    """The subject a value is said of: in order after 分别, else the last one before it."""
    if len(ids) == total and len(ids) > 1 and (_EACH.search(clause) or ids[-1].start < token.start):
        first = min(t.start for t in ids)
        if all(t.start < token.start for t in ids) or first > token.start:
            return str(ids[number].value)
    before = [t for t in ids if t.start < token.start]
    if before:
        return str(before[-1].value)
    return state.subject or (str(ids[0].value) if ids else "")


def _near(
    mentions: Sequence[_Mention], token: Token, number: int, total: int, clause: str
) -> list[_Mention]:
    """The fields a value stands beside."""
    if not mentions or (total == 1 and not _ALL.search(clause)):
        return list(mentions)
    before = [mention for mention in mentions if mention.start < token.start]
    if len(before) == total == len(mentions) and total > 1:
        return [mentions[number]]
    return [before[-1]] if before else [mentions[0]]


def _grounded(token: Token, subject: str, near: _Near, sources: Sources) -> bool:
    own = [fact for fact in sources.facts if fact.record_id in (subject, "")]
    # The plan's numbers for a visit are one fact: which of them is meant only its text tells.
    plan = {f.field for f in own if not f.record_id and f.where and place_of(f) in near.places}
    fields = near.fields | plan
    beside = _at_place([fact for fact in own if fact.field in fields], near.places)
    having = [fact for fact in beside if _holds(fact, token)]
    unit = unit_of(near.clause, token) if token.kind == "number" else ""
    if any(_in_unit(fact, token, unit, own) for fact in having if fact.field not in plan):
        return True
    fitting = [fact for fact in own if _in_unit(fact, token, unit, own)]
    if not fields and _of_asked(token, fitting, sources.asked):
        return True
    names = {name for fact in own if fact.field in fields for name in fact.names}
    names |= {mention.text for mention in near.mentions}
    strict = bool(beside) and not having
    wanted = Wanted(token, unit, subject, names, not near.own, strict, near.clause, near.sentence)
    return is_told(wanted, sources)


def _in_unit(fact: Fact, token: Token, unit: str, own: Sequence[Fact]) -> bool:
    """Whether the fact is told in this unit; a unit that stands in a field of its own counts too."""
    if not unit:
        return True
    beside = [f.value for f in own if f.where == fact.where and f.field == f"{fact.field}_unit"]
    return unit_fits(unit, token, [fact.value, *fact.names, *beside])


def _at_place(facts: list[Fact], places: Collection[str]) -> list[Fact]:
    """Where visits or events were named, only the values from there."""
    return [fact for fact in facts if place_of(fact) in places] or facts


def _holds(fact: Fact, token: Token) -> bool:
    return values(fact.value).holds(token)


def _of_asked(token: Token, own: Sequence[Fact], asked: Collection[str]) -> bool:
    """A bare value answers the question when it is the value of what was asked, and of nothing else."""
    having = {fact.field for fact in own if _holds(fact, token)}
    return bool(having) and having <= set(asked)


def _false_words(
    clause: str, subject: str, mentions: Sequence[_Mention], facts: Sequence[Fact]
) -> list[str]:
    """A choice that was not taken, or "not" before a field that is filled in."""
    problems = []
    for mention in mentions:
        told = [f for f in facts if f.field in mention.fields and f.record_id in (subject, "")]
        wrong = {label for f in told for label in f.others if _is_word(label) and label in clause}
        right = {f.value for f in told}
        taken = {label for label in wrong if any(label in value for value in right)}
        if told and wrong - taken and not any(value in clause for value in right):
            problems += sorted(wrong - taken)
        name = clause[mention.start : mention.end]
        dated = any(values(f.value).dates for f in told if f.record_id)
        if dated and re.search(_NOT + re.escape(name), clause):
            problems.append(name)
    return problems


def _is_word(label: str) -> bool:
    return len(label) > 1 or label in "男女"
