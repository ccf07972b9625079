"""Claims without a number: states, verdicts, choices, "not", units (issue 3, must-show 5).

A claim word needs a source like a number does. The list of words is a versioned file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from pathlib import Path

from engines.grounding.places import Place, at_places
from engines.grounding.sources import Sources, bare
from engines.grounding.values import Token, plain
from engines.tools.results import Fact

_NOT = (
    r"(?:尚未|还没有?|并没有|没有|未曾|从未|并未|未能|未|没|不是|并非|不属于|不存在|并不|不|非|无|否认)"
    r"(?:被|有|能|进行|完成|发生|存在|出现)?\s*"
)
_SURE = r"(?:已经?|确已|存在|患有|的确有|确实有)\s*(?:被|有|正式|成功|完成)?\s*"
_NEGATIVE = frozenset({"否", "无", "阴性", "0", "no", "none", "未检测"})
_NO = frozenset({"否", "无", "no", "none"})
_NONE_OF = re.compile(r"(?:否认|没有|未见|未发现|均无|无)(?:[^\s,:]{1,20}、)+$")
_ASKED = re.compile(r"是否(?:存在|有)?$")
_IS_NO = re.compile(r"\s*(?:结果|情况)?\s*[::=]?\s*(?:为|是)?\s*(?:否|无|没有|未|阴性|no)")
_IS_YES = re.compile(r"\s*(?:结果|情况)?\s*[::=]?\s*(?:为|是)?\s*(?:是|有|阳性|yes)")
_IS_BLANK = re.compile(r"[\s:]*(?:尚|还|均|仍)?(?:(?:未|没有?|无)(?:填|录|记录)|为空|缺失)")
_DAY = re.compile(r"(?<![a-z])day\s*$", re.IGNORECASE)
_NTH = re.compile(r"第\s*$")
_COUNTED = re.compile(r"((?<![a-z])day\s*|第\s*)?(?<![\d.])(\d+(?:\.\d+)?)", re.IGNORECASE)
ORDINAL, STRETCH = "#", "±"
_ASKS = re.compile(r"^是否(?:存在|有)?")
_SEX = {"女": r"女(?![士儿])(?<![子儿妇]女)", "男": "男"}
_ROMAN = re.compile(r"(?<![A-Za-z])(?:I{1,3}|IV|VI{0,3}|IX|X)[ABab]?(?=\s*(?:期|级|度|分))")


@cache
def _table() -> Mapping[str, Mapping[str, Sequence[str]]]:
    path = Path(__file__).with_name("claims.v1.json")
    table = json.loads(path.read_text(encoding="utf-8"))
    units = {unit: kind for kind, words in table["units"].items() for unit in words}
    return {"words": {w: group for group in table["words"] for w in group}, "units": units}


@cache
def _claims() -> re.Pattern[str]:
    words = sorted(_table()["words"], key=len, reverse=True)
    return re.compile("|".join(map(re.escape, words)))


@cache
def _unit() -> re.Pattern[str]:
    units = sorted(_table()["units"], key=len, reverse=True)
    return re.compile(rf"\s*({'|'.join(map(re.escape, units))})(?![a-z])", re.IGNORECASE)


def false_claims(
    clause: str,
    subject: str,
    alone: bool,
    sources: Sources,
    places: Collection[Place] = (),
) -> list[str]:
    """Words of a clause that no source tells of this subject; `alone`: it is named in the clause."""
    folded = clause.casefold()
    told = sources.words(subject, alone=alone)
    facts = [f for f in sources.of(subject) if f.record_id or not (alone and subject)]
    facts = _from_here(facts, places)
    called = [name for fact in facts for name in fact.names]
    names = {plain(name).casefold() for name in called} | {bare(name) for name in called}
    no = [n for f in facts if f.value.casefold() in _NO for n in f.names]
    found = [
        *_unsaid(folded, told, [*sources.blank(subject), *no], names),
        *_sex(folded, told, facts),
    ]
    found += [hit[0] for hit in _ROMAN.finditer(clause) if not _mentions(told, [hit[0].casefold()])]
    found += [*_denied(folded, told, facts), *_affirmed(folded, told, facts, sources, subject)]
    return list(dict.fromkeys(found))


def _unsaid(clause: str, told: str, blank: Iterable[str], names: Collection[str]) -> Iterator[str]:
    """Claim words without a source. The name of a field that was read claims nothing by itself.

    That of an empty field only where it is said to be empty.
    """
    empty = " ".join(blank)
    named = [m.span() for name in names for m in _spots(name, clause)]
    said_blank = (m for name in blank for m in _spots(bare(name), clause))
    named += [m.span() for m in said_blank if _IS_BLANK.match(clause, m.end())]
    for hit in _claims().finditer(clause):
        same = _table()["words"][hit[0]]
        if any(word in told for word in same):
            continue
        if any(start <= hit.start() and hit.end() <= end for start, end in named):
            continue
        negated = re.search(f"{_NOT}$", clause[: hit.start()]) is not None
        if not (negated and any(word in empty for word in same)):
            yield hit[0]


def _spots(name: str, clause: str) -> Iterator[re.Match[str]]:
    return re.finditer(re.escape(name), clause) if len(name) > 1 else iter(())


def _from_here(facts: Sequence[Fact], places: Collection[Place]) -> list[Fact]:
    """Of each field the values from the places that are named, if it has any there."""
    fields: dict[str, list[Fact]] = {}
    for fact in facts:
        fields.setdefault(fact.field, []).append(fact)
    return [fact for own in fields.values() for fact in at_places(own, places)]


def _sex(clause: str, told: str, facts: Iterable[Fact]) -> Iterator[str]:
    """The other sex; other choices are traced by place (choices.py)."""
    for label in {label.casefold() for fact in facts for label in fact.others} & set(_SEX):
        hit = re.search(_SEX[label], clause) if label not in told else None
        if hit and not re.search(f"{_NOT}$", clause[: hit.start()]):
            yield label


def _denied(clause: str, told: str, facts: Iterable[Fact]) -> Iterator[str]:
    """ "Not" before what the data affirm: a field with a value, or the value itself."""
    if not re.search(_NOT, clause):
        return
    for fact in facts:
        if plain(fact.value).casefold() in _NEGATIVE:
            continue
        for word in {plain(w).casefold() for w in _sayable(fact)}:
            hit = re.search(_NOT + re.escape(word), clause) if word in clause else None
            if hit and hit[0] not in told:
                yield hit[0]


def _sayable(fact: Fact) -> Iterator[str]:
    yield from (name for name in fact.names if len(name) > 1)
    if re.fullmatch(r"[\u4e00-\u9fff]{2,12}", fact.value):
        yield fact.value


def _affirmed(
    clause: str, told: str, facts: Iterable[Fact], sources: Sources, subject: str
) -> Iterator[str]:
    """ "Already" before what the data deny, or before a field that is empty."""
    names = [n for f in facts if f.value in _NEGATIVE for n in f.names if f.record_id]
    for name in {n.casefold() for n in (*names, *sources.blank(subject)) if len(n) > 1}:
        hit = (
            re.search(f"(?<!不)(?<!未)(?<!没有){_SURE}{re.escape(name)}", clause)
            if name in clause
            else None
        )
        if hit and hit[0] not in told and not _asked_and_denied(clause, hit):
            yield hit[0]
    for name in sources.unread(subject):
        yield from _bare_claim(clause, name, ())
    for fact in facts:
        if fact.record_id and fact.value.casefold() in _NO:
            for name in _own_names(fact, facts):
                yield from _bare_claim(clause, name, sources.blank(subject))


def _own_names(fact: Fact, facts: Iterable[Fact]) -> set[str]:
    """What only this field is called: its label without its question, and names no other field has."""
    others = {n.casefold() for f in facts if f.field != fact.field for n in f.names}
    names = {n.casefold() for n in fact.names[1:] if len(n) > 2 and n.casefold() not in others}
    return {_ASKS.sub("", bare(name)) for name in {*names, fact.names[0]}} - {""}


def _bare_claim(clause: str, core: str, blank: Collection[str]) -> Iterator[str]:
    """A field that says no, named without its no: `活动性感染` alone reads like a finding."""
    longer = [n.casefold() for n in blank if core in n.casefold() and n.casefold() != core]
    spans = [hit.span() for name in longer for hit in _spots(name, clause)]
    for hit in _spots(core, clause):
        before, after = clause[: hit.start()], clause[hit.end() :]
        if any(start <= hit.start() and hit.end() <= end for start, end in spans):
            continue
        denied = re.search(f"{_NOT}$", before) or _NONE_OF.search(before) or _IS_NO.match(after)
        if not denied and not (_ASKED.search(before) and not _IS_YES.match(after)):
            yield hit[0]


def _asked_and_denied(clause: str, hit: re.Match[str]) -> bool:
    """`是否存在活动性感染:否`"""
    asked = _ASKED.search(clause[: hit.start()]) is not None
    return asked and _IS_NO.match(clause, hit.end()) is not None


def unit_of(clause: str, token: Token) -> str:
    """The unit that stands behind a number, folded; "" without one.

    `Day 28` and 第28天 count days (ORDINAL), ±7 is a stretch of whatever unit (STRETCH).
    """
    hit = _unit().match(clause, token.start + len(token.text))
    unit = hit[1].casefold() if hit else ""
    before = clause[: token.start]
    if _DAY.search(before) or (_NTH.search(before) and _table()["units"].get(unit) == "day"):
        return ORDINAL
    return unit or (STRETCH if before.rstrip().endswith("±") else "")


def unit_fits(unit: str, token: Token, told: Iterable[str]) -> bool:
    """Whether a source gives this number in this unit.

    A bare number fits a count or an age, never a measure or a stretch of time of its own.
    """
    told = [plain(text) for text in told]
    if unit == ORDINAL:
        return any(text.casefold() == "day" or True in _ordinals(token, text) for text in told)
    kind = _table()["units"].get(unit)
    if unit == STRETCH or kind == "day":
        counted = [ordinal for text in told for ordinal in _ordinals(token, text)]
        if counted and all(counted):
            return False
    if not kind or kind in ("person", "age"):
        return True
    same = [u for u, k in _table()["units"].items() if k == kind] if kind != "lab" else [unit]
    return any(_mentions(text.casefold(), same) for text in told)


def _ordinals(token: Token, text: str) -> list[bool]:
    """For each time the number stands in a text whether it counts days there: `Day 28`."""
    hits = (hit for hit in _COUNTED.finditer(text) if Decimal(hit[2]) == token.value)
    return [hit[1] is not None for hit in hits]


def _mentions(text: str, units: Sequence[str]) -> bool:
    return any(re.search(rf"(?<![a-z]){re.escape(u)}(?![a-z])", text) for u in units)
