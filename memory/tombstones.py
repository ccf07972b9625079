"""What people removed from memory stays removed (design.md 9.6; decisions.md, "deleted line").

A tombstone holds keyed hashes only. It knows its line again word for word, reworded, as a part, with
another line, and by the evidence the line came from.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from typing import Any

from memory import wording
from memory.models import MemoryTombstone
from memory.wording import Piece
from projects import audit
from projects.crypto import digest
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
    pieces = wording.pieces(line)
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
    for stone in stones:
        audit.record("memory.return", actor=actor, project=project, subject=stone)
    return stones.delete()[0]


def line_digest(line: str, profile: str = "") -> str:
    """The keyed hash of a normalised line in its place."""
    return digest(f"line\n{profile.casefold()}\n{wording.normal(line)}")


def evidence_of(kind: str, value: str) -> str:
    """The keyed hash of a piece of evidence: ("memory", id of the row) or ("quote", its words)."""
    return digest(f"{kind}\n{wording.normal(value) if kind == 'quote' else value}")


def _hashed(piece: Piece) -> dict[str, list[str]]:
    return {"grams": _hashes(piece.grams), "numbers": _hashes(piece.numbers)}


def _hashes(items: Iterable[str]) -> list[str]:
    return sorted(digest(f"piece\n{item}")[:_SHORT] for item in items)


def _keyed(piece: Piece) -> Piece:
    return Piece(frozenset(_hashes(piece.grams)), frozenset(_hashes(piece.numbers)))


@dataclass(frozen=True)
class Stone:
    """A tombstone as it is compared."""

    user_id: str
    profile: str
    pieces: tuple[Piece, ...]
    evidence: frozenset[str]
    at: datetime

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Stone:
        """From a row of the table."""
        sketch = row["sketch"] or {}
        found = (
            Piece(frozenset(p["grams"]), frozenset(p["numbers"])) for p in sketch.get("pieces", [])
        )
        return cls(
            user_id=row["user_id"],
            profile=sketch.get("profile", ""),
            pieces=tuple(found),
            evidence=frozenset(row["evidence"] or []),
            at=row["created_at"],
        )

    def concerns(self, profile: str) -> bool:
        """What one user's profile lost may still be said of another user."""
        return self.profile in ("", profile) or not profile


class Guard:
    """A study's tombstones, read once for a handful of comparisons; never kept longer."""

    def __init__(self, project: Project, user_id: str = "") -> None:
        """Those of the study's editors, and with `user_id` those of this user."""
        self._rows = MemoryTombstone.objects.filter(
            project=project, user_id__in={"", user_id}
        ).values("user_id", "sketch", "evidence", "created_at")

    @cached_property
    def _stones(self) -> list[Stone]:
        return [Stone.of(row) for row in self._rows]

    def blocks(self, line: str, *, profile: str = "", evidence: Collection[str] = ()) -> bool:
        """Whether a line says what was removed, or rests on what a removed line rested on."""
        near = [stone for stone in self._stones if stone.concerns(profile.casefold())]
        given = frozenset(evidence)
        return any(given & stone.evidence for stone in near) or bool(_said(line, near))

    def said_again(self, line: str, *, at: datetime) -> bool:
        """Whether a statement of that time says something that had been removed before it."""
        found = _said(line, self._stones)
        return bool(found) and all(stone.at < at for stone in found)


def _said(line: str, stones: Sequence[Stone]) -> list[Stone]:
    if not stones:
        return []
    pieces = [_keyed(piece) for piece in wording.pieces(line)]
    return [stone for stone in stones if wording.repeats(pieces, stone.pieces)]
