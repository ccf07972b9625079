"""What people removed from memory stays removed (design.md 9.6; decisions.md, "deleted line").

A tombstone holds keyed hashes only. It knows its line again word for word, reworded, as a part, with
another line, and by the evidence the line came from.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property, lru_cache
from typing import Any
from uuid import UUID

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from house.crypto import digest, keys
from memory.hot import similarity
from memory.hot.similarity import Piece
from memory.models import MemoryTombstone
from projects import audit
from projects.models import Project

_SHORT = 10


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
    sketch = {"profile": profile.casefold(), "pieces": [_hashed(piece) for piece in pieces]}
    stone, created = MemoryTombstone.objects.get_or_create(
        project=project,
        user_id=user_id,
        digest=line_digest(line, profile),
        defaults={
            "sketch": sketch,
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
    stones = MemoryTombstone.objects.filter(
        project=project, user_id=user_id, digest=line_digest(line, profile)
    )
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


def _hashed(piece: Piece) -> dict[str, Any]:
    sets = {"grams": piece.grams, "numbers": piece.numbers, "letters": piece.letters}
    return {**{name: _hashes(items) for name, items in sets.items()}, "denies": piece.denies}


def _hashes(items: Iterable[str]) -> list[str]:
    return sorted(digest(f"piece\n{item}")[:_SHORT] for item in items)


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
    said = similarity.pieces(line)
    return _Sketch(tuple(_keyed(_hashed(piece)) for piece in said))


@lru_cache(maxsize=1024)
def _of_stone(stored: str) -> _Sketch:
    sketch = json.loads(stored) or {}
    listed = sketch.get("pieces", [])
    return _Sketch(tuple(_keyed(piece) for piece in listed), sketch.get("profile", ""))


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

    def concerns(self, profile: str) -> bool:
        """What one user's profile lost may still be said of another user."""
        return self.sketch.profile in ("", profile) or not profile


def _stored(project: UUID, user_id: str) -> QuerySet[MemoryTombstone]:
    rows = MemoryTombstone.objects.filter(project=project, user_id__in=("", user_id))
    sketch = Cast("sketch", TextField())
    return rows.only("user_id", "evidence", "created_at").annotate(stored_sketch=sketch)


class Guard:
    """A study's tombstones, read once for a handful of comparisons; never kept longer."""

    def __init__(self, project: Project, user_id: str = "") -> None:
        """Those of the study's editors, and with `user_id` those of this user."""
        self._project, self._user = project, user_id

    @cached_property
    def _stones(self) -> list[Stone]:
        rows: Any = _stored(self._project.pk, self._user)
        return [
            Stone(
                pk=row.pk,
                user_id=row.user_id,
                sketch=_of_stone(row.stored_sketch),
                evidence=frozenset(row.evidence or []),
                at=row.created_at,
            )
            for row in rows
        ]

    def of_user(self, line: str, *, evidence: Collection[str] = ()) -> list[Stone]:
        """What the user had forgotten that a line says or rests on."""
        given = frozenset(evidence)
        own = [stone for stone in self._stones if stone.user_id]
        said = _said(line, own)
        return [stone for stone in own if stone in said or given & stone.evidence]

    def blocks(
        self, line: str, *, profile: str = "", evidence: Collection[str] = (), own: bool = True
    ) -> bool:
        """Whether a line says what was removed, or rests on what a removed line rested on.

        `own`: what the user had forgotten counts as well.
        """
        near = [stone for stone in self._stones if stone.concerns(profile.casefold())]
        near = [stone for stone in near if own or not stone.user_id]
        given = frozenset(evidence)
        return any(given & stone.evidence for stone in near) or bool(_said(line, near))

    def said_again(self, line: str, *, at: datetime) -> bool:
        """Whether a statement of that time says something that had been removed before it."""
        found = _said(line, self._stones)
        return bool(found) and all(stone.at < at for stone in found)


def _said(line: str, stones: Sequence[Stone]) -> list[Stone]:
    if not stones:
        return []
    sketch = _of_line(line, keys())
    return [stone for stone in stones if _repeats(sketch, stone.sketch)]
