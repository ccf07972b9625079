"""Adverse events that a report cannot place: whether they began in its days, or are serious, is open."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date
from typing import Any
from zoneinfo import ZoneInfo

from study import proposals
from study.dates import read_date
from study.design import StudyDesign
from study.facts import Fact, Kind

Row = Mapping[str, Fact]
"""A row of an answer by field; what is hidden in it is not there."""
Pick = Callable[[Row], bool]


class Events:
    """The adverse events as their reader may know them: a subject's other events hide none that is open."""

    def __init__(
        self, design: StudyDesign, days: tuple[date, date], shows: Callable[[str], bool]
    ) -> None:
        """`days`: the first and last of a report; `shows`: whether the reader may learn of a field."""
        self.start, end, term = proposals.event_fields(design.metadata)
        self.serious, self._yes = design.serious
        fields = (term, self.start, end, self.serious, proposals.grade_field(design.metadata))
        self.columns = [name for name in fields if shows(name)]
        self.tells_start, self.tells_serious = shows(self.start), shows(self.serious)
        self._days, self._zone = days, ZoneInfo(design.plan.timezone)

    @property
    def query(self) -> dict[str, Any]:
        """All events, of which these pick."""
        return {"select": self.columns}

    def is_undated(self, row: Row) -> bool:
        """Whether its onset, blank or no whole day, leaves open if it began in the days of the report."""
        if not (self.tells_start and _is_there(row)):
            return False
        began = row.get(self.start)
        read = read_date(self.start, began.text if began else "", self._zone)
        if read.day is not None or read.span is None:
            return read.day is None
        (low, high), (first, last) = read.span, self._days
        return not (first <= low and high <= last) and low <= last and first <= high

    def is_undated_serious(self, row: Row) -> bool:
        """The same of a serious one."""
        told = row.get(self.serious)
        return told is not None and str(told.value) == self._yes and self.is_undated(row)

    def is_unjudged(self, row: Row) -> bool:
        """Whether nobody filled in if it is serious."""
        told = row.get(self.serious)
        return self.tells_serious and _is_there(row) and told is not None and told.value is None

    def is_open(self, row: Row) -> bool:
        """Whether either is open."""
        return self.is_undated(row) or self.is_unjudged(row)


def _is_there(row: Row) -> bool:
    """Whether anything of it is filled in: a form that does not repeat has a row of blanks without an event."""
    return any(one.kind is not Kind.BLANK for one in row.values())
