"""Which rows of a form a query looks at: `place`, and `period` without a field."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from rules.values import Moment, Reason, Unknown
from study.query.cells import Line
from study.query.chosen import stands
from study.query.subject import Subject
from study.query.tree import SUBJECT, Places, Plan, Span
from study.query.truth import Truth

_PARTIAL = Unknown(Reason.PARTIAL_DATE)


@dataclass(frozen=True)
class Scope:
    """What restricts rows; all of it None lets every row pass."""

    place: Places | None = None
    period: Span | None = None

    @classmethod
    def of(cls, plan: Plan) -> Scope:
        """The restriction of a whole query."""
        return cls(plan.place, plan.period)

    def at(self, place: Places | None) -> Scope:
        """With an operand's own place instead of the query's."""
        return self if place is None else Scope(place, self.period)

    def rows(self, lines: Iterable[Line], *, own_place: bool = False) -> list[tuple[Line, Truth]]:
        """The rows in reach; open where a partial date leaves it open whether the row is in the period.

        `own_place`: the operand named it, so that a form which cannot stand there has no row.
        """
        found: list[tuple[Line, Truth]] = []
        for line in lines:
            if self.place is not None and not self._stands(line, own_place):
                continue
            inside = self._inside(line)
            if inside is not False:
                found.append((line, inside))
        return found

    def condition_rows(
        self, subject: Subject, form: str, extra: Sequence[Line] = (), *, own_place: bool = False
    ) -> list[tuple[Line, Truth]]:
        """The rows of a condition: only forms with several rows a subject are restricted."""
        lines = [*subject.lines(form), *extra]
        if own_place or subject.names.repeats(form):
            scope = self if subject.names.repeats(form) else Scope(self.place)
            return scope.rows(lines, own_place=own_place)
        return [(line, True) for line in lines]

    def _stands(self, line: Line, own_place: bool) -> bool:
        place = self.place
        if place is None or stands(line, place):
            return True
        return not own_place and not line.subject.names.can_stand(line.form, place)

    def _inside(self, line: Line) -> Truth:
        period = self.period
        if period is None or line.form == SUBJECT:
            return True
        day = None if line.is_absent else line.subject.date_of(line)
        return False if day is None else within(day, period)


def within(day: Moment, period: Span) -> Truth:
    """Whether all that a date can be lies in a period, none of it, or a part."""
    low, high = day.days
    first = period.first if period.first is not None else low
    last = period.last if period.last is not None else high
    if first <= low and high <= last:
        return True
    return False if high < first or low > last else _PARTIAL
