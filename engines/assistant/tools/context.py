"""What every tool call knows: the study, the reader, the gate and the day."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from functools import cached_property
from zoneinfo import ZoneInfo

from house import clock
from privacy.gate import Gate
from projects.models import Member, Project
from skills.mapping import aliases
from study.metadata import StudyMetadata
from study.request_cache import Reader


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

    @property
    def role(self) -> str:
        """The reader's role; "" for a job."""
        return self.member.role if self.member else ""

    def clock(self, moment: datetime) -> str:
        """A time as the study's people read it."""
        return moment.astimezone(ZoneInfo(self.project.timezone)).strftime("%Y-%m-%d %H:%M")
