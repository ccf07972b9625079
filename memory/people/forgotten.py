"""Forgetting: rows are gone for good, and old text does not bring them back (decisions.md, "deleted line")."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.utils.timezone import now

from memory.hot import removal, save, tombstones
from memory.hot.text import Line
from memory.hot.tombstones import Guard, Stone
from memory.models import (
    MemoryProposal,
    MemoryQuestion,
    MemoryTombstone,
    MemoryTurn,
    UserMemory,
    UserProfile,
)
from memory.people import fact_store
from memory.people.grounding import Grounded, plain
from memory.people.schemas import Schema, aliases, current
from projects import audit
from projects.models import Member, Project


@dataclass(frozen=True)
class Pick:
    """A row, and which of its fields go; none named: all of it."""

    row: UserMemory
    fields: frozenset[str] = frozenset()


def holds(member: Member, line: str, one: Grounded, at: datetime) -> bool:
    """Whether something was forgotten and this message, sent `at`, is no newer than that.

    A later message of the same user lifts it; inside the caller's transaction.
    """
    key = {_value_key(member.identity, one.slot.name, one.plain)}
    guard = Guard(member.project, member.identity)
    stones = guard.of_user(line, evidence=key)
    if any(stone.at >= at for stone in stones):
        return True
    _lift(member, stones)
    return False


def lift(member: Member, statement: str) -> None:
    """The user says it again, word for word or alike; inside the caller's transaction."""
    _lift(member, Guard(member.project, member.identity).of_user(statement))


def _lift(member: Member, stones: Sequence[Stone]) -> None:
    if stones:
        rows = MemoryTombstone.objects.filter(pk__in=[stone.pk for stone in stones])
        tombstones.remove(rows, project=member.project, actor=member)


def erase(
    *,
    project: Project,
    user_id: str,
    picks: Iterable[Pick],
    actor: object,
    fields: Collection[str] = (),
    reason: str = "",
) -> None:
    """Delete what was picked with all that came of it; inside the caller's transaction and `fact_store.claim`.

    What a memory superseded goes with it: else it held again. So do messages that nobody has read yet, for
    what they hold cannot be told, and open questions about the `fields` and those picked. The trail says who
    and how many, never what.
    """
    given = _with_older(picks)
    schema = current()
    for pick in given:
        _bury(project, user_id, pick, schema, actor)
    gone = [pick.row for pick in given if not _kept(pick)]
    _withdraw(project, user_id, [pick.row for pick in given], actor)
    for pick in given:
        _drop(pick, schema)
    mine = {"project": project, "user_id": user_id}
    names = {name for pick in given for name in pick.fields or fact_store.details(pick.row)}
    MemoryTurn.objects.filter(**mine).delete()
    MemoryQuestion.objects.filter(**mine, field__in={*names, *fields}).delete()
    UserProfile.objects.filter(**mine).update(profile={}, completeness={}, narrative="")
    if given:
        audit.record(
            "memory.forget",
            actor=actor,
            project=project,
            new={"user_id": user_id, "memories": len(given), "deleted": len(gone)},
            reason=reason,
        )


def _with_older(picks: Iterable[Pick]) -> list[Pick]:
    found = {pick.row.pk: pick for pick in picks}
    whole = [pick.row for pick in found.values() if not _kept(pick)]
    return [*(found | {row.pk: Pick(row) for row in fact_store.older(whole)}).values()]


def erase_lines(
    *, project: Project, user_id: str, lines: Sequence[str], actor: object, reason: str = ""
) -> None:
    """Take lines out of the user's own profile in hot memory; inside the caller's transaction.

    With them go the proposals that made them; no job brings them back, the user may say it again.
    """
    if not lines:
        return
    for text in lines:
        keys = removal.evidence(project, Line(text, "", user_id.casefold()))
        _stone(project, user_id, text, keys, actor)
    of_user = MemoryProposal.objects.filter(project=project, profile__iexact=user_id)
    gone = [proposal.pk for proposal in of_user if proposal.new in lines]
    MemoryProposal.objects.filter(pk__in=gone).delete()
    save.erase_lines(project=project, profile=user_id, gone=lines, actor=actor)
    audit.record(
        "memory.forget",
        actor=actor,
        project=project,
        new={"user_id": user_id, "lines": len(lines)},
        reason=reason,
    )


def _kept(pick: Pick) -> frozenset[str]:
    return frozenset(pick.row.details) - pick.fields if pick.fields else frozenset()


def _bury(project: Project, user_id: str, pick: Pick, schema: Schema, actor: object) -> None:
    """One tombstone a field, so that the others of the same memory may be said again."""
    row = pick.row
    if not row.details:
        _stone(project, user_id, row.content, removal.of_memory(str(row.pk), row.content), actor)
    for name, detail in row.details.items():
        if pick.fields and name not in pick.fields:
            continue
        line = fact_store.content(schema.row(name), {name: detail})
        keys = {_value_key(user_id, name, detail["plain"])}
        if not _kept(pick):
            keys |= removal.of_memory(str(row.pk), row.content)
        _stone(project, user_id, line, keys, actor)


def _stone(project: Project, user_id: str, line: str, keys: set[str], actor: object) -> None:
    stone = tombstones.bury(
        project=project, line=line, actor=actor, profile=user_id, evidence=keys, user_id=user_id
    )
    if stone:
        # Forgotten again: only what is said after this time lifts it.
        merged = sorted({*stone.evidence, *keys})
        MemoryTombstone.objects.filter(pk=stone.pk).update(created_at=now(), evidence=merged)


def _value_key(user_id: str, field: str, value: str) -> str:
    return tombstones.evidence_of("value", f"{user_id}\n{field}\n{value}")


def _drop(pick: Pick, schema: Schema) -> None:
    """The row is deleted; where other fields of it stay, it is written over without the forgotten ones."""
    row, kept = pick.row, _kept(pick)
    if not kept:
        UserMemory.objects.filter(pk=row.pk).delete()
        return
    lost = [text for name in row.details.keys() - kept for text in _spellings(schema, row, name)]
    left = {}
    for name in schema.row(next(iter(kept))).fields:
        if name in kept:
            left[name] = _without(row.details[name], lost)
    values = {name: detail["value"] for name, detail in left.items()}
    UserMemory.objects.filter(pk=row.pk).update(
        details=left,
        field="+".join(left),
        value=values if len(values) > 1 else next(iter(values.values())),
        content=fact_store.content(schema.row(next(iter(left))), left),
        evidence="\n".join(dict.fromkeys(d["quote"] for d in left.values() if d["quote"])),
    )


def _without(detail: fact_store.Detail, lost: Sequence[str]) -> fact_store.Detail:
    """A detail whose quote does not repeat what was forgotten."""
    cleaned = {
        key: ""
        for key in ("quote", "context")
        if any(text in plain(detail.get(key, "")) for text in lost if text)
    }
    return {**detail, **cleaned}


def _spellings(schema: Schema, row: UserMemory, name: str) -> list[str]:
    """A value as it may stand in a message: in full, as said, its short names."""
    detail, slot = row.details[name], schema.slot(name)
    full = str(detail["value"])
    table = aliases(slot.aliases) if slot and slot.aliases else {}
    shorts = [short for short, long in table.items() if long == full]
    return [plain(text) for text in dict.fromkeys([full, detail["said"], *shorts])]


def spelled(schema: Schema, row: UserMemory, name: str, wanted: str) -> bool:
    """Whether a user's words name the value of a field."""
    said = plain(wanted)
    return any(len(text) > 1 and text in said for text in _spellings(schema, row, name))


def _withdraw(project: Project, user_id: str, rows: Sequence[UserMemory], actor: object) -> None:
    """The lines of the user's own profile in hot memory, and proposals, that rest on these rows."""
    if not rows:
        return
    ids = {str(row.pk) for row in rows}
    lines = []
    for proposal in MemoryProposal.objects.filter(project=project):
        cited = {item["id"] for item in proposal.evidence}
        own = proposal.profile.casefold() == user_id.casefold()
        if not cited & ids:
            continue
        if own and proposal.state == MemoryProposal.State.APPLIED:
            lines.append(proposal.new)
        if own or (cited <= ids and proposal.state != MemoryProposal.State.APPLIED):
            proposal.delete()
    if lines:
        save.erase_lines(project=project, profile=user_id, gone=lines, actor=actor)
