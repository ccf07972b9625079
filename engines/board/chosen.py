"""What a reader of the board has chosen, from its address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

from study.visits.calendar import State
from study.visits.due import SubjectVisit

VIEWS = ("board", "week", "month")


@dataclass(frozen=True)
class Chosen:
    """Study, filters, view and the day it is about; what an address says wrongly chooses nothing."""

    today: date
    project: str = ""
    site: str = ""
    state: str = ""
    visit: str = ""
    view: str = "board"
    day: date = date.min

    @classmethod
    def of(cls, given: Mapping[str, str], project: str, today: date) -> Chosen:
        """From the query of an address, with the study that it chose."""
        view = given.get("view", "")
        return cls(
            today=today,
            project=project,
            site=given.get("site", ""),
            state=given.get("state", ""),
            visit=given.get("visit", ""),
            view=view if view in VIEWS else "board",
            day=_day(given.get("day", "")) or today,
        )

    def keeps(self, one: SubjectVisit) -> bool:
        """Whether the filters leave a visit; a state that is none leaves nothing."""
        if self.state == "planned":
            return one.planned is not None and self._is_there(one)
        return self.state in ("", one.state.value) and self._is_there(one)

    def _is_there(self, one: SubjectVisit) -> bool:
        return self.site in ("", one.site) and self.visit in ("", one.visit)

    @property
    def span(self) -> tuple[date, date]:
        """First and last day of the week or of the month's weeks."""
        if self.view != "month":
            first = self.day - timedelta(days=self.day.weekday())
            return first, first + timedelta(days=6)
        first = self.day.replace(day=1)
        last = (first + timedelta(days=31)).replace(day=1) - timedelta(days=1)
        first -= timedelta(days=first.weekday())
        return first, last + timedelta(days=6 - last.weekday())

    def moved(self, step: int) -> Chosen:
        """The week or month before (-1) or after (1)."""
        if self.view != "month":
            return replace(self, day=self.day + timedelta(days=7 * step))
        first = self.day.replace(day=1)
        day = first - timedelta(days=1) if step < 0 else first + timedelta(days=31)
        return replace(self, day=day.replace(day=1))

    def query(self, **changed: Any) -> str:
        """The address's query with something chosen otherwise; what is usual is left out."""
        one = replace(self, **changed)
        given = {name: getattr(one, name) for name in ("project", "site", "state", "visit")}
        given["view"] = "" if one.view == "board" else one.view
        given["day"] = "" if one.day == one.today or one.view == "board" else one.day.isoformat()
        text = urlencode({name: value for name, value in given.items() if value})
        return f"?{text}" if text else "?"


STATES = ("planned", *(state.value for state in State))
_FIRST, _LAST = date(1900, 1, 1), date(2199, 12, 31)


def _day(text: str) -> date | None:
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day if _FIRST <= day <= _LAST else None
