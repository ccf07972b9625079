"""Tracing the values of an answer to their sources (decisions.md, "有据").

A data value is grounded only beside the field and subject it has in its source; the question is no
source, so that a false number in it is not confirmed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from engines.grounding.values import Token, Values, bigrams, plain, tokens, values
from engines.tools.results import Fact, ToolResult

_SENTENCE = re.compile(r"[^。!?;\n]+")
_CLAUSE = re.compile(r"[^,()\[\]【】]+")
_ANCHOR = re.compile(r"[Ww]\s?(\d{1,3})|第\s*(\d{1,3})\s*周|(本周|上周|本月|上月)|(\d{1,2})\s*月")
_EACH = re.compile(r"分别|依次")
_ALL = re.compile(r"均|都")
_NOT = r"(?:尚未|还没有?|没有|未|没)\s*"
_EMPTY = frozenset(
    {"受试者", "患者", "研究", "项目", "您好", "数据", "目前", "可以", "建议", "查看"}
)


@dataclass
class Sources:
    """What an answer may rest on.

    `blocks`: hot memory lines, reports, session messages, passages; `record_ids`: subjects that were
    read or asked about and may be named; `asked`: fields the question speaks of; `names`: visit names.
    """

    results: Sequence[ToolResult] = ()
    blocks: Sequence[str] = ()
    record_ids: Collection[str] = ()
    asked: Collection[str] = ()
    names: Collection[str] = ()

    @cached_property
    def facts(self) -> list[Fact]:
        """All facts of all results."""
        return [fact for result in self.results for fact in result.facts]

    @cached_property
    def texts(self) -> list[tuple[str, Values]]:
        """All text sources with their values."""
        blocks = [*self.blocks, *(b for result in self.results for b in result.blocks)]
        blocks += [text for result in self.results for text in _strings(result.data)]
        return [(plain(block), values(block, self.record_ids)) for block in blocks]

    @cached_property
    def subjects(self) -> frozenset[str]:
        """Ids that may be named."""
        ids = {fact.record_id for fact in self.facts if fact.record_id} | set(self.record_ids)
        ids |= {rid for result in self.results for rid in result.record_ids}
        return frozenset(ids | {rid for _text, held in self.texts for rid in held.ids})


def _strings(data: object) -> Iterator[str]:
    """Texts of a result that are about no single field: times of reading, conventions, lists."""
    if isinstance(data, dict):
        for key in ("读取时间", "锚点约定", "今天", "汇总", "全部名单", "入组名单"):
            if isinstance(data.get(key), str):
                yield f"{key}:{data[key]}"


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


def check(answer: str, sources: Sources) -> list[str]:
    """What in the answer has no source; [] when everything has."""
    known = sources.subjects
    state = _State()
    owners = {fact.record_id for fact in sources.facts if fact.record_id}
    if len(owners) == 1:
        state.subject = next(iter(owners))
    for sentence in _SENTENCE.findall(plain(answer)):
        state.mentions = []
        for clause in _CLAUSE.findall(sentence):
            _check_clause(clause, sentence, sources, state, known)
    return list(dict.fromkeys(state.problems))


def _check_clause(
    clause: str, sentence: str, sources: Sources, state: _State, known: frozenset[str]
) -> None:
    found = tokens(clause, known)
    ids = [token for token in found if token.kind == "id"]
    for token in ids:
        if str(token.value) not in known:
            state.problems.append(token.text)
    mentions = _mentions(clause, sources.facts)
    data = [token for token in found if token.kind in ("number", "date")]
    for token in found:
        if token.kind == "name" and not _is_name(token, sources):
            data.append(token)
    for number, token in enumerate(data):
        subject = _subject(ids, token, state, number, len(data), clause)
        near = _near(mentions, token, number, len(data), clause) or state.mentions
        if not _grounded(token, subject, near, clause, sentence, sources):
            state.problems.append(token.text)
    if ids:
        state.subject = str(ids[-1].value)
    state.problems += _false_words(clause, state.subject, mentions, sources.facts)
    state.mentions = mentions or state.mentions


def _is_name(token: Token, sources: Sources) -> bool:
    return token.value in {name.upper() for name in sources.names} or any(
        held.holds(token) for _text, held in sources.texts
    )


def _mentions(clause: str, facts: Iterable[Fact]) -> list[_Mention]:
    """Where fields are named, the longest name first; one place may mean several fields."""
    named: dict[str, set[str]] = {}
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
    if any(_holds(fact, token) for fact in beside):
        return True
    if not fields and _of_asked(token, own, sources.asked):
        return True
    strict = bool(beside)
    return any(_told(token, subject, text, held, sentence, strict) for text, held in sources.texts)


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


def _told(token: Token, subject: str, text: str, held: Values, sentence: str, strict: bool) -> bool:
    """Whether a text source says it, of the same subject or at least of the same matter.

    `strict`: the data say otherwise beside this field, so only the same week, month or subject counts.
    """
    if not held.holds(token):
        return False
    if subject and held.ids and subject not in held.ids:
        return False
    if strict:
        return bool(_anchors(sentence) & _anchors(text)) or (bool(subject) and subject in held.ids)
    return bool((bigrams(sentence) & bigrams(text)) - _EMPTY)


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
