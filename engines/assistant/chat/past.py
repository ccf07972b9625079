"""The lines of the weekly reports that answer a question about the past (design.md 5a.4)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

from memory.reports.history import Page
from study.protocol.bm25 import without_asking
from study.protocol.excerpts import Shelf, Unit

MOST = 4

DECIDED = 1.3
"""What a decision counts more for a question about what was decided, when, and why."""

MEASURE = 0.5
"""What a line scores for naming a measure against what the question complains of."""

SAME, NEAR = 0.92, 0.65
"""Shares of the best score: from which on a newer line goes first, and from which on a line answers."""

# The parts of a report as people call them.
SECTIONS: Mapping[str, Sequence[str]] = {
    "关键决策": ("决定", "决策", "定了", "定下", "decided", "decision"),
    "进度": ("进度", "进展", "progress"),
    "踩坑记录": ("坑", "问题", "困难", "教训", "出错", "problem"),
    "待办": ("待办", "要做", "计划", "todo"),
}
_DECISION = re.compile(r"讨论|决定|为什么|为啥|为何|原因|怎么(?!样)|解决|措施|办法|当初|定的")
_WHEN = re.compile(r"什么时候|何时|哪[天日]|when", re.IGNORECASE)
_REASON = re.compile(r"当时|当初|后来|的?原因")
_FILLER = re.compile(
    r"周报|报告|小结|会上|项目组?|我们|遇到|发生|出现|做|当时|当初|后来|那时|的时候|定|[写说讲记]|事情?|[了过些之里上中都这那,，。?？]"
)
_NOW = ("现在", "目前", "如今", "眼下", "最新")
_DATED = re.compile(r"\d{4}-\d\d-\d\d: ")


def asks_decision(question: str) -> bool:
    """Whether a question is about what was decided, and why."""
    return bool(_DECISION.search(question))


def related(question: str) -> list[str]:
    """Words of measures that belong to what the question complains of."""
    return [word for regex, words in _topics().items() if regex.search(question) for word in words]


@cache
def _topics() -> Mapping[re.Pattern[str], tuple[str, ...]]:
    path = Path(__file__).with_name("topics.v1.json")
    table = json.loads(path.read_text(encoding="utf-8"))
    return {re.compile(regex): tuple(words) for regex, words in table.items()}


def names_nothing(question: str) -> bool:
    """Whether a question has no matter of its own: 当初怎么定的."""
    return not re.sub(r"\W", "", without_asking(_FILLER.sub(" ", _unsectioned(question))))


def told(pages: Sequence[Page], question: str) -> list[str]:
    """The lines that speak of what is asked, each with its week; among equals the newest first."""
    shelf = _shelf(tuple(pages))
    found = {unit: score for score, unit in shelf.ranked(_topic(question), {})}
    # Who names a measure asks about it, not for what was done against something.
    words = [] if any(word in question for word in related(question)) else related(question)
    measures = [unit for unit in shelf.units if any(word in unit.text for word in words)]
    if measures:
        found = {unit: found.get(unit, 0.0) / 2 + MEASURE for unit in measures}
    if asks_decision(question):
        found = {u: s * (DECIDED if _DATED.match(u.text) else 1.0) for u, s in found.items()}
    best = max(found.values(), default=0.0)
    chosen = [unit for unit, score in found.items() if score >= NEAR * best]
    if measures:  # One measure after the other tells what was done.
        return [
            _line(u) for u in sorted(sorted(chosen, key=lambda u: -found[u])[:MOST], key=_place)
        ]
    if any(word in question for word in _NOW):
        # What holds now is what was decided last.
        return [_line(unit) for unit in sorted(chosen, key=lambda u: -u.section)[:MOST]]
    # What began on a day was not spoken of before.
    order = 1 if _WHEN.search(question) else -1
    chosen.sort(key=lambda unit: (found[unit] < SAME * best, order * unit.section))
    return [_line(unit) for unit in chosen[:MOST]]


def section(pages: Sequence[Page], question: str) -> list[str]:
    """What stands under the part of the reports that a question names, or in all; [] for a topic."""
    named = [title for title, words in SECTIONS.items() if any(word in question for word in words)]
    if not names_nothing(question):
        return []
    return whole(pages, named)


def whole(pages: Sequence[Page], titles: Sequence[str] = ()) -> list[str]:
    """What stands under these parts of the reports; by default the decisions, then the progress."""
    found = [unit for unit in _shelf(tuple(pages)).units if unit.title in (titles or SECTIONS)]
    order = list(titles or SECTIONS)
    return [_line(unit) for unit in sorted(found, key=lambda unit: order.index(unit.title))]


@lru_cache(maxsize=16)
def _shelf(pages: tuple[Page, ...]) -> Shelf:
    return Shelf([(page.name, page.text) for page in pages])


def _unsectioned(question: str) -> str:
    for word in (word for words in SECTIONS.values() for word in words):
        question = question.replace(word, " ")
    return question


def _topic(question: str) -> str:
    """A question whose words for a reason name nothing: 原因 stays in the end, for it asks."""
    asks = "为什么" if _REASON.search(question) and "原因" in question else ""
    return _REASON.sub(" ", question) + asks


def _place(unit: Unit) -> int:
    return unit.section


def _line(unit: Unit) -> str:
    return f"{unit.document} {unit.text}"
