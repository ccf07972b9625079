"""What a tool gives back: data for the model, facts for grounding, lines for plain rendering."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from integrations.passages import Passage
from projects.excerpts import Excerpt
from study.facts import Answer

MORE = "其他"
"""The key that says of an overview that it is one."""


class Status(StrEnum):
    """How a call ended. An incomplete read is never OK."""

    OK = "ok"
    INCOMPLETE = "incomplete"
    NOT_FOUND = "not_found"
    BAD_ARGUMENTS = "bad_arguments"
    REFUSED = "refused"
    DOWN = "down"


@dataclass(frozen=True)
class Fact:
    """One value with the subject and field it belongs to; "" as subject: the whole study.

    `names` are all the ways people call the field; `others` are labels of the choices not taken.
    """

    record_id: str
    field: str
    names: tuple[str, ...]
    value: str
    where: str = ""
    others: tuple[str, ...] = ()


@dataclass(frozen=True)
class Entry:
    """One instance of a repeating form: what it is called by ("" where that is blank) and its answers."""

    number: int
    name: str
    facts: tuple[Fact, ...]
    where: str = ""


@dataclass(frozen=True)
class Flag:
    """A yes-or-no field that the question names, and how many instances say yes."""

    field: str
    label: str
    number: int


@dataclass(frozen=True)
class Group:
    """All instances of one repeating form of one subject.

    `columns`: the fields that were asked for, with what people call them; `whole`: the form itself was
    asked for, so that its blanks need no word; `flags`: what the question names of them (SAE).
    """

    record_id: str
    form: str
    label: str
    entries: tuple[Entry, ...]
    columns: tuple[tuple[str, str], ...]
    whole: bool
    flags: tuple[Flag, ...] = ()


@dataclass(frozen=True)
class ToolResult:
    """The outcome of one call.

    `data` goes to the model through the gate; `blocks` are pieces of text that count as sources;
    `lines` are the plain rendering for people, without the `groups` of repeating forms; `unsaid` are notes
    that no answer may leave out; `blank` are the names of fields that were read and are empty;
    `passages` are those of documents; `asked` are StudyQueries with their answers;
    `excerpt` is the rule of one that answers; `outside_down` says that an
    outside system failed.
    """

    tool: str
    status: Status
    data: Any = None
    facts: tuple[Fact, ...] = ()
    blocks: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    sources: tuple[dict[str, Any], ...] = ()
    record_ids: tuple[str, ...] = ()
    outside_down: bool = False
    blank: tuple[str, ...] = ()
    groups: tuple[Group, ...] = ()
    unsaid: tuple[str, ...] = ()
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
