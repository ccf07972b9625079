"""Forgetting: what a user means by "忘掉…", and rows that are gone for good (issue 4).

Old text does not bring them back (decisions.md, "deleted line").
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.timezone import now

from memory.hot import save, similarity, text, tombstones
from memory.hot.text import Kind
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
from memory.people.grounding import Grounded
from memory.people.quotes import letters_of
from memory.people.schemas import Schema, aliases, current, pattern
from projects import audit
from projects.models import Member, Project

_FILLERS = re.compile(
    r"^(?:关于|有关|你?(?:记得|记住|记下|记|存)的|我?(?:之前|以前|上次)?(?:说过?|告诉你|讲过?|提[到过]?)的|我(?:之前|以前|上次)?(?:说过?|告诉你|讲|提)"
    r"|[那这](?:个|条|句|段|些|件)|我的?|本人的?|about|my|that|the|\s)+"
    r"|(?:的)?(?:信息|记忆|资料|情况|内容|消息|[那这]件事|这事|的事情?|事情?|记录|\s)+$|(?:^|的|句|段|些)话$"
    r"|(?:^|\s)(?:(?:about|of)\s)?me$",
    re.IGNORECASE,
)
_MINE = re.compile(r"我|本人|\b(?:my|me)\b", re.IGNORECASE)
_ALL = re.compile(r"一切|所有|全部|每一条|everything|\ball\b", re.IGNORECASE)
_RECENT = re.compile(r"刚才|刚刚|上一句|上句|just (?:now|said)", re.IGNORECASE)
_THAT = re.compile(r"[那这]|\b(?:that|this)\b", re.IGNORECASE)
_JUST = timedelta(minutes=30)
_LEAST = 2


@dataclass(frozen=True)
class Pick:
    """A row, and which of its fields go; none named: all of it."""

    row: UserMemory
    fields: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Wish:
    """What a user wants forgotten: `words` as they name it, and the fields that are called so.

    Without words it is what was said since `since`, or `everything`, or nothing at all.
    """

    words: str
    fields: frozenset[str] = frozenset()
    since: datetime | None = None
    everything: bool = False


def wish_of(what: str) -> Wish:
    """What the user's words mean; "just now" and "all" count where they name nothing besides."""
    words = _bare(_ALL.sub("", _RECENT.sub("", what)))
    if words:
        named = (slot for slot in current().fields if words in slot.names)
        return Wish(words, frozenset(slot.name for slot in named))
    if _RECENT.search(what):
        return Wish("", since=now() - _JUST)
    mine = _MINE.search(what) and not _THAT.search(what)
    return Wish("", everything=bool(_ALL.search(what) or mine))


def matching(member: Member, wish: Wish) -> list[Pick]:
    """The rows, older values too, that the user means; none for words that name nothing."""
    rows = list(fact_store.rows_of(member))
    if wish.since or wish.everything:
        return [Pick(row) for row in rows if not wish.since or row.created_at >= wish.since]
    schema = current()
    if wish.fields:
        return _by_field(schema, rows, wish.fields)
    return [pick for row in rows if (pick := _by_words(schema, row, wish.words))]


def asked_fields(member: Member, wish: Wish) -> set[str]:
    """The fields that the user means, those of open questions among them."""
    open_ones = MemoryQuestion.objects.filter(project=member.project, user_id=member.identity)
    if wish.since:
        open_ones = open_ones.filter(created_at__gte=wish.since)
    meant = {
        row.field
        for row in open_ones
        if wish.since
        or wish.everything
        or any(_says(option["quote"], wish.words) for option in row.options)
    }
    return {*meant, *wish.fields}


def own_lines(member: Member, wish: Wish, content: str) -> list[str]:
    """The lines of the user's own profile in a hot memory that the user means; when they came, nobody knows."""
    # The study's rules are nobody's own, wherever they stand.
    own = [
        line.text
        for line in text.lines(content)
        if line.is_content
        and line.profile == member.identity.casefold()
        and line.kind is not Kind.RULES
    ]
    if wish.everything:
        return own
    slots = [slot for slot in current().fields if slot.name in wish.fields]
    names = {wish.words, *(name for slot in slots for name in slot.names)}
    # `- **偏好**: 简洁` is called 偏好.
    called = {line: letters_of(re.split("[:\uff1a]", line, maxsplit=1)[0]) for line in own}
    return [line for line in own if called[line] in names or _says(line, wish.words)]


def _says(text: str, wanted: str) -> bool:
    said = letters_of(wanted)
    if len(said) < _LEAST:
        return False
    return said in letters_of(text) or similarity.repeats(
        similarity.pieces(wanted), similarity.pieces(text)
    )


def _bare(what: str) -> str:
    """The words without "我的", "你记得的", "信息" and the like."""
    left, before = what.strip(), ""
    while left != before:
        before, left = left, _FILLERS.sub("", left).strip(" 的了吧,。!")
    return left


def _by_field(schema: Schema, rows: list[UserMemory], named: Set[str]) -> list[Pick]:
    """The rows that hold such a field, and statements, which hold none, that speak of it or say its value."""
    picks = [
        _pick(row, fields) for row in rows if (fields := named & fact_store.details(row).keys())
    ]
    cues = [pattern(slot.cue) for slot in schema.fields if slot.name in named and slot.cue]
    values = [(pick.row, name) for pick in picks for name in named & pick.row.details.keys()]
    return picks + [
        Pick(row)
        for row in rows
        if row.is_statement
        and not row.is_proposal
        and (
            any(cue.search(row.content) for cue in cues)
            or any(_spelled(schema, of, name, row.content) for of, name in values)
        )
    ]


def _by_words(schema: Schema, row: UserMemory, wanted: str) -> Pick | None:
    if len(letters_of(wanted)) < _LEAST:
        return None
    if fields := {name for name in row.details if _spelled(schema, row, name, wanted)}:
        return _pick(row, fields)
    texts = [row.content, *row.evidence.split("\n")]
    return Pick(row) if any(_says(text, wanted) for text in texts) else None


def _pick(row: UserMemory, fields: Set[str]) -> Pick:
    return Pick(row, frozenset() if fields == fact_store.details(row).keys() else frozenset(fields))


def holds(member: Member, line: str, one: Grounded, at: datetime) -> bool:
    """Whether something was forgotten and this message, sent `at`, is no newer than that.

    A later message of the same user lifts it; inside the caller's transaction.
    """
    key = {_value_key(member.identity, one.slot.name, one.plain)}
    guard = Guard(member.project, member.identity)
    stones = guard.of_user(line, evidence=key)
    if any(stone.at >= at for stone in stones):
        return True
    _lift_stones(member, stones)
    return False


def lift(member: Member, statement: str) -> None:
    """The user says it again, word for word or alike; inside the caller's transaction."""
    _lift_stones(member, Guard(member.project, member.identity).of_user(statement))


def _lift_stones(member: Member, stones: Sequence[Stone]) -> None:
    rows = MemoryTombstone.objects.filter(pk__in=[stone.pk for stone in stones])
    if stones:
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
    found = {pick.row.pk: pick for pick in picks}
    whole = [pick.row for pick in found.values() if not _kept(pick)]
    given = [*(found | {row.pk: Pick(row) for row in fact_store.older(whole)}).values()]
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


def erase_lines(
    *, project: Project, user_id: str, lines: Sequence[str], actor: object, reason: str = ""
) -> None:
    """Take lines out of the user's own profile in hot memory; inside the caller's transaction.

    With them go the proposals that made them; no job brings them back, the user may say it again.
    """
    if not lines:
        return
    for line in lines:
        keys = tombstones.evidence_for(project, line, user_id.casefold())
        _stone(project, user_id, line, keys, actor)
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
        _stone(project, user_id, row.content, tombstones.of_memory(str(row.pk), row.content), actor)
    for name, detail in row.details.items():
        if pick.fields and name not in pick.fields:
            continue
        line = fact_store.as_line(schema, name, detail)
        keys = {_value_key(user_id, name, detail["plain"])}
        if not _kept(pick):
            keys |= tombstones.of_memory(str(row.pk), row.content)
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
    lost = [one for name in row.details.keys() - kept for one in _spellings(schema, row, name)]
    of = schema.row(next(iter(kept)))
    left = {name: dict(row.details[name]) for name in of.fields if name in kept}
    for detail in left.values():
        # A quote may repeat what was forgotten.
        for key in ("quote", "context"):
            if any(one in letters_of(detail.get(key, "")) for one in lost if one):
                detail[key] = ""
    UserMemory.objects.filter(pk=row.pk).update(details=left, **fact_store.columns(of, left))


def _spellings(schema: Schema, row: UserMemory, name: str) -> list[str]:
    """A value as it may stand in a message: in full, as said, its short names."""
    detail, slot = row.details[name], schema.slot(name)
    full = str(detail["value"])
    table = aliases(slot.aliases) if slot and slot.aliases else {}
    shorts = [short for short, long in table.items() if long == full]
    return [letters_of(text) for text in dict.fromkeys([full, detail["said"], *shorts])]


def _spelled(schema: Schema, row: UserMemory, name: str, wanted: str) -> bool:
    """Whether a user's words name the value of a field."""
    said = letters_of(wanted)
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
