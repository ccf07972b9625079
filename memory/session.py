"""Session memory: the last three rounds of a talk, for 30 minutes (seed 003, 5; decisions.md)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from django.core.cache import cache

from projects.models import Member

ROUNDS = 3
LIFETIME_S = 30 * 60


@dataclass(frozen=True)
class Session:
    """De-identified messages and the subjects last spoken of."""

    messages: list[dict[str, str]] = field(default_factory=list)
    record_ids: list[str] = field(default_factory=list)
    id: str = ""

    @property
    def text(self) -> str:
        """As it goes into a prompt (用户: / AI:)."""
        names = {"user": "用户", "assistant": "AI"}
        return "\n\n".join(f"{names[m['role']]}: {m['content']}" for m in self.messages)

    @property
    def is_new(self) -> bool:
        """Whether nothing was said yet."""
        return not self.messages


def _key(member: Member) -> str:
    return f"session:{member.project_id}:{member.identity}"


def load(member: Member) -> Session:
    """The member's running session, or an empty one."""
    stored: dict[str, Any] | None = cache.get(_key(member))
    return Session(**stored) if stored else Session()


def remember(member: Member, *, question: str, answer: str, record_ids: list[str]) -> None:
    """Add a round (texts must be de-identified already) and drop the oldest beyond three."""
    session = load(member)
    added = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    newer = Session(
        messages=[*session.messages, *added][-2 * ROUNDS :],
        record_ids=record_ids or session.record_ids,
        id=session.id,
    )
    cache.set(_key(member), asdict(newer), LIFETIME_S)
