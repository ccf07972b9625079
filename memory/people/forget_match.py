"""Which memories a user means by "忘掉…" (issue 4)."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.timezone import now

from memory.hot import similarity, text
from memory.hot.text import Kind, Line
from memory.models import MemoryQuestion, UserMemory
from memory.people import fact_store
from memory.people.forgotten import Pick, spelled
from memory.people.grounding import plain
from memory.people.schemas import (
    Schema,
    Slot,
    current,
    pattern,
)
from projects.models import Member

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
class Wish:
    """What a user wants forgotten: `words` as they name it, and the fields that are called so.

    Without words it is what was said since `since`, or `everything`, or nothing at all.
    """

    words: str
    fields: frozenset[str] = frozenset()
    since: datetime | None = None
    everything: bool = False


def read(what: str) -> Wish:
    """What the user's words mean; "just now" and "all" count where they name nothing besides."""
    words = _bare(_ALL.sub("", _RECENT.sub("", what)))
    if words:
        named = (slot for slot in current().fields if words in _names(slot))
        return Wish(words, frozenset(slot.name for slot in named))
    if _RECENT.search(what):
        return Wish("", since=now() - _JUST)
    mine = _MINE.search(what) and not _THAT.search(what)
    return Wish("", everything=bool(_ALL.search(what) or mine))


def matching(member: Member, wish: Wish) -> list[Pick]:
    """The rows, older values too, that the user means; none for words that name nothing."""
    rows = list(fact_store.rows(member))
    if wish.since or wish.everything:
        return [Pick(row) for row in rows if not wish.since or row.created_at >= wish.since]
    schema = current()
    if wish.fields:
        return _by_field(schema, rows, wish.fields)
    return [pick for row in rows if (pick := _by_words(schema, row, wish.words))]


def asked(member: Member, wish: Wish) -> set[str]:
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


def lines(member: Member, wish: Wish, content: str) -> list[str]:
    """The lines of the user's own profile in a hot memory that the user means; when they came, nobody knows."""
    own = [line.text for line in text.lines(content) if line.is_content and _is_own(line, member)]
    if wish.everything:
        return own
    slots = [slot for slot in current().fields if slot.name in wish.fields]
    names = {wish.words, *(name for slot in slots for name in _names(slot))}
    return [text for text in own if _key(text) in names or _says(text, wish.words)]


def _names(slot: Slot) -> tuple[str, ...]:
    return slot.name, slot.label, *slot.words


def _is_own(line: Line, member: Member) -> bool:
    """The study's rules are nobody's own, wherever they stand."""
    return line.profile == member.identity.casefold() and line.kind is not Kind.RULES


def _key(text: str) -> str:
    """`- **偏好**: 简洁` → 偏好."""
    return plain(re.split("[:\uff1a]", text, maxsplit=1)[0])


def _says(text: str, wanted: str) -> bool:
    said = plain(wanted)
    if len(said) < _LEAST:
        return False
    return said in plain(text) or similarity.repeats(
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
    told = [
        row
        for row in rows
        if row.field == fact_store.STATEMENT and row.category != fact_store.PROPOSAL
    ]
    return picks + [
        Pick(row)
        for row in told
        if any(cue.search(row.content) for cue in cues)
        or any(spelled(schema, of, name, row.content) for of, name in values)
    ]


def _by_words(schema: Schema, row: UserMemory, wanted: str) -> Pick | None:
    if len(plain(wanted)) < _LEAST:
        return None
    if fields := {name for name in row.details if spelled(schema, row, name, wanted)}:
        return _pick(row, fields)
    texts = [row.content, *row.evidence.split("\n")]
    return Pick(row) if any(_says(text, wanted) for text in texts) else None


def _pick(row: UserMemory, fields: Set[str]) -> Pick:
    return Pick(row, frozenset() if fields == fact_store.details(row).keys() else frozenset(fields))
