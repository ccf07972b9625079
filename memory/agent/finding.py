"""Which memories a user means by "忘掉…" (issue 4)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import timedelta

from django.utils.timezone import now

from memory import hot_text, wording
from memory.agent import book
from memory.agent.forgotten import Pick, spelled
from memory.agent.grounding import plain
from memory.agent.schemas import Schema, current
from memory.hot_text import Kind, Line
from memory.models import UserMemory
from projects.models import Member

_FILLERS = re.compile(
    r"^(?:关于|有关|你?(?:记得|记住|记下|记|存)的|我(?:之前|以前|上次)?(?:说过?|告诉你|讲|提)(?:的|过的)?|那个|这个|那条|这条|我的?|本人的?|about|my|that|the|\s)+"
    r"|(?:的)?(?:信息|记忆|资料|情况|这件事|这事|那件事|的事情?|事情?|记录|\s)+$|\s(?:about|of) me$",
    re.IGNORECASE,
)
_MINE = re.compile(r"我|本人|\b(?:my|me)\b", re.IGNORECASE)
_EVERYTHING = re.compile(
    r"^(?:一切|所有|全部|(?:全部|所有)内容|每一条|everything|all)$", re.IGNORECASE
)
_ALL = re.compile(r"一切|所有|全部|everything|\ball\b", re.IGNORECASE)
_RECENT = re.compile(r"刚才|刚刚|上一句|上句|just (?:now|said)", re.IGNORECASE)
_JUST = timedelta(minutes=30)
_LEAST = 2


def matching(member: Member, what: str) -> list[Pick]:
    """The rows, older values too, that the user's words name; none for words that name nothing."""
    rows = list(book.rows(member))
    if _RECENT.search(what):
        return [Pick(row) for row in rows if row.created_at >= now() - _JUST]
    wanted = _bare(what)
    if _EVERYTHING.match(wanted) or (not wanted and _MINE.search(what)):
        return [Pick(row) for row in rows]
    schema = current()
    named = [slot.name for slot in schema.fields if wanted in (slot.name, slot.label, *slot.words)]
    if named:
        return list(_by_field(rows, set(named)))
    if _ALL.search(wanted):
        wanted = _ALL.sub("", wanted)
    return [pick for row in rows if (pick := _by_words(schema, row, wanted))]


def lines(member: Member, what: str, content: str) -> list[str]:
    """The lines of the user's own profile in a hot memory that the user's words name."""
    own = [
        line.text for line in hot_text.lines(content) if line.is_content and _is_own(line, member)
    ]
    wanted = _bare(what)
    if _RECENT.search(what):
        return []
    if _EVERYTHING.match(wanted) or (not wanted and _MINE.search(what)):
        return own
    wanted = _ALL.sub("", wanted).strip(" 的")
    names = {wanted} | {
        name
        for slot in current().fields
        if wanted in (slot.name, slot.label, *slot.words)
        for name in (slot.name, slot.label, *slot.words)
    }
    return [text for text in own if _key(text) in names or _says(text, wanted)]


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
    return said in plain(text) or wording.repeats(wording.pieces(wanted), wording.pieces(text))


def _bare(what: str) -> str:
    """The words without "我的", "你记得的", "信息" and the like."""
    left, before = what.strip(), ""
    while left != before:
        before, left = left, _FILLERS.sub("", left).strip(" 的了吧,。!")
    return left


def _by_field(rows: list[UserMemory], named: set[str]) -> Iterator[Pick]:
    for row in rows:
        fields = named & set(book.details(row))
        if fields:
            whole = fields == set(book.details(row))
            yield Pick(row, frozenset() if whole else frozenset(fields))


def _by_words(schema: Schema, row: UserMemory, wanted: str) -> Pick | None:
    said = plain(wanted)
    if len(said) < _LEAST:
        return None
    fields = frozenset(name for name in row.details if spelled(schema, row, name, wanted))
    if fields:
        return Pick(row, frozenset() if fields == set(row.details) else fields)
    texts = [row.content, *row.evidence.split("\n")]
    stands = any(said in plain(text) for text in texts)
    alike = any(wording.repeats(wording.pieces(wanted), wording.pieces(text)) for text in texts)
    return Pick(row) if stands or alike else None
