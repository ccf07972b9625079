"""What a tool call knows, what it gives back, and what every door says in the same words."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from enum import StrEnum
from functools import cached_property
from typing import Any

from django.utils.translation import gettext as _

from core.house import clock
from core.integrations.passages import Passage
from core.privacy.gate import Gate
from projects.models import Member, Project
from study.client import NotConfiguredError
from study.facts import Answer, Fact
from study.metadata import StudyMetadata
from study.request_cache import Reader


@dataclass
class ToolContext:
    """`member` scopes every read; None only for jobs of the house, such as soft rules.

    `send` is the effect that a step of a workflow may have: roles and a text, returns how many were told.
    `reader` is what the request has read already.
    """

    project: Project
    member: Member | None
    gate: Gate
    question: str = ""
    today_is: date | None = None
    send: Callable[[list[str], str], int] | None = None
    reader: Reader | None = None

    @cached_property
    def metadata(self) -> StudyMetadata:
        """The dictionary. Raises integrations.redcap.RedcapError when none was ever read."""
        return (self.reader or Reader(self.project, self.member)).metadata

    @property
    def today(self) -> date:
        """The study's calendar day."""
        return self.today_is or clock.today(self.project.timezone)

    @property
    def role(self) -> str:
        """The reader's role; "" for a job."""
        return self.member.role if self.member else ""


class Status(StrEnum):
    """How a call ended. An incomplete read is never OK."""

    OK = "ok"
    INCOMPLETE = "incomplete"
    NOT_FOUND = "not_found"
    BAD_ARGUMENTS = "bad_arguments"
    REFUSED = "refused"
    DOWN = "down"


@dataclass(frozen=True)
class ToolResult:
    """The outcome of one call.

    `data` goes to the model through the gate; `facts` are what was read; `passages` are those of documents;
    `asked` are StudyQueries with their answers; `outside_down` says that an outside system failed.
    """

    tool: str
    status: Status
    data: Any = None
    facts: tuple[Fact, ...] = ()
    sources: tuple[dict[str, Any], ...] = ()
    record_ids: tuple[str, ...] = ()
    outside_down: bool = False
    passages: tuple[Passage, ...] = ()
    asked: tuple[tuple[dict[str, Any], Answer], ...] = ()

    @property
    def failed(self) -> bool:
        """Whether the call counts as a tool failure for the fuse."""
        return self.status in (Status.BAD_ARGUMENTS, Status.REFUSED, Status.DOWN)

    @property
    def has_data(self) -> bool:
        """Whether something was read."""
        return self.status in (Status.OK, Status.INCOMPLETE)


def sources_of(results: Iterable[ToolResult]) -> list[dict[str, Any]]:
    """Where an answer comes from, each place once; of what was read twice for it, the older reading."""
    found: dict[str, dict[str, Any]] = {}
    for source in (one for result in results if result.has_data for one in result.sources):
        rest = {name: value for name, value in source.items() if name != "read_at"}
        place = json.dumps(rest, sort_keys=True, default=str)
        known = found.get(place)
        if known is None or str(source.get("read_at")) < str(known.get("read_at")):
            found[place] = source
    return list(found.values())


def not_found() -> str:
    """The one wording for "does not exist" and "not yours" (design.md 9.7)."""
    return _("There is no such subject, or you have no right to see it. Please check the number.")


def redcap_down(error: Exception) -> str:
    """REDCap cannot be read: it is not set up, which only an administrator can mend, or does not answer."""
    if isinstance(error, NotConfiguredError):
        return str(error)
    return _("REDCap cannot be read at the moment. Please try again later.")
