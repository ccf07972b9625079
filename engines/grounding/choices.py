"""Choices that were taken elsewhere: in another entry, at another visit, or nowhere."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from engines.grounding.fields import EVERY
from engines.grounding.named import spans
from engines.grounding.places import Place, at_places
from engines.tools.results import Fact

_WEAK = frozenset({"其他", "未知", "不详", "完成", "是", "否", "有", "无"})
_NOT = re.compile(r"(?:不是|并非|非|未|不|没有|无)\s*$")
_WHILE = re.compile(r"\s*(?:到|至|了|~)")


@dataclass(frozen=True)
class Label:
    """A choice as it stands in a clause."""

    start: int
    end: int
    text: str


def said_labels(clause: str, facts: Sequence[Fact]) -> list[Label]:
    """The choices of the subject's fields that a clause names."""
    names = {
        label.casefold() for fact in facts if fact.others for label in (fact.value, *fact.others)
    }
    return [Label(*span) for span in spans(clause, {n for n in names - _WEAK if len(n) > 1})]


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
        every = all if EVERY.search(clause[: label.start]) else any
        if not any(every(label.text in _taken(f) for f in own) for own in told if own):
            yield label.text


def _taken(fact: Fact) -> set[str]:
    value = fact.value.casefold()
    return {value, *(part.strip() for part in re.split("[,，、;；]", value))}


def _choices(fact: Fact) -> list[str]:
    return [one.casefold() for one in (fact.value, *fact.others)] if fact.others else []
