"""Session memory: the last three rounds of a talk, for 30 minutes (seed 003, 5; decisions.md)."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from typing import Any

from django.core.cache import cache
from django.utils.timezone import now

from memory.tombstones import Guard
from projects.models import Member

ROUNDS = 3
LIFETIME_S = 30 * 60


@dataclass(frozen=True)
class Session:
    """De-identified messages and the subjects last spoken of.

    `chosen`: ids of the member's memories that it began with; None before its first message that had some.
    """

    messages: list[dict[str, str]] = field(default_factory=list)
    record_ids: list[str] = field(default_factory=list)
    chosen: list[str] | None = None

    @property
    def text(self) -> str:
        """As it goes into a prompt (用户: / AI:)."""
        names = {"user": "用户", "assistant": "AI"}
        return "\n\n".join(f"{names[m['role']]}: {m['content']}" for m in self.messages)


def _key(member: Member) -> str:
    return f"talk:{member.project_id}:{member.identity}"


def _keep(key: str, value: Any) -> None:
    cache.set(key, {"at": now().timestamp(), "value": value}, LIFETIME_S)


def _recent(key: str) -> Any:
    """What was kept within the last 30 minutes by our clock, whatever the cache server's says."""
    kept: dict[str, Any] | None = cache.get(key)
    if not kept or now().timestamp() - kept["at"] >= LIFETIME_S:
        return None
    return kept["value"]


def load(member: Member, guard: Guard | None = None) -> Session:
    """The member's running session, or an empty one.

    Rounds that repeat what an editor removed, or what the member had forgotten, are left out. `guard`: the
    member's, where this request has one already.
    """
    stored = _recent(_key(member))
    if not stored:
        return Session()
    found = Session(**stored)
    guard = guard or Guard(member.project, member.identity)
    return replace(found, messages=_allowed(member, found.messages, guard))


def _allowed(member: Member, messages: list[dict[str, str]], guard: Guard) -> list[dict[str, str]]:
    rounds = [messages[at : at + 2] for at in range(0, len(messages), 2)]
    return [
        message
        for one in rounds
        if not any(guard.blocks(said["content"], profile=member.identity) for said in one)
        for message in one
    ]


def remember(member: Member, *, question: str, answer: str, record_ids: list[str]) -> None:
    """Add a round (texts must be de-identified already) and drop the oldest beyond three."""
    session = load(member)
    added = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    newer = replace(
        session,
        messages=[*session.messages, *added][-2 * ROUNDS :],
        record_ids=record_ids or session.record_ids,
    )
    _keep(_key(member), asdict(newer))
    _keep(_last_key(member.wecom_userid), str(member.project_id))


def choose(member: Member, session: Session, ids: list[str]) -> None:
    """Keep what load_context chose, for this session."""
    _keep(_key(member), asdict(replace(session, chosen=ids)))


def last_project(userid: str) -> str | None:
    """Id of the project this user last spoke in within 30 minutes."""
    found: str | None = _recent(_last_key(userid))
    return found


def ask_project(userid: str, text: str, codes: list[str]) -> None:
    """Keep a message until its sender has said which project it concerns."""
    cache.set(_choice_key(userid), {"text": text, "codes": codes}, LIFETIME_S)


def chosen_project(userid: str, number: int) -> tuple[str, str] | None:
    """The kept message and the project code that `number` stands for; only once."""
    kept = cache.get(_choice_key(userid))
    if not kept or not 1 <= number <= len(kept["codes"]):
        return None
    cache.delete(_choice_key(userid))
    return kept["text"], kept["codes"][number - 1]


def _last_key(userid: str) -> str:
    return f"last-project:{userid.lower()}"


def _choice_key(userid: str) -> str:
    return f"project-choice:{userid.lower()}"
