"""The facts of an answer as rows: what a message has no room for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext as _

from engines.assistant.answer import words
from engines.assistant.answer.reader import Reader
from study.facts import Answer, Fact


@dataclass(frozen=True)
class Sheet:
    """A table of texts; every row is as long as the header."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def sheet_of(answers: Sequence[Answer], reader: Reader) -> Sheet:
    """Every fact about a subject: whose, what, where and when, its value and unit."""
    header = (_("Subject"), _("What"), _("Visit"), _("Row"), _("Date"), _("Value"), _("Unit"))
    facts = [fact for answer in answers for fact in answer.facts if fact.subject]
    return Sheet(header, tuple(_row(fact, reader) for fact in facts))


def _row(fact: Fact, reader: Reader) -> tuple[str, ...]:
    visit = reader.design.metadata.event_label(fact.event) if fact.event else ""
    number = "" if fact.instance is None else str(fact.instance)
    told = words.value(replace(fact, unit=""), reader)
    return (
        fact.subject,
        words.label(fact, reader),
        visit,
        number,
        fact.date or "",
        told,
        fact.unit,
    )
