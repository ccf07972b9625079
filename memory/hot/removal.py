"""What a new version of hot memory removed and brought back (decisions.md, "deleted line")."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from memory.hot import similarity, tombstones
from memory.hot.text import Line, lines
from memory.hot.tombstones import Guard
from memory.models import MemoryProposal, UserMemory
from projects.models import Project

_Place = tuple[str, str]


def settle(*, project: Project, old: str, new: str, actor: object) -> None:
    """A person wrote `new` over `old`: bury what is gone, lift what came back; in the transaction."""
    was, now = _said(old), _said(new)
    for place in now.keys() - was:
        line = now[place]
        tombstones.lift(project=project, line=line.text, profile=line.profile, actor=actor)
    for place in was.keys() - now:
        line = was[place]
        tombstones.bury(
            project=project,
            line=line.text,
            profile=line.profile,
            actor=actor,
            evidence=evidence(project, line),
        )


def without_removed(project: Project, old: str, new: str) -> str:
    """A job's text without the lines it adds that a person removed; the last door before the table.

    A line of a profile is held against what its user had forgotten, too.
    """
    return _left(
        project, old, new, lambda guard, line: guard.blocks(line.text, profile=line.profile)
    )


def without_forgotten(project: Project, old: str, new: str) -> str:
    """A person's text, begun on an older one, without the lines beyond `old` that users had forgotten since."""
    return _left(project, old, new, lambda guard, line: bool(guard.of_user(line.text)))


def _left(project: Project, old: str, new: str, is_gone: Callable[[Guard, Line], bool]) -> str:
    known, given = _said(old), lines(new)
    guards = {of: Guard(project, of) for of in {line.profile for line in given}}
    kept = [
        line.text
        for line in given
        if not line.is_content or _place(line) in known or not is_gone(guards[line.profile], line)
    ]
    return "\n".join(kept)


def _said(content: str) -> dict[_Place, Line]:
    return {_place(line): line for line in lines(content) if line.is_content}


def _place(line: Line) -> _Place:
    return line.profile, similarity.normal(line.text)


def evidence(project: Project, line: Line) -> set[str]:
    """Keyed hashes of what a line came from: what a job cited for it, and what users said alike."""
    found = set(_cited(project, line))
    pieces = similarity.pieces(line.text)
    rows = UserMemory.objects.filter(project=project)
    if line.profile:
        rows = rows.filter(user_id__iexact=line.profile)
    for pk, content in rows.values_list("pk", "content"):
        if similarity.repeats(similarity.pieces(content), pieces):
            found |= of_memory(str(pk), content)
    return found


def _cited(project: Project, line: Line) -> Iterator[str]:
    rows = MemoryProposal.objects.filter(project=project, state=MemoryProposal.State.APPLIED)
    items = [item for row in rows if row.new == line.text for item in row.evidence]
    cited = [item["id"] for item in items if item["kind"] == "memory"]
    for pk, content in UserMemory.objects.filter(pk__in=cited).values_list("pk", "content"):
        yield from of_memory(str(pk), content)


def of_memory(pk: str, content: str) -> set[str]:
    """The hashes under which one stored statement is known as evidence."""
    return {tombstones.evidence_of("memory", pk), tombstones.evidence_of("quote", content)}
