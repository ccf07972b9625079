"""Tracing what an answer says to its sources (decisions.md, "有据").

A clause is grounded when one statement of a source says all of it; or when each of its values is that of
the field, subject and place it stands beside, and none of its words is news. The question is no source,
so that a false number in it is not confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from engines.grounding import listed
from engines.grounding.choices import said_labels, wrong_labels
from engines.grounding.claims import false_claims
from engines.grounding.coverage import says_something, unsaid
from engines.grounding.ends import mistaken
from engines.grounding.fields import Mention, beside, is_part, mentions_in
from engines.grounding.flipped import flipped
from engines.grounding.foreign import deeds, foreign
from engines.grounding.kept import keeping
from engines.grounding.modality import denies, modality
from engines.grounding.named import is_inside
from engines.grounding.places import Place, Said, at_places, places_at, said_places, torn
from engines.grounding.quotes import quoted
from engines.grounding.sources import Sources
from engines.grounding.statements import SENTENCE
from engines.grounding.talk import tells
from engines.grounding.traced import (
    Near,
    is_denied,
    mixed,
    note_places,
    pressures,
    reversed_spans,
    rightly_denied,
    traced,
    windows,
    wrong_pressures,
)
from engines.grounding.values import Token, ids_in, plain, tokens, values
from engines.grounding.visits import wrong_states, wrong_turns
from engines.tools.results import Fact

_CLAUSE = re.compile(r"[^,()\[\]【】]+")
_BEHIND = re.compile(r"(\d[\d.]*)\s*\(([^()\d]{1,20})\)")
_EACH = re.compile(r"分别|依次")
_ELSEWHERE = re.compile(r"[之此以]前|[上前下首末]次|较|比|后来|其后|随后|最近|最新|目前")
_NOT = r"(?:尚未|还没有?|没有|未|没)\s*"
_NOT_YET = re.compile(
    r"(?:尚未|还未|还没有?|未|没有)(?:完成|进行)?(判定|报告|结束|开始|入组|签署|用药|退出|采血|评估)"
)
_NOTHING = re.compile(
    r"(?:没有|未|无法|不)(?:能)?(?:找到|查到|提供|提及|提到|说明|包含|记载|显示|检索到|获取|确认|判断|回答)|找不到"
    r"|(?:没有|暂?无|未见)[^,。;]{0,14}(?:记录|数据|信息|资料|内容|说明)|(?:未|没有)(?:填写|记录|录入)"
)
_FRAME = re.compile(r"已完成|需要确认|引导操作|结果")
_TO_READER = re.compile(r"您|请")
_WINDOW = 3


@dataclass
class _Clause:
    """A piece of a sentence: its values, the fields and places it names, the visits it goes on about."""

    text: str
    about: str
    tokens: list[Token]
    ids: list[Token]
    mentions: list[Mention]
    said: list[Said]
    before: str = ""


@dataclass
class _State:
    subject: str = ""
    places: frozenset[Place] = frozenset()
    mentions: list[Mention] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    found_at: dict[tuple[str, str], set[str]] = field(default_factory=dict)
    bare: list[tuple[str, str]] = field(default_factory=list)
    allowed: set[str] = field(default_factory=set)


def check(answer: str, sources: Sources) -> list[str]:
    """What in the answer has no source; [] when everything has."""
    with keeping():
        return _check(answer, sources)


def _check(answer: str, sources: Sources) -> list[str]:
    state = _State(problems=list(foreign(answer, sources.trusted)))
    owners = {fact.record_id for fact in sources.facts if fact.record_id}
    if len(owners) == 1:
        state.subject = next(iter(owners))
    sentences = SENTENCE.findall(plain(answer))
    while sentences:
        number = quoted(sentences, state.subject, sources.quotable)
        if number:
            for sentence in sentences[:number]:
                state.subject = (ids_in(sentence, sources.subjects) or [state.subject])[-1]
                state.allowed.add(modality(sentence))
        else:
            _check_sentence(sentences[0], sources, state)
        sentences = sentences[number or 1 :]
    state.problems += [text for text, kind in state.bare if kind not in state.allowed]
    return list(dict.fromkeys(state.problems))


def _check_sentence(sentence: str, sources: Sources, state: _State) -> None:
    state.problems += deeds(sentence, sources.everything)
    sentence = _BEHIND.sub(r"\2 \1", sources.unbracketed(sources.undated(sentence)))
    clauses = _read(_CLAUSE.findall(sentence), sources)
    state.places, state.mentions, state.found_at = frozenset(), [], {}
    at = 0
    while at < len(clauses):
        number = _supported(clauses[at:], sources, state)
        for clause in clauses[at : at + number]:
            _go_past(clause, state)
        if not number:
            _check_clause(clauses[at], sources, state)
        at += number or 1
    state.problems += mixed(state.found_at)


def _go_past(clause: _Clause, state: _State) -> None:
    """What a clause that is grounded names, for those that go on about it."""
    if clause.said:
        state.places = _places(clause)
    state.mentions = clause.mentions or state.mentions


def _places(clause: _Clause) -> frozenset[Place]:
    return frozenset().union(*(one.places for one in clause.said))


def _read(clauses: Sequence[str], sources: Sources) -> list[_Clause]:
    """Each clause, with the visits (V2) that were named before it where it names none."""
    found: list[_Clause] = []
    names = ""
    for text in clauses:
        held = tokens(text, sources.subjects)
        own = " ".join(t.text for t in held if t.kind == "name")
        ids = [token for token in held if token.kind == "id"]
        mentions = mentions_in(text, sources.called, sources.places)
        said = said_places(text, sources.places)
        before = found[-1].text if found else ""
        found.append(_Clause(text, "" if own else names, held, ids, mentions, said, before))
        names = own or names
    return found


def _supported(clauses: Sequence[_Clause], sources: Sources, state: _State) -> int:
    """How many clauses from the first on one statement says together; values alone say nothing."""
    for number in range(min(_WINDOW, len(clauses)), 0, -1):
        text = ",".join(clause.text for clause in clauses[:number]).casefold()
        if any(t.kind == "number" for t in tokens(text)):
            text = f"{clauses[0].about} {text}"
        if not says_something(text):
            continue
        ids = ids_in(text.upper(), sources.subjects)
        if listed.supported(text, ids or [state.subject], bool(ids), sources):
            state.subject = (ids or [state.subject])[-1]
            state.allowed.add(modality(text))
            return number
    return 0


def _check_clause(clause: _Clause, sources: Sources, state: _State) -> None:
    state.problems += [t.text for t in clause.ids if str(t.value) not in sources.subjects]
    if not clause.said and not state.places:
        clause.said = said_places(clause.text, sources.entries_told_yes)
    if clause.said or _ELSEWHERE.search(clause.text):
        state.places = _places(clause)
    _trace(clause, sources, state)
    if clause.ids:
        state.subject = str(clause.ids[-1].value)
    state.problems += _words(clause, sources, state)
    state.mentions = clause.mentions or state.mentions


def _data(clause: _Clause, whole: bool, sources: Sources) -> list[Token]:
    """The values of a clause that need a source; those in the name of a place are none."""
    found = [t for t in clause.tokens if not any(is_inside(t, one) for one in clause.said)]
    data = [t for t in found if t.kind in ("number", "date")]
    data = [t for t in data if not any(is_part(t, m, whole) for m in clause.mentions)]
    return data + [t for t in found if t.kind == "name" and not sources.has_name(t)]


def _trace(clause: _Clause, sources: Sources, state: _State) -> None:
    text, facts = clause.text, sources.of(state.subject)
    data = _data(clause, not (clause.ids or state.subject), sources)
    right = pressures(text, facts, clause.said, state.places) | windows(text, facts, state.places)
    right |= {t.start for t in data if t.start < listed.counted_head(text, sources)}
    starts = [token.start for token in data]
    for number, token in enumerate(data):
        subject = _subject(clause.ids, token, state, number, len(data), text)
        own = beside(clause.mentions, token, number, len(data), text)
        end = token.start + len(token.text)
        places = places_at(token.start, end, text, clause.said, starts) or state.places
        near = Near(own or state.mentions, text, places, clause.said, subject, bool(own))
        known = rightly_denied if is_denied(token, text) else traced
        if token.start not in right and not known(token, near, sources):
            state.problems.append(token.text)
        note_places(token, near, sources, state.found_at)


def _words(clause: _Clause, sources: Sources, state: _State) -> Iterator[str]:
    """What the words of a clause claim wrongly, of each subject it names."""
    text, said = clause.text, clause.said
    subjects = list(dict.fromkeys(str(t.value) for t in clause.ids)) or [state.subject]
    yield from reversed_spans(text)
    own = sources.of(state.subject)
    yield from wrong_pressures(text, own, pressures(text, own, said, state.places))
    yield from wrong_states(text, subjects, said, sources.facts)
    yield from wrong_turns(text, subjects, said, sources.facts, sources.today)
    for subject in subjects:
        own = sources.of(subject)
        labels = said_labels(text, own)
        starts = [label.start for label in labels]
        at = {
            label.start: places_at(label.start, label.end, text, said, starts) or state.places
            for label in labels
        }
        yield from wrong_labels(text, labels, own, at)
        yield from torn(said, own, subject)
        yield from _denied_dates(clause, own)
        yield from false_claims(text, subject, bool(clause.ids), sources, state.places)
        yield from flipped(text, sources.notes(subject))
        yield from mistaken(clause.before, text, at_places(own, state.places))
        yield from _undone(text, at_places(own, state.places))
    if sources.is_read:
        yield from _news(text, subjects, sources, state)
    elif tells(text, named=bool(clause.ids)):
        told = " ".join(sources.vocabulary(one, denied=denies(text)) for one in subjects)
        yield from unsaid(text, told)


def _news(clause: str, subjects: Sequence[str], sources: Sources, state: _State) -> Iterator[str]:
    """Words that no source has; where only documents were read, also a bare "may" or "may not"."""
    if _NOTHING.search(clause) or _FRAME.fullmatch(clause.strip(" :/")):
        return
    telling = says_something(clause)
    reader = _TO_READER.search(clause) is not None
    if telling and not reader and not any(sources.of(subject) for subject in subjects):
        yield clause.strip()
    told = " ".join(
        sources.vocabulary(subject, denied=denies(clause), places=state.places)
        for subject in subjects
    )
    yield from unsaid(clause, told)
    if sources.has_documents and modality(clause) and not reader:
        if telling:
            yield clause.strip()
        else:
            state.bare.append((clause.strip(), modality(clause)))


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


def _undone(clause: str, facts: Sequence[Fact]) -> Iterator[str]:
    """ "Not yet" of what has a date: `未判定` beside `PI判定相关性日期`."""
    for hit in _NOT_YET.finditer(clause):
        for fact in facts:
            if fact.record_id and hit[1] in fact.names[0] and values(fact.value).dates:
                yield hit[0]


def _denied_dates(clause: _Clause, facts: Sequence[Fact]) -> Iterator[str]:
    """ "Not" before a field that has a date."""
    for mention in clause.mentions:
        told = [f for f in facts if f.field in mention.fields and f.record_id]
        name = clause.text[mention.start : mention.end]
        denied = re.search(_NOT + re.escape(name), clause.text)
        if denied and any(values(f.value).dates for f in told):
            yield name
