"""Where each line of hot memory comes from, and what was taken out: read from its versions and proposals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from memory.hot.text import Line, lines
from memory.hot.tombstones import place_of
from memory.models import MemoryProposal, ProjectMemory, ProjectMemoryVersion, UserMemory

# Versions that are looked through: of an older line it is told that it is older.
MOST = 100
_SHOWN = 50
_Lines = dict[tuple[str, str], tuple[int, Line]]


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


def _places(content: str) -> _Lines:
    """The lines that say something by their place, each with its number among them."""
    said = (line for line in lines(content) if line.is_content)
    return {place_of(line): (number, line) for number, line in enumerate(said)}


def newest_versions(memory: ProjectMemory) -> list[ProjectMemoryVersion]:
    """The newest versions, newest first; the base of `origins` and `removed`."""
    return list(memory.versions.order_by("-version")[:MOST])


def origins(
    memory: ProjectMemory, versions: Sequence[ProjectMemoryVersion]
) -> dict[tuple[str, str], Origin]:
    """The origin of every line that stands there now, by its place; two statements, however many lines."""
    left = _places(memory.content)
    applied = MemoryProposal.objects.filter(
        project=memory.project_id, state=MemoryProposal.State.APPLIED
    )
    made = {text: row for row in applied.order_by("decided_at") for text in row.new.splitlines()}
    stored = UserMemory.objects.filter(pk__in={pk for row in made.values() for pk in _cited(row)})
    words = {str(row.pk): f"{row.user_id}: {row.content}" for row in stored}
    found: dict[tuple[str, str], Origin] = {}
    said = [*(_places(version.content) for version in versions), {}]
    for version, older in zip(versions, said[1:], strict=True):
        is_last = version is versions[-1]
        for key in [key for key in left if key not in older]:
            proposal = made.get(left.pop(key)[1].text)
            found[key] = Origin(
                author=version.author,
                at=version.created_at,
                version=version.version,
                proposal=proposal,
                quotes=tuple(words[one] for one in _cited(proposal) if one in words),
                is_older=is_last and version.version > 1,
            )
    return found


def _cited(proposal: MemoryProposal | None) -> list[str]:
    """The keys of the memories that a proposal rests on."""
    given = proposal.evidence if proposal else ()
    return [item["id"] for item in given if item["kind"] == "memory"]


def removed(memory: ProjectMemory, versions: Sequence[ProjectMemoryVersion]) -> list[Removed]:
    """What stood in these versions and stands no more, the newest removal first.

    What a user had forgotten is gone from the versions as well, and so from here.
    """
    found: dict[tuple[str, str], Removed] = {}
    now = _places(memory.content)
    said = [(version, _places(version.content)) for version in versions]
    for (newer, after), (older, before) in pairwise(said):
        for key in before.keys() - after.keys() - now.keys() - found.keys():
            number, line = before[key]
            found[key] = Removed(line, number, older.version, newer.author, newer.created_at)
    return list(found.values())[:_SHOWN]
