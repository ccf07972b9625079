"""What people removed from memory stays removed (design.md 9.6; decisions.md, "deleted line").

A tombstone holds keyed hashes only. It knows its line again word for word, reworded, as a part, with
another line, and by the evidence the line came from.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from core.house.key_ring import digest, ring
from memory.hot import similarity
from memory.hot.similarity import Piece
from memory.hot.text import Line, lines
from memory.models import MemoryProposal, MemoryTombstone, UserMemory
from projects import audit
from projects.models import Project

_SHORT = 10
_Place = tuple[str, str]


def bury(
    *,
    project: Project,
    line: str,
    actor: object,
    profile: str = "",
    evidence: Iterable[str] = (),
    user_id: str = "",
) -> MemoryTombstone | None:
    """Remember that a line is gone; inside the caller's transaction. None for a line that says nothing.

    `profile`: the user whose profile it stood in; `evidence`: see `evidence_of`; `user_id`: set where a
    user asked to forget something about themselves.
    """
    pieces = similarity.pieces(line)
    if not pieces:
        return None
    stone, created = MemoryTombstone.objects.get_or_create(
        project=project,
        user_id=user_id,
        digest=line_digest(line, profile),
        defaults={
            "sketch": {
                "profile": profile.casefold(),
                "pieces": [_hashed(piece) for piece in pieces],
            },
            "evidence": sorted(set(evidence)),
            "created_by": audit.actor_name(actor),
        },
    )
    if created:
        audit.record("memory.remove", actor=actor, project=project, subject=stone)
    return stone


def lift(
    *, project: Project, line: str, actor: object, profile: str = "", user_id: str = ""
) -> int:
    """A person says it again: the tombstones of this very line are gone; returns how many."""
    key = line_digest(line, profile)
    stones = MemoryTombstone.objects.filter(project=project, user_id=user_id, digest=key)
    return remove(stones, project=project, actor=actor)


def remove(stones: QuerySet[MemoryTombstone], *, project: Project, actor: object) -> int:
    """What they keep away may be said again; returns how many there were."""
    for stone in stones:
        audit.record("memory.return", actor=actor, project=project, subject=stone)
    return stones.delete()[0]


def line_digest(line: str, profile: str = "") -> str:
    """The keyed hash of a normalised line in its place."""
    return digest(f"line\n{profile.casefold()}\n{similarity.normal(line)}")


def evidence_of(kind: str, value: str) -> str:
    """The keyed hash of a piece of evidence: ("memory", id of the row) or ("quote", its words)."""
    return digest(f"{kind}\n{similarity.normal(value) if kind == 'quote' else value}")


def of_memory(pk: str, content: str) -> set[str]:
    """The hashes under which one stored statement is known as evidence."""
    return {evidence_of("memory", pk), evidence_of("quote", content)}


def _hashed(piece: Piece) -> dict[str, Any]:
    sets = {"grams": piece.grams, "numbers": piece.numbers, "letters": piece.letters}
    hashes = {
        name: sorted(digest(f"piece\n{item}")[:_SHORT] for item in items)
        for name, items in sets.items()
    }
    return {**hashes, "denies": piece.denies}


@dataclass(frozen=True, eq=False)
class _Sketch:
    """What a line says, or a tombstone (of `profile`), in keyed hashes; one object for the same text."""

    pieces: tuple[Piece, ...]
    profile: str = ""


def _keyed(stored: Mapping[str, Any]) -> Piece:
    """A piece in hashes; of an older tombstone nobody noted its letters."""
    return Piece(
        grams=frozenset(stored["grams"]),
        numbers=frozenset(stored["numbers"]),
        letters=frozenset(stored.get("letters", ())),
        denies=stored.get("denies"),
    )


@lru_cache(maxsize=2048)
def _of_line(line: str, _keys: tuple[bytes, ...]) -> _Sketch:
    return _Sketch(tuple(_keyed(_hashed(piece)) for piece in similarity.pieces(line)))


@lru_cache(maxsize=1024)
def _of_stone(stored: str) -> _Sketch:
    sketch = json.loads(stored) or {}
    pieces = tuple(_keyed(piece) for piece in sketch.get("pieces", []))
    return _Sketch(pieces, sketch.get("profile", ""))


@lru_cache(maxsize=16384)
def _repeats(line: _Sketch, stone: _Sketch) -> bool:
    """Remembered: a user's facts and messages come again with every question, tombstones too."""
    return similarity.repeats(line.pieces, stone.pieces)


@dataclass(frozen=True)
class Stone:
    """A tombstone as it is compared."""

    pk: int
    user_id: str
    sketch: _Sketch
    evidence: frozenset[str]
    at: datetime


class Guard:
    """A study's tombstones, read once for a handful of comparisons; never kept longer."""

    def __init__(self, project: Project, user_id: str = "") -> None:
        """Those of the study's editors, and with `user_id` those of this user."""
        self._project, self._user = project, user_id

    @cached_property
    def _stones(self) -> list[Stone]:
        rows: Any = MemoryTombstone.objects.filter(
            project=self._project.pk, user_id__in=("", self._user)
        )
        rows = rows.only("user_id", "evidence", "created_at")
        return [
            Stone(
                row.pk,
                row.user_id,
                _of_stone(row.stored_sketch),
                frozenset(row.evidence or ()),
                row.created_at,
            )
            for row in rows.annotate(stored_sketch=Cast("sketch", TextField()))
        ]

    def of_user(self, line: str, *, evidence: Collection[str] = ()) -> list[Stone]:
        """What the user had forgotten that a line says or rests on."""
        return _met([stone for stone in self._stones if stone.user_id], line, evidence)

    def blocks(
        self, line: str, *, profile: str = "", evidence: Collection[str] = (), own: bool = True
    ) -> bool:
        """Whether a line says what was removed, or rests on what a removed line rested on.

        `own`: what the user had forgotten counts as well. What one user's profile lost may still be said of
        another user.
        """
        of = profile.casefold()
        near = [
            stone
            for stone in self._stones
            if (not of or stone.sketch.profile in ("", of)) and (own or not stone.user_id)
        ]
        return bool(_met(near, line, evidence))

    def said_again(self, line: str, *, at: datetime) -> bool:
        """Whether a statement of that time says something that had been removed before it."""
        found = _met(self._stones, line)
        return bool(found) and all(stone.at < at for stone in found)


def _met(stones: Sequence[Stone], line: str, evidence: Collection[str] = ()) -> list[Stone]:
    """Those that a line says, or whose evidence it shares."""
    if not stones:
        return []
    sketch, given = _of_line(line, ring()), frozenset(evidence)
    return [one for one in stones if given & one.evidence or _repeats(sketch, one.sketch)]


def settle_removals(*, project: Project, old: str, new: str, actor: object) -> None:
    """A person wrote `new` over `old`: bury what is gone, lift what came back; in the transaction."""
    was, now = _said(old), _said(new)
    for (profile, _words), line in ((place, now[place]) for place in now.keys() - was):
        lift(project=project, line=line.text, profile=profile, actor=actor)
    for (profile, _words), line in ((place, was[place]) for place in was.keys() - now):
        rests_on = evidence_for(project, line.text, profile)
        bury(project=project, line=line.text, profile=profile, actor=actor, evidence=rests_on)


def without_removed(project: Project, old: str, new: str) -> str:
    """A job's text without the lines it adds that a person removed; the last door before the table.

    A line of a profile is held against what its user had forgotten, too.
    """

    def is_removed(guard: Guard, line: Line) -> bool:
        return guard.blocks(line.text, profile=line.profile)

    return _left(project, old, new, is_removed)


def without_forgotten(project: Project, old: str, new: str) -> str:
    """A person's text, begun on an older one, without the lines beyond `old` that users had forgotten since."""
    return _left(project, old, new, lambda guard, line: bool(guard.of_user(line.text)))


def _left(project: Project, old: str, new: str, is_gone: Callable[[Guard, Line], bool]) -> str:
    known, given = _said(old), lines(new)
    guards = {of: Guard(project, of) for of in {line.profile for line in given}}
    kept = [
        line.text
        for line in given
        if not line.is_content or place_of(line) in known or not is_gone(guards[line.profile], line)
    ]
    return "\n".join(kept)


def _said(content: str) -> dict[_Place, Line]:
    return {place_of(line): line for line in lines(content) if line.is_content}


def place_of(line: Line) -> _Place:
    """What makes a line the same one in two versions: the profile it stands in, and its words."""
    return line.profile, similarity.normal(line.text)


def evidence_for(project: Project, line: str, profile: str) -> set[str]:
    """Keyed hashes of what a line came from: what a job cited for it, and what users said alike."""
    applied = MemoryProposal.objects.filter(project=project, state=MemoryProposal.State.APPLIED)
    cited = {
        item["id"]
        for row in applied
        if row.new == line
        for item in row.evidence
        if item["kind"] == "memory"
    }
    rows = UserMemory.objects.filter(project=project)
    rows = rows.filter(user_id__iexact=profile) if profile else rows
    pieces = similarity.pieces(line)
    found = {
        key
        for pk, content in rows.values_list("pk", "content")
        if similarity.repeats(similarity.pieces(content), pieces)
        for key in of_memory(str(pk), content)
    }
    for pk, content in UserMemory.objects.filter(pk__in=cited).values_list("pk", "content"):
        found |= of_memory(str(pk), content)
    return found
