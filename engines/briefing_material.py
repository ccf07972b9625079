"""What a briefing is made of: its parts, the study as REDCap showed it, and what one member may see of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property

from django.utils.translation import gettext as _
from pydantic import ValidationError

from core.house import clock
from core.integrations.redcap import PASSING, RedcapError
from projects.models import Member, Project
from skills.graph import Node
from study import dictionary, readings, records
from study.blinding.mask import mask_of_member
from study.client import NotConfiguredError
from study.metadata import StudyMetadata
from study.records import RecordData
from study.visits.calendar import OPEN_STATES, State, VisitPlanSpec, VisitState, is_to_do
from study.visits.window import plan_of, visit_states

Visit = tuple[RecordData, VisitState]
DETAILS = 15


@dataclass(frozen=True)
class Part:
    """A statement, and the lines below it that a reader who wants it short is spared."""

    head: str
    details: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Head and details; of a long list the first lines and how many there are."""
        shown = [f"- {line}" for line in self.details[:DETAILS]]
        if len(self.details) > DETAILS:
            shown.append(_("… %(number)d in all") % {"number": len(self.details)})
        return "\n".join([self.head, *shown])


@dataclass(frozen=True)
class Digest:
    """`is_empty`: there is nothing to do; `parts` then say so. Nothing unreadable is ever empty."""

    title: str
    parts: Sequence[Part]
    is_empty: bool = False

    def render(self, limit: int | None = None) -> str:
        """As text; without details where it would have more than `limit` characters."""
        full = "\n".join([self.title, *(part.text for part in self.parts)])
        if limit is None or len(full) <= limit:
            return full
        return "\n".join([self.title, *(part.head for part in self.parts)])


@dataclass(frozen=True)
class Reading:
    """Subjects as REDCap showed them, and the plan; None where it did not, or where nobody could follow it.

    `metadata`: the dictionary they were read by. `transient`: REDCap may answer later.
    """

    records: tuple[RecordData, ...] | None = ()
    plan: VisitPlanSpec | None = None
    transient: bool = False
    metadata: StudyMetadata | None = None


def read_study(project: Project) -> Reading:
    """All subjects as they are now; it never raises for REDCap."""
    plan = _plan(project)
    try:
        metadata = dictionary.ensure_fresh(project)
        readings.read_all(project)
        found = readings.of_members(project, metadata, None, None)
    except (RedcapError, NotConfiguredError) as error:
        return Reading(None, plan, transient=isinstance(error, PASSING))
    return Reading(tuple(found), plan, metadata=metadata)


def _plan(project: Project) -> VisitPlanSpec | None:
    try:
        return plan_of(project)
    except ValidationError:
        return None


@dataclass(frozen=True)
class Material:
    """One briefing of a study. `since`: what happened later is new."""

    project: Project
    node: Node
    since: datetime
    reading: Reading

    def for_reader(self, member: Member) -> View:
        """What one member may know of it."""
        return View(self, member)


@dataclass
class View:
    """The material as one member may see it (design.md 9.7)."""

    material: Material
    member: Member

    @property
    def project(self) -> Project:
        """The study."""
        return self.material.project

    @cached_property
    def today(self) -> date:
        """The study's day."""
        return clock.today(self.project.timezone)

    @property
    def is_readable(self) -> bool:
        """Whether REDCap answered."""
        return self.material.reading.records is not None

    @cached_property
    def records(self) -> list[RecordData]:
        """The member's subjects, without what is blinded for the member."""
        mine = records.visible_to(self.material.reading.records or (), self.member)
        return [*map(mask_of_member(self.project, self.member).record, mine)]

    @cached_property
    def visits(self) -> list[Visit]:
        """Where every planned visit of these subjects stands, the most pressing first."""
        plan = self.material.reading.plan
        if plan is None:
            return []
        found = [
            (record, state)
            for record in self.records
            for state in visit_states(self.project, record, self.today, plan)
        ]
        return sorted(found, key=lambda pair: (pair[1].close or date.max, pair[0].record_id))

    def in_state(self, *states: State) -> list[Visit]:
        """The visits in one of these states; of those that are not done, only what is still to be done."""
        found = [pair for pair in self.visits if pair[1].state in states]
        return [
            pair
            for pair in found
            if pair[1].state not in OPEN_STATES or is_to_do(pair[1], self.today)
        ]

    def warnings(self) -> Iterator[Part]:
        """What could not be read or judged: it must not look like nothing to do (design.md 9.8)."""
        if not self.is_readable:
            yield Part(
                _(
                    "REDCap could not be read: enrolment and visits are unknown. Please check them there."
                )
            )
        elif self.material.reading.plan is None:
            yield Part(
                _(
                    "The visit plan cannot be followed: visits are unknown. "
                    "Please have it corrected in the console."
                )
            )
        if any(not record.complete for record in self.records):
            yield Part(_("REDCap did not show all data: the list may be incomplete."))
        undecided = [pair for pair in self.in_state(State.UNKNOWN) if _has_a_date(pair)]
        if undecided:
            yield Part(
                _("Visits that cannot be judged, their dates are unclear: %(number)d")
                % {"number": len(undecided)},
                tuple(f"{record.record_id} {state.visit}" for record, state in undecided),
            )


def _has_a_date(pair: Visit) -> bool:
    """Whether there is a date to be judged by: before enrolment there is none, and nothing is due."""
    record, state = pair
    return any(str(row.get(state.anchor_field, "")).strip() for row in record.rows)
