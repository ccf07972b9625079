"""What a tool gives back: data for the model, facts to cite, lines for plain rendering."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from integrations.passages import Passage
from study.facts import Answer, Fact
from study.protocol.excerpts import Excerpt


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

    `data` goes to the model through the gate; `lines` are what is known beside StudyQueries, `facts` what
    they state; `passages` are those of documents, `excerpt` the rule of one that answers; `asked` are
    StudyQueries with their answers; `outside_down` says that an outside system failed.
    """

    tool: str
    status: Status
    data: Any = None
    facts: tuple[Fact, ...] = ()
    lines: tuple[str, ...] = ()
    sources: tuple[dict[str, Any], ...] = ()
    record_ids: tuple[str, ...] = ()
    outside_down: bool = False
    excerpt: Excerpt | None = None
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
