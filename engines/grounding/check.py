"""Tracing the values of an answer to their sources (decisions.md, "有据").

A data value is grounded only beside the field and subject it has in its source; the question is no
source, so that a false number in it is not confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from engines.grounding.claims import false_claims, unit_fits, unit_of
from engines.grounding.sources import Sources
from engines.grounding.values import Token, Values, bigrams, plain, tokens, values
from engines.tools.results import Fact

_SENTENCE = re.compile(r"[^。!?;\n]+")
_CLAUSE = re.compile(r"[^,()\[\]【】]+")
_PIECE = re.compile(r"[。!?;\n]|,(?!\d{3})")
_ANCHOR = re.compile(r"[Ww]\s?(\d{1,3})|第\s*(\d{1,3})\s*周|(本周|上周|本月|上月)|(\d{1,2})\s*月")
_BEHIND = re.compile(r"(\d[\d.]*)\s*\(([^()\d]{1,20})\)")
_PRESSURE = re.compile(r"血压\D{0,8}?(\d{2,3})\s*/\s*(\d{2,3})")
_EACH = re.compile(r"分别|依次")
_ALL = re.compile(r"均|都")
_NOT = r"(?:尚未|还没有?|没有|未|没)\s*"
_EMPTY = frozenset(
    {"受试者", "患者", "研究", "项目", "您好", "数据", "目前", "可以", "建议", "查看"}
)


@dataclass
class _Mention:
    start: int
    end: int
    fields: frozenset[str]


@dataclass
class _State:
    subject: str = ""
    mentions: list[_Mention] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    places: dict[tuple[str, str], set[str]] = field(default_factory=dict)


def check(answer: str, sources: Sources) -> list[str]:
    """What in the answer has no source; [] when everything has."""
    known = sources.subjects
    state = _State()
    owners = {fact.record_id for fact in sources.facts if fact.record_id}
    if len(owners) == 1:
        state.subject = next(iter(owners))
    for sentence in _SENTENCE.findall(_BEHIND.sub(r"\2 \1", plain(answer))):
        state.mentions, state.places = [], {}
        for clause in _CLAUSE.findall(sentence):
            _check_clause(clause, sentence, sources, state, known)
        state.problems += _mixed(state.places)
    return list(dict.fromkeys(state.problems))


def _check_clause(
    clause: str, sentence: str, sources: Sources, state: _State, known: frozenset[str]
) -> None:
    found = tokens(clause, known)
    ids = [token for token in found if token.kind == "id"]
    for token in ids:
        if str(token.value) not in known:
            state.problems.append(token.text)
    mentions = _mentions(clause, sources.facts, sources.labels)
    data = [token for token in found if token.kind in ("number", "date")]
    for token in found:
        if token.kind == "name" and not _is_name(token, sources):
            data.append(token)
    for number, token in enumerate(data):
        subject = _subject(ids, token, state, number, len(data), clause)
        near = _near(mentions, token, number, len(data), clause) or state.mentions
        if not _grounded(token, subject, near, clause, sentence, sources):
            state.problems.append(token.text)
        _note_places(token, subject, near, clause, sources, state)
    if ids:
        state.subject = str(ids[-1].value)
    state.problems += _false_words(clause, state.subject, mentions, sources.facts)
    state.problems += _pressure(clause, sources.of(state.subject))
    state.problems += false_claims(clause, state.subject, bool(ids), sources)
    state.mentions = mentions or state.mentions


def _note_places(
    token: Token,
    subject: str,
    near: Sequence[_Mention],
    clause: str,
    sources: Sources,
    state: _State,
) -> None:
    """From which visits a value may be, where its field has several and the clause names none."""
    fields = {name for mention in near for name in mention.fields}
    own = [f for f in sources.facts if f.record_id == subject and f.field in fields]
    if len({f.where for f in own}) < 2 or _at_place(own, clause) != own:
        return
    found = {f.where for f in own if _holds(f, token)}
    if found:
        state.places.setdefault((subject, min(fields)), set()).update(found)


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
    places = {_place(fact.where) for fact in sources.facts if fact.where}
    return token.value in {*places, *(name.upper() for name in sources.names)} or any(
        held.holds(token) for _text, held in sources.texts
    )


def _mentions(clause: str, facts: Iterable[Fact], labels: Mapping[str, str]) -> list[_Mention]:
    """Where fields are named, the longest name first; one place may mean several fields."""
    named: dict[str, set[str]] = {}
    for name, label in labels.items():
        named.setdefault(_bare(label), set()).add(name)
    for fact in facts:
        for name in fact.names:
            named.setdefault(plain(name).strip().casefold(), set()).add(fact.field)
    folded, taken = clause.casefold(), [False] * len(clause)
    found: list[_Mention] = []
    for name in sorted(filter(None, named), key=len, reverse=True):
        edge = (r"(?<![a-z0-9])", r"(?![a-z])") if name[0].isascii() else ("", "")
        for hit in re.finditer(f"{edge[0]}{re.escape(name)}{edge[1]}", folded):
            if not any(taken[hit.start() : hit.end()]):
                taken[hit.start() : hit.end()] = [True] * (hit.end() - hit.start())
                found.append(_Mention(hit.start(), hit.end(), frozenset(named[name])))
    return sorted(found, key=lambda mention: mention.start)


def _bare(label: str) -> str:
    """A label without its unit: `谷丙转氨酶ALT（U/L）`."""
    return plain(label).partition("(")[0].strip().casefold()


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


def _grounded(
    token: Token,
    subject: str,
    near: Sequence[_Mention],
    clause: str,
    sentence: str,
    sources: Sources,
) -> bool:
    own = [fact for fact in sources.facts if fact.record_id in (subject, "")]
    fields = {name for mention in near for name in mention.fields}
    beside = _at_place([fact for fact in own if fact.field in fields], clause)
    unit = unit_of(clause, token) if token.kind == "number" else ""
    if any(_holds(fact, token) and _in_unit(fact, token, unit, own) for fact in beside):
        return True
    fitting = [fact for fact in own if _in_unit(fact, token, unit, own)]
    if not fields and _of_asked(token, fitting, sources.asked):
        return True
    said = [clause[mention.start : mention.end] for mention in near]
    names = {name for fact in own if fact.field in fields for name in fact.names} | set(said)
    return any(
        _told(token, subject, text, held, sentence, names if fields else (), bool(beside))
        and _unit_told(unit, token, text)
        for text, held in sources.texts
    )


def _unit_told(unit: str, token: Token, text: str) -> bool:
    pieces = [piece for piece in _PIECE.split(text) if values(piece).holds(token)]
    return not unit or unit_fits(unit, token, pieces)


def _in_unit(fact: Fact, token: Token, unit: str, own: Sequence[Fact]) -> bool:
    """Whether the fact is told in this unit; a unit that stands in a field of its own counts too."""
    if not unit:
        return True
    beside = [f.value for f in own if f.where == fact.where and f.field == f"{fact.field}_unit"]
    return unit_fits(unit, token, [fact.value, *fact.names, *beside])


def _at_place(facts: list[Fact], clause: str) -> list[Fact]:
    """Where a clause names a visit or event, only the values from there."""
    said = [fact for fact in facts if fact.where and _place(fact.where) in clause.upper()]
    return said or facts


def _place(where: str) -> str:
    return where.split(" ")[0].upper()


def _holds(fact: Fact, token: Token) -> bool:
    return values(fact.value).holds(token)


def _of_asked(token: Token, own: Sequence[Fact], asked: Collection[str]) -> bool:
    """A bare value answers the question when it is the value of what was asked, and of nothing else."""
    having = {fact.field for fact in own if _holds(fact, token)}
    return bool(having) and having <= set(asked)


def _told(
    token: Token,
    subject: str,
    text: str,
    held: Values,
    sentence: str,
    names: Collection[str],
    strict: bool,
) -> bool:
    """Whether a text source says it, of the same subject or at least of the same matter.

    `names`: what the value is said of; one of them must stand beside it. `strict`: the data say
    otherwise beside this field, so only the same week, month or subject counts.
    """
    if not held.holds(token):
        return False
    if subject and held.ids and subject not in held.ids:
        return False
    pieces = list(_pieces(token, text, subject, held.ids))
    same_time = bool(_anchors(sentence) & _anchors(text))
    if not pieces or (names and not same_time and not _beside(pieces, names)):
        return False
    if strict:
        return same_time or (bool(subject) and subject in held.ids)
    return bool((bigrams(sentence) & bigrams(text)) - _EMPTY)


def _pieces(token: Token, text: str, subject: str, known: Collection[str]) -> Iterator[str]:
    """The pieces of a text that hold the value and speak of this subject, or of nobody."""
    spoken: frozenset[str] = frozenset()
    for piece in _PIECE.split(text):
        held = values(piece, known)
        spoken = held.ids or spoken
        if held.holds(token) and (not subject or not spoken or subject in spoken):
            yield piece.casefold()


def _beside(pieces: Sequence[str], names: Collection[str]) -> bool:
    """Whether a piece names what the value is said of."""
    wanted = {bare for name in names if (bare := _bare(name))}
    return any(name in piece for piece in pieces for name in wanted)


def _anchors(text: str) -> set[str]:
    found: set[str] = set()
    for week, number, word, month in _ANCHOR.findall(text):
        found.add(f"w{int(week or number)}" if week or number else word or f"m{int(month)}")
    return found


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
