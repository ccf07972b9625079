"""What users said about themselves, and proposals about others (decisions.md, "remember").

A statement is kept at once with its own words as evidence; the Memory Manager reads its fields afterwards. A
field has one value, and the newest word is its user's: an older statement, and the line of their profile in
hot memory, give way to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from django.utils.translation import gettext as _

from core.integrations import tokens
from core.language import clock_times
from core.language.values import PLACEHOLDER
from memory import session
from memory.hot import distill, proposals
from memory.hot.tombstones import Guard
from memory.models import UserMemory
from memory.people import commands, fact_store, forgotten, length
from memory.people.quotes import letters_of
from memory.people.schemas import IMPORTANCE, Slot, current, load
from memory.visibility import Scope, scope_of
from projects import audit
from projects.models import Member

LIMIT = 300
# One long statement leaves room for others.
_LINE = 90
_MOST = 40
_LABEL = re.compile("[:\uff1a]")
NOTICE_TIME = "最佳通知时间"


def holding(
    member: Member,
    question: str = "",
    *,
    guard: Guard | None = None,
    scope: Scope | None = None,
) -> list[UserMemory]:
    """What the reader said of themselves and still holds; nothing that an editor removed.

    `guard`, `scope`: the member's, where this request has read them already.
    """
    rows = fact_store.get_user_context(member, question, scope)
    if not rows:
        return []
    guard = guard or Guard(member.project, member.identity)
    mine = member.identity
    return not_overruled([r for r in rows if not guard.blocks(r.content, profile=mine, own=False)])


def own(
    member: Member,
    question: str = "",
    *,
    talk: session.Session | None = None,
    guard: Guard | None = None,
    scope: Scope | None = None,
    rows: Sequence[UserMemory] | None = None,
) -> str:
    """The reader's own active facts, at most 300 tokens; never proposals.

    Which ones was decided with a session's first message (`turns.begun`); what was learned since then
    joins them, what was forgotten or removed is gone at once. `talk`, `guard`, `scope`, `rows` (as
    `holding` gives them): the member's, where this request has read them already.
    """
    guard = guard or Guard(member.project, member.identity)
    if rows is None:
        rows = holding(member, question, guard=guard, scope=scope)
    if not rows:
        return ""
    talk = talk or session.load(member, guard)
    place = {pk: at for at, pk in enumerate(talk.chosen or ())}
    ordered = sorted(rows, key=lambda row: (_bans_first(row), place.get(str(row.pk), -1)))
    return tokens.cut("\n".join(f"- {_cut(row.content)}" for row in ordered[:_MOST]), LIMIT)


@lru_cache(maxsize=2048)
def _cut(content: str) -> str:
    short = tokens.cut(content, _LINE)
    return content if short == content else f"{short}…"


def _bans_first(row: UserMemory) -> tuple[bool, float]:
    """How long answers may be stands first, newest first: it is never what is left out."""
    bans = length.wants_short(row.content) is not None
    return not bans, -row.created_at.timestamp() if bans else 0.0


def length_limit(facts: str) -> int | None:
    """Characters a reply may have by what `own` gave; the reader's newest word holds."""
    return length.newest_limit(facts.split("\n"))


class NotProposed(Exception):
    """A statement that no editor would be asked about; the message tells the user why."""


def remember(*, member: Member, statement: str, about_self: bool) -> UserMemory:
    """Keep a statement; about others or the study it stays a proposal, which
    stands before the editors at once. Inside the caller's transaction.

    What stands for an identifier ([电话#1]) loses its number, which means something else in the next request.
    The same words are kept once, but a length becomes the newest again, and what nobody has to decide on any
    more is proposed again; what the user had forgotten is welcome again (decisions.md, "who may edit"). Raises
    NotProposed.
    """
    statement = PLACEHOLDER.sub(lambda found: f"[{found[1]}]", statement)
    forgotten.lift(member, statement)
    # What an editor removed is a proposal whoever says it.
    is_own = about_self and not Guard(member.project).blocks(statement, profile=member.identity)
    category = "" if is_own else UserMemory.PROPOSAL
    same = fact_store.rows_of(member).filter(category=category, superseded_by=None)
    before = next((row for row in same if row.content == statement), None)
    if not is_own:
        _check_proposal(member, statement)
    if before and (
        length.wants_short(statement) is None
        if is_own
        else proposals.is_waiting(member.project, str(before.pk))
    ):
        return before
    kind = UserMemory.Kind.PREFERENCE
    kept = UserMemory.objects.create(
        project_id=member.project_id,
        user_id=member.identity,
        content=statement,
        category=category,
        memory_type=kind,
        importance=IMPORTANCE[kind],
        field=UserMemory.STATEMENT,
        evidence=statement,
    )
    if before:
        UserMemory.objects.filter(pk=before.pk).update(superseded_by=kept)
    told = {"category": category or "own"}
    audit.record("memory.propose", actor=member, project=member.project, subject=kept, new=told)
    if not is_own:
        distill.propose_now(project=member.project, row=kept)
    return kept


def _check_proposal(member: Member, statement: str) -> None:
    """Raises NotProposed where it is no line that anybody could still take up.

    What names a subject that the user may not see reads the same whether it stands there or not.
    """
    if distill.is_too_long(statement):
        told = _("This is too long to be proposed: please say it in at most %(most)d characters.")
        raise NotProposed(told % {"most": distill.LONGEST - len("- ")})
    if distill.is_line(member.project, statement) and scope_of(member).allows(statement):
        raise NotProposed(_("It stands in the study's memory already."))


def slot_of(line: str) -> Slot | None:
    """The field that a line of a profile gives, by its label: `- **偏好**: 简洁`."""
    schema = current()
    return schema.slot(_field_of(schema.name, line))


@lru_cache(maxsize=2048)
def _field_of(schema: str, line: str) -> str:
    """By the line itself: those of a profile come with every message."""
    label, _colon, value = _LABEL.sub(":", line, count=1).partition(":")
    said = letters_of(label)
    named = (slot.name for slot in load(schema).said if said in map(letters_of, slot.names))
    return next(named, "") if value.strip("* ") else ""


def single(line: str) -> Slot | None:
    """The same where the field has one value only."""
    slot = slot_of(line)
    return slot if slot and not slot.many else None


def is_outdated(line: str, rows: Sequence[UserMemory]) -> bool:
    """Whether a line of the user's profile gives a field of one value that the user gave themselves."""
    slot = single(line)
    return slot is not None and any(slot.name in fact_store.details(row) for row in rows)


def not_overruled(rows: Sequence[UserMemory]) -> list[UserMemory]:
    """Rows without the statements of nothing but a notification time, where a newer row says another one."""
    times = [(row, _notice_time(row)) for row in rows]
    return [
        row
        for row, said in times
        if not (row.is_statement and said)
        or not any(
            time not in ("", said) and one.created_at > row.created_at for one, time in times
        )
    ]


def _notice_time(row: UserMemory) -> str:
    """The notification time that a row keeps; "" for none, and of a proposal."""
    if row.is_proposal:
        return ""
    detail = {} if row.is_statement else fact_store.details(row).get(NOTICE_TIME, {})
    said = str(detail["value"]) if detail else ""
    clock = commands.notice_time(row.content) if row.is_statement else clock_times.parse(said)
    return f"{clock:%H:%M}" if clock else ""
