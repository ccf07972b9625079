"""Choices that were taken elsewhere: in another entry, at another visit, or nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engines.grounding.places import Place, at_places
from engines.tools.results import Fact

_WEAK = frozenset({"其他", "未知", "不详", "完成", "是", "否", "有", "无"})
_EVERY = re.compile(r"均|都|全部")
_NOT = re.compile(r"(?:不是|并非|非|未|不|没有|无)\s*$")
_WHILE = re.compile(r"\s*(?:到|至|了|~)")


@dataclass(frozen=True)
class Label:
    """A choice as it stands in a clause."""

    start: int
    end: int
    text: str


def said_labels(clause: str, facts: Sequence[Fact]) -> list[Label]:
    """The choices of the subject's fields that a clause names, longer ones first."""
    names = {
        label.casefold() for fact in facts if fact.others for label in (fact.value, *fact.others)
    }
    folded, taken = clause.casefold(), [False] * len(clause)
    found = []
    for name in sorted(names - _WEAK, key=len, reverse=True):
        if len(name) < 2:
            continue
        for hit in re.finditer(re.escape(name), folded):
            if not any(taken[hit.start() : hit.end()]):
                taken[hit.start() : hit.end()] = [True] * len(name)
                found.append(Label(*hit.span(), name))
    return sorted(found, key=lambda label: label.start)


def wrong_labels(
    clause: str,
    labels: Sequence[Label],
    facts: Sequence[Fact],
    places: Mapping[int, frozenset[Place]],
) -> Iterator[str]:
    """Choices that the fields they belong to do not have where they are said to."""
    for label in labels:
        if _NOT.search(clause[: label.start]) or _WHILE.match(clause, label.end):
            continue
        fields = {f.field for f in facts if label.text in _choices(f)}
        told = [
            at_places([f for f in facts if f.field == name], places.get(label.start, ()))
            for name in sorted(fields)
        ]
        every = all if _EVERY.search(clause[: label.start]) else any
        if not any(every(label.text in _taken(f) for f in own) for own in told if own):
            yield label.text


def _taken(fact: Fact) -> set[str]:
    value = fact.value.casefold()
    return {value, *(part.strip() for part in re.split("[,，、;；]", value))}


def _choices(fact: Fact) -> list[str]:
    return [one.casefold() for one in (fact.value, *fact.others)] if fact.others else []
