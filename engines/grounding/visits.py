"""Whose visit is due, overdue, done or still to come: only who was read as such may be called so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from engines.grounding.places import Said, at_places
from engines.tools.results import Fact

_STATES = {
    "overdue": re.compile(r"超窗|逾期|超期|overdue|\blate\b", re.IGNORECASE),
    "due": re.compile(r"待完成|\bdue now\b", re.IGNORECASE),
    "done": re.compile(r"(?<!待)(?<!未)完成|\bdone\b", re.IGNORECASE),
    "coming": re.compile(r"后进入|\bopens in\b", re.IGNORECASE),
}
_CLAIMS = (
    (re.compile(r"超窗|逾期|超期|过期"), {"overdue"}),
    (
        re.compile(r"待完成|待访视|[该应需]访视|需要?(?:本周|今天)?(?:做|来|完成)?访视|到期|待做"),
        {"due", "overdue"},
    ),
    (re.compile(r"(?:未|没有?)完成"), {"due", "overdue", "coming"}),
    (re.compile(r"(?<![待未没])(?<!没有)完成(?![率度])|已做"), {"done"}),
    (re.compile(r"即将|(?:天后|尚未|还未|未到|未)进?入?窗口"), {"coming"}),
)  # fmt: skip
_ONLY = re.compile(r"(?:仅有?|只有?|唯有|唯一)[^,]{0,6}$")
_TURNS = (
    (re.compile(r"今[天日][^,\d]{0,2}(?:进入|开始|开放)"), "open"),
    (re.compile(r"今[天日][^,\d]{0,2}(?:到期|截止|关闭|结束)"), "close"),
)
_NOT = re.compile(r"(?:不|未|没有?|无|非|不会)\s*$")


def state_facts(facts: Sequence[Fact]) -> list[Fact]:
    """How each visit stands."""
    return [fact for fact in facts if fact.field.endswith(":state")]


def wrong_states(
    clause: str, subjects: Sequence[str], said: Sequence[Said], facts: Sequence[Fact]
) -> Iterator[str]:
    """State words of a clause that hold for no visit, named here, of a subject named here."""
    told = state_facts(facts)
    for claim, allowed in _CLAIMS if told else ():
        hit = claim.search(clause)
        if not hit or _NOT.search(clause[: hit.start()]):
            continue
        for subject in subjects:
            places = {p for one in said for p in one.places if p[0] == subject}
            own = at_places([f for f in told if f.record_id == subject], places)
            if not any(allowed & _classes(f.value) for f in own):
                yield f"{subject} {hit[0]}"
        others = {f.record_id for f in told if allowed & _classes(f.value)} - set(subjects)
        if others and _says_only(clause, subjects):
            yield hit[0]


def _says_only(clause: str, subjects: Sequence[str]) -> bool:
    """Whether a clause says of the subjects it names that it is nobody else: `仅 P008`."""
    at = min((clause.upper().find(one) for one in subjects if one in clause.upper()), default=-1)
    return at > 0 and _ONLY.search(clause[:at]) is not None


def wrong_turns(
    clause: str, subjects: Sequence[str], said: Sequence[Said], facts: Sequence[Fact], today: str
) -> Iterator[str]:
    """Windows that are said to open or close today and do not."""
    places = {place for one in said for place in one.places if place[0] in subjects}
    for words, end in _TURNS if today else ():
        hit = words.search(clause)
        own = [f for f in facts if f.record_id in subjects and f.field.endswith(f":{end}")]
        if hit and not any(fact.value == today for fact in at_places(own, places)):
            yield hit[0]


def _classes(value: str) -> set[str]:
    return {name for name, words in _STATES.items() if words.search(value)}
