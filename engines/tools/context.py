"""What every tool call knows: the study, the reader, the gate and the day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from house import clock
from integrations.privacy import Gate
from projects.dates import read_date
from projects.metadata import StudyMetadata
from projects.models import Member, Project
from projects.reader import Reader
from skills.mapping import aliases


@dataclass
class ToolContext:
    """`member` scopes every read; None only for jobs of the house, such as soft rules.

    `effect_key` names the step of a workflow that may have effects, `record_id` its subject, `can_wait`
    says that its messages wait for their readers' time; `reader` is what the request has read already.
    """

    project: Project
    member: Member | None
    gate: Gate
    question: str = ""
    today_is: date | None = None
    effect_key: str = ""
    record_id: str = ""
    can_wait: bool = False
    reader: Reader | None = None

    @cached_property
    def metadata(self) -> StudyMetadata:
        """The dictionary. Raises integrations.redcap.RedcapError when none was ever read."""
        return (self.reader or Reader(self.project, self.member)).metadata

    @cached_property
    def aliases(self) -> dict[str, str]:
        """The study's field mapping."""
        return aliases(self.project)

    @property
    def today(self) -> date:
        """The study's calendar day."""
        return self.today_is or clock.today(self.project.timezone)

    @cached_property
    def _visit_dates(self) -> frozenset[str]:
        """The fields that hold the date of a planned visit."""
        return frozenset(self.project.visit_plan.values_list("date_field", flat=True))

    def is_to_come(self, name: str, raw: str) -> bool:
        """Whether a value is the date of a visit that was not yet: it is planned, nothing was done."""
        if name not in self._visit_dates:
            return False
        day = read_date(name, raw, ZoneInfo(self.project.timezone)).day
        return day is not None and day > self.today

    @property
    def role(self) -> str:
        """The reader's role; "" for a job."""
        return self.member.role if self.member else ""

    def clock(self, moment: datetime) -> str:
        """A time as the study's people read it."""
        return moment.astimezone(ZoneInfo(self.project.timezone)).strftime("%Y-%m-%d %H:%M")
