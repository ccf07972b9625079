"""Session memory: the last three rounds of a talk, for 30 minutes (seed 003, 5; decisions.md).

What a person says in a group is a talk of its own: it changes nothing of their single chat.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass, field, replace
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.utils.timezone import now

from core.house.crypto import DecryptionError, decrypt, encrypt
from memory.hot.tombstones import Guard
from projects.models import Member, Person

ROUNDS = 3
LIFETIME_S = 30 * 60
_room: ContextVar[str] = ContextVar("room", default="")


@dataclass(frozen=True)
class Session:
    """De-identified messages and the subjects last spoken of.

    `said`: each round as it was typed and answered, to be told to the member again; never part of a prompt.
    `chosen`: ids of the member's memories that it began with; None before its first message that had some.
    `talk`: what a follow-up refers to, as JSON that names nobody: ids, names of fields, parts of a question.
    `order`: what the last answer offered to do; the next message says yes to it, or it is over.
    `undo`: key of the memory that was kept last, for 撤回; "" for none.
    """

    messages: list[dict[str, str]] = field(default_factory=list)
    record_ids: list[str] = field(default_factory=list)
    chosen: list[str] | None = None
    talk: dict[str, Any] = field(default_factory=dict)
    order: dict[str, Any] | None = None
    undo: str = ""
    said: list[list[str]] = field(default_factory=list)

    @property
    def text(self) -> str:
        """As it goes into a prompt (用户: / AI:)."""
        names = {"user": "用户", "assistant": "AI"}
        return "\n\n".join(f"{names[m['role']]}: {m['content']}" for m in self.messages)


@contextmanager
def of_room(name: str) -> Iterator[None]:
    """Work on what was said in a group, by its id; "" for a single chat, which is also the default."""
    token = _room.set(name)
    try:
        yield
    finally:
        _room.reset(token)


def _in_room(key: str) -> str:
    return f"{key}:room:{_room.get()}" if _room.get() else key


def _key(member: Member) -> str:
    return _in_room(f"talk:{member.project_id}:{member.identity}")


def _keep(key: str, value: Any) -> None:
    """Encrypted: in the embedded mode the cache is a table of the database."""
    kept = json.dumps({"at": now().timestamp(), "value": value})
    cache.set(key, encrypt(kept), LIFETIME_S)


def _recent(key: str) -> Any:
    """What was kept within the last 30 minutes by our clock, whatever the cache server's says."""
    try:
        kept = json.loads(decrypt(cache.get(key) or ""))
    except DecryptionError:  # nothing is kept, or by keys that are gone
        return None
    if now().timestamp() - kept["at"] >= LIFETIME_S:
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
    rounds = [found.messages[at : at + 2] for at in range(0, len(found.messages), 2)]
    # What is kept of a time before it was kept as typed is told without identifiers.
    bare = [[message["content"] for message in one] for one in rounds]
    told = [*bare[: len(bare) - len(found.said)], *found.said]
    allowed = [
        (one, said)
        for one, said in zip(rounds, told, strict=True)
        if not any(guard.blocks(part["content"], profile=member.identity) for part in one)
    ]
    return replace(
        found,
        messages=[message for one, _said in allowed for message in one],
        said=[said for _one, said in allowed],
    )


def remember(
    member: Member,
    *,
    question: str,
    answer: str,
    record_ids: list[str],
    talk: dict[str, Any] | None = None,
    order: dict[str, Any] | None = None,
    undo: str | None = None,
    said: tuple[str, str] | None = None,
) -> None:
    """Add a round (all but `said` must be de-identified already) and drop the oldest beyond three.

    `said`: the question and the answer as the member typed and read them, where they are others.
    `undo` None leaves what may be taken back as it is.
    """
    session = load(member)
    added = [{"role": "user", "content": question}, {"role": "assistant", "content": answer}]
    newer = replace(
        session,
        messages=[*session.messages, *added][-2 * ROUNDS :],
        said=[*session.said, [*(said or (question, answer))]][-ROUNDS:],
        record_ids=record_ids or session.record_ids,
        talk=talk or {},
        order=order,
        undo=session.undo if undo is None else undo,
    )
    _keep(_key(member), asdict(newer))
    turn_to(member)


def end(person: Person) -> None:
    """A person's next message here begins a new session, whatever study it is about."""
    members = Member.objects.filter(person=person)
    keys = [_key(member) for member in members.select_related("person__user")]
    cache.delete_many([*keys, _last_key(person.pk), _choice_key(person.pk)])


def choose_memories(member: Member, session: Session, ids: list[str]) -> None:
    """Keep what load_context chose, for this session."""
    _keep(_key(member), asdict(replace(session, chosen=ids)))


def turn_to(member: Member) -> None:
    """Take this study to be the one the person spoke in last."""
    _keep(_last_key(member.person_id), str(member.project_id))


def last_project(person: Person) -> str | None:
    """Id of the project this person last spoke in within 30 minutes."""
    found: str | None = _recent(_last_key(person.pk))
    return found


def ask_project(person: Person, text: str, codes: list[str]) -> None:
    """Keep a message until its sender has said which project it concerns."""
    _keep(_choice_key(person.pk), {"text": text, "codes": codes})


def chosen_project(person: Person, number: int) -> tuple[str, str] | None:
    """The kept message and the project code that `number` stands for; only once."""
    kept = _recent(_choice_key(person.pk))
    if not kept or not 1 <= number <= len(kept["codes"]):
        return None
    cache.delete(_choice_key(person.pk))
    return kept["text"], kept["codes"][number - 1]


def leave_choice(person: Person) -> None:
    """No number answers any more which project a kept message concerns: its sender went on without."""
    cache.delete(_choice_key(person.pk))


def _last_key(person: UUID) -> str:
    return _in_room(f"last-project:{person}")


def _choice_key(person: UUID) -> str:
    return _in_room(f"project-choice:{person}")
