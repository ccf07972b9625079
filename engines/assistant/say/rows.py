"""Facts by the rows that they stand in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from study.facts import Fact, Kind

WORK = (Kind.FINDING, Kind.REVIEW, Kind.RUN, Kind.CHANGE)


@dataclass(frozen=True)
class Row:
    """The facts of one row of one form."""

    facts: tuple[Fact, ...]

    @property
    def first(self) -> Fact:
        """The fact that says where the row is."""
        return self.facts[0]

    @property
    def subject(self) -> str:
        """Whose row it is."""
        return self.facts[0].subject

    def of(self, field: str) -> Fact | None:
        """The fact of a field."""
        return next((fact for fact in self.facts if fact.field == field), None)

    def text(self, field: str) -> str:
        """What is told of a field, "" for nothing."""
        fact = self.of(field)
        return fact.text if fact else ""


def rows_of(facts: Sequence[Fact]) -> list[Row]:
    """The rows in the order of their first facts.

    A field that was selected twice stands once; findings, reviews, runs, and visits of a study without events
    have no place that tells them apart.
    """
    found: dict[tuple[object, ...], list[list[Fact]]] = {}
    for fact in facts:
        key = (fact.subject, fact.event, fact.instrument, fact.instance)
        rows = found.setdefault(key, [[]])
        if any((fact.field, fact.label) == (other.field, other.label) for other in rows[-1]):
            if fact.kind not in WORK and not (fact.kind is Kind.WINDOW and not fact.event):
                continue
            rows.append([])
        rows[-1].append(fact)
    return [Row(tuple(row)) for rows in found.values() for row in rows]


def unnumbered(fact: Fact) -> Fact:
    """A fact without its number: the same in every answer that holds it."""
    return replace(fact, id="")


def by_subject(rows: Sequence[Row]) -> dict[str, list[Row]]:
    """The rows of each subject, in order."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row.subject, []).append(row)
    return found
