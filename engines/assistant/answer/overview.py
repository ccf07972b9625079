"""All that is known of a subject, a line a form."""

from __future__ import annotations

from engines.assistant.answer import words
from engines.assistant.answer.fitting import Told
from engines.assistant.answer.reader import Reader
from engines.assistant.answer.rows import rows_of
from engines.assistant.answer.values import nothing
from engines.assistant.understand.types import Asked
from study.facts import Answer, Fact


def told(asked: Asked, answer: Answer, reader: Reader) -> list[Told]:
    """The first value of each field, status and enrolment before the others."""
    rows = [row for row in rows_of(answer.facts) if any(not words.is_blank(f) for f in row.facts)]
    if not rows:
        return [nothing(asked, answer, reader)]
    first: dict[str, Fact] = {}
    for row in rows:
        for fact in row.facts:
            if not words.is_blank(fact):
                first.setdefault(fact.field, fact)
    chief = (reader.design.status_field, reader.design.enrolment_field)
    told = sorted(first.values(), key=lambda fact: fact.field not in chief)
    entries = tuple(f"{words.label(f, reader)} {words.value(f, reader)}" for f in told)
    return [Told(f"{rows[0].subject} ", entries)]
