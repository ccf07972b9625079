"""A study's figures for the first page, each with the subjects that it counts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import timedelta
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from core.integrations.redcap import RedcapError
from projects.models import Member, Project
from projects.scoping import User
from study.blinding import mask
from study.client import NotConfiguredError
from study.enrolment_stats import StudyFigures, study_figures
from study.models import Subject

LISTED = 200


@dataclass(frozen=True)
class Counted:
    """A figure and its subjects: (key of the page, record id, how many); `of`: how many subjects there are."""

    total: int
    of: int
    subjects: tuple[tuple[int, str, int], ...]


@dataclass(frozen=True)
class Figures:
    """What is known of a study; `stands` None: nothing was read yet, or its plan cannot be followed.

    `moves`: whether a subject's move to another site waits for somebody; None: not looked at.
    """

    stands: StudyFigures | None
    pages: Mapping[str, int] = field(default_factory=dict)
    moves: bool | None = None

    @cached_property
    def adverse(self) -> Counted | None:
        """Adverse events."""
        return self._counted(self.stands.adverse if self.stands else None)

    @cached_property
    def serious(self) -> Counted | None:
        """Serious adverse events."""
        return self._counted(self.stands.serious if self.stands else None)

    @cached_property
    def beyond(self) -> Counted | None:
        """Subjects whose newest value of some lab lies beyond its limits."""
        found = self.stands.beyond if self.stands else None
        return self._counted(None if found is None else dict.fromkeys(found.subjects, 1))

    @property
    def sites(self) -> Iterable[tuple[str, int]]:
        """Enrolled by the name of the site."""
        if self.stands is None:
            return []
        return [(self.site(code), count) for code, count in self.stands.sites.items()]

    def site(self, code: str) -> str:
        """What people call a site; its code where REDCap was not read."""
        return self.stands.site_names.get(code, code) if self.stands else code

    @property
    def bar(self) -> int:
        """Enrolled of the target for a bar of 100."""
        return min((self.stands.share if self.stands else 0) or 0, 100)

    def week(self) -> dict[str, Any]:
        """Visits to be done until the end of this week, those overdue first, each with its subject's page."""
        if self.stands is None:
            return {"known": False}
        schedule = self.stands.schedule
        sunday = schedule.today + timedelta(days=6 - schedule.today.weekday())
        due, late = schedule.due(schedule.today, sunday), schedule.overdue()
        rows = [(one, self.pages.get(one.subject)) for one in [*late, *due][:8]]
        return {"known": True, "due": len(due), "overdue": len(late), "rows": rows}

    def _counted(self, found: Mapping[str, int] | None) -> Counted | None:
        if found is None:
            return None
        rows = ((self.pages[i], i, count) for i, count in found.items() if i in self.pages)
        return Counted(sum(found.values()), len(found), tuple(rows)[:LISTED])


def figures(project: Project, member: Member | None, user: User) -> Figures:
    """As last read, as `member` may see them (None: a superuser, blinded where they are)."""
    blinded = mask.mask_of_user(project, user).fields if member is None else ()
    try:
        found = study_figures(project, member, blinded=blinded)
    except (RedcapError, NotConfiguredError, ValidationError):
        return Figures(None)
    known = found if found.schedule.read_at else None
    rows = Subject.objects.for_user(user).filter(project=project, is_present=True)
    subjects = [*rows.values_list("record_id", "pk", "site_waiting")]
    pages = {record_id: pk for record_id, pk, _site in subjects}
    return Figures(known, pages, any(site is not None for *_who, site in subjects))
