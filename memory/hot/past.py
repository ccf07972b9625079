"""Where each line of hot memory comes from, and what was taken out: read from its versions and proposals."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from memory.hot import similarity
from memory.hot.text import Line, lines
from memory.models import MemoryProposal, ProjectMemory, ProjectMemoryVersion, UserMemory

# Versions that are looked through: of an older line it is told that it is older.
MOST = 100
_SHOWN = 50
_Place = tuple[str, str]


@dataclass(frozen=True)
class Origin:
    """Who brought a line in, with which version, and the proposal it was; `is_older`: before all of these."""

    author: str
    at: datetime
    version: int
    proposal: MemoryProposal | None = None
    quotes: tuple[str, ...] = ()
    is_older: bool = False


@dataclass(frozen=True)
class Removed:
    """A line that stands there no more: who took it out and when, and the version that still had it."""

    line: Line
    number: int
    last: int
    author: str
    at: datetime


def _places(content: str) -> dict[_Place, Line]:
    return {place(line): line for line in lines(content) if line.is_content}


def place(line: Line) -> _Place:
    """What makes a line the same one in two versions: the profile it stands in, and its words."""
    return line.profile, similarity.normal(line.text)


def newest(memory: ProjectMemory) -> list[ProjectMemoryVersion]:
    """The newest versions, newest first; the base of `origins` and `removed`."""
    return list(memory.versions.order_by("-version")[:MOST])


def origins(
    memory: ProjectMemory, versions: Sequence[ProjectMemoryVersion]
) -> dict[_Place, Origin]:
    """The origin of every line that stands there now; two statements, however many lines."""
    left = _places(memory.content)
    made = dict(_proposals(memory))
    quoted = _quotes(made.values())
    found: dict[_Place, Origin] = {}
    said = [_places(version.content) for version in versions]
    for number, version in enumerate(versions):
        oldest = number + 1 == len(versions)
        older: dict[_Place, Line] = {} if oldest else said[number + 1]
        for key in [key for key in left if key not in older]:
            proposal = made.get(left.pop(key).text)
            found[key] = Origin(
                author=version.author,
                at=version.created_at,
                version=version.version,
                proposal=proposal,
                quotes=tuple(_said(proposal, quoted)) if proposal else (),
                is_older=oldest and version.version > 1,
            )
    return found


def _proposals(memory: ProjectMemory) -> Iterator[tuple[str, MemoryProposal]]:
    rows = MemoryProposal.objects.filter(
        project=memory.project_id, state=MemoryProposal.State.APPLIED
    )
    for row in rows.order_by("decided_at"):
        for text in row.new.splitlines():
            yield text, row


def _quotes(rows: Iterable[MemoryProposal]) -> dict[str, str]:
    """{id: "user: words"} of all that is cited and still stored."""
    ids = {item["id"] for row in rows for item in row.evidence if item["kind"] == "memory"}
    found = UserMemory.objects.filter(pk__in=ids).values_list("pk", "user_id", "content")
    return {str(pk): f"{user_id}: {content}" for pk, user_id, content in found}


def _said(proposal: MemoryProposal, quoted: dict[str, str]) -> Iterator[str]:
    return (quoted[item["id"]] for item in proposal.evidence if item["id"] in quoted)


def removed(memory: ProjectMemory, versions: Sequence[ProjectMemoryVersion]) -> list[Removed]:
    """What stood in these versions and stands no more, the newest removal first.

    What a user had forgotten is gone from the versions as well, and so from here.
    """
    found: dict[_Place, Removed] = {}
    said = [(version, _numbered(version.content)) for version in versions]
    now = _places(memory.content)
    for (newer, after), (older, before) in pairwise(said):
        for key in before.keys() - after.keys() - now.keys() - found.keys():
            number, line = before[key]
            found[key] = Removed(line, number, older.version, newer.author, newer.created_at)
    return list(found.values())[:_SHOWN]


def _numbered(content: str) -> dict[_Place, tuple[int, Line]]:
    content_lines = (line for line in lines(content) if line.is_content)
    return {place(line): (number, line) for number, line in enumerate(content_lines)}
