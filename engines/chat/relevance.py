"""Whether an answer answers: the data that were asked for must stand in it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from engines.grounding.values import Token, bigrams, plain, tokens, values
from engines.tools import Fact
from memory.agent.grounding import plain as letters

_NOTHING = re.compile(
    r"没有找到|未找到|找不到|没有相关|无相关|未提供|没有提供|没有提到|无法回答|不清楚|没有记录|not find|nothing"
)
_SENTENCE = re.compile("[。!?;\uff01\uff1f\uff1b\n]")
_CLAUSE = re.compile("[,。!?;\uff0c\uff01\uff1f\uff1b\n]")
_FILLER = re.compile("是|为|的|患者|受试者")
_TOLD = 0.3
_DECISION = re.compile(r"讨论|决定|为什么|为啥|为何|原因|怎么(?!样)|解决|措施|办法|当初|定的")


def says_nothing(text: str) -> bool:
    """Whether an answer only says that there is no answer."""
    return bool(_NOTHING.search(text))


def answers(text: str, needed: Sequence[Fact]) -> bool:
    """Whether at least one of the values that were asked for stands in the text."""
    telling = [fact for fact in needed if len(fact.value) > 1 or fact.value.isdigit()]
    if not telling:
        return not says_nothing(text)
    folded = plain(text).casefold()
    said = tokens(folded)
    return any(_stands(fact, folded, said) for fact in telling)


def leads(text: str, needed: Sequence[Fact]) -> bool:
    """Whether an answer begins with what was asked for: its first sentence tells one of the values."""
    return answers(_SENTENCE.split(text.strip(), maxsplit=1)[0], needed)


def tells_rule(text: str, then: Sequence[str]) -> bool:
    """Whether an answer tells what a row of a table says of its case: the case alone is no answer."""
    said = bigrams(plain(text))
    own = [bigrams(plain(cell)) for cell in then]
    return not any(own) or any(cell and len(cell & said) >= _TOLD * len(cell) for cell in own)


def recalls(text: str, question: str, memory: str) -> bool:
    """Whether every clause of an answer stands in a line of hot memory that speaks of what is asked."""
    asked = _spoken_of(question)
    lines = [_bare(line) for line in memory.splitlines() if asked & _spoken_of(line)]
    clauses = [clause for clause in map(_bare, _CLAUSE.split(text)) if clause]
    return bool(clauses) and all(any(clause in line for line in lines) for clause in clauses)


def _bare(text: str) -> str:
    return letters(_FILLER.sub("", text))


def _spoken_of(text: str) -> set[str]:
    """Words of letters and digits, and pairs of Chinese characters."""
    words = re.findall(r"[0-9A-Za-z]+|[\u4e00-\u9fff]+", _FILLER.sub("", text).casefold())
    chinese = [word for word in words if not word.isascii()]
    pairs = {word[at : at + 2] for word in chinese for at in range(len(word) - 1)}
    return pairs | {word for word in words if word.isascii()}


def of_subjects(text: str, subjects: Sequence[str]) -> bool:
    """Whether an answer speaks of no other subject than those that were asked about."""
    said = {str(token.value) for token in tokens(plain(text), subjects) if token.kind == "id"}
    return said <= {subject.upper() for subject in subjects}


def _stands(fact: Fact, folded: str, said: Iterable[Token]) -> bool:
    held = values(fact.value)
    # The parts of a date are numbers too, but a 6 somewhere is not 2026-06.
    telling = [token for token in said if not held.dates or token.kind == "date"]
    if any(held.holds(token) for token in telling):
        return True
    return plain(fact.value).casefold() in folded


@cache
def _topics() -> Mapping[re.Pattern[str], tuple[str, ...]]:
    path = Path(__file__).with_name("topics.v1.json")
    table = json.loads(path.read_text(encoding="utf-8"))
    return {re.compile(regex): tuple(words) for regex, words in table.items()}


def related(question: str) -> list[str]:
    """Words of measures that belong to what the question complains of."""
    return [word for regex, words in _topics().items() if regex.search(question) for word in words]


def asks_decision(question: str) -> bool:
    """Whether a question is about what was decided, and why."""
    return bool(_DECISION.search(question))
