"""What the facts name that the documents have rules for: drugs, grades, values beyond a limit, late visits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from engines.assistant.answer import words
from engines.assistant.answer.reader import Reader
from engines.assistant.answer.rows import Row, rows_of
from study.facts import Fact, Flag, Kind

MOST = 5


def topics(facts: Sequence[Fact], reader: Reader) -> list[str]:
    """A question to the documents for each of them, the first few."""
    found = dict.fromkeys(text for row in rows_of(facts) for text in _of(row, reader))
    return list(found)[:MOST]


def _of(row: Row, reader: Reader) -> Iterator[str]:
    if row.first.kind is Kind.WINDOW:
        if any(fact.flags & {Flag.LATE, Flag.EARLY, Flag.OVERDUE} for fact in row.facts):
            yield "访视提前或晚于窗口 方案偏离"
        return
    naming = row.of(words.naming_field(row.first.instrument, reader))
    if row.first.instance is not None and naming and naming.text:
        yield naming.text
    for fact in row.facts:
        if _is_grade(fact, reader):
            yield f"{words.label(fact, reader)} {fact.text}"
        if fact.flags & {Flag.HIGH, Flag.LOW}:
            side = "超过正常值上限" if Flag.HIGH in fact.flags else "低于正常值下限"
            yield f"{words.label(fact, reader)} {side}"


def _is_grade(fact: Fact, reader: Reader) -> bool:
    """Whether a value is a step of a scale: 3级, 2分."""
    return bool(reader.design.metadata.choices(fact.field)) and fact.text[:1].isdigit()
