"""What users said about themselves, and proposals about others (decisions.md, "remember").

A statement is kept at once with its own words as evidence; the Memory Manager reads its fields afterwards. A
field has one value, and the newest word is its user's: an older statement, and the line of their profile in
hot memory, give way to it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from core.integrations import tokens
from core.language import clock_times
from core.language.values import PLACEHOLDER
from memory import length, session
from memory.hot import distill
from memory.hot.tombstones import Guard
from memory.models import UserMemory
from memory.people import clauses, fact_store, forgotten
from memory.people.clauses import letters_of
from memory.people.schemas import IMPORTANCE, Slot, current, load, pattern
from memory.visibility import Scope
from projects import audit
from projects.models import Member

LIMIT = 300
# One long statement leaves room for others.
_LINE = 90
_MOST = 40
_OF_REPORTS = re.compile(r"[周月季年日简]报|报告|总结|摘要|邮件")
_LABEL = re.compile("[:\uff1a]")
# "不对", "改一下": says nothing besides.
_FEW = 3


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
    bans = length.limit(row.content) is not None
    return not bans, -row.created_at.timestamp() if bans else 0.0


def length_limit(facts: str) -> int | None:
    """Characters a reply may have by what `own` gave; the reader's newest word holds.

    How long a report is to be says nothing of replies.
    """
    lines = [line for line in facts.split("\n") if not _OF_REPORTS.search(line)]
    return next((found for line in lines if (found := length.limit(line))), None)


def remember(*, member: Member, statement: str, about_self: bool) -> UserMemory:
    """Keep a statement; about others or the study it stays a proposal, which
    stands before the editors at once. Inside the caller's transaction.

    What stands for an identifier ([电话#1]) loses its number, which means something else in the next request.
    The same words are kept once. What an editor removed is a proposal whoever says it (decisions.md, "who
    may edit"); what the user had forgotten is welcome again.
    """
    statement = PLACEHOLDER.sub(lambda found: f"[{found[1]}]", statement)
    forgotten.lift(member, statement)
    is_own = about_self and not _removed(member, statement)
    category = "" if is_own else UserMemory.PROPOSAL
    same = fact_store.rows_of(member).filter(category=category, superseded_by=None)
    if kept := next((row for row in same if row.content == statement), None):
        return kept
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
    told = {"category": category or "own"}
    audit.record("memory.propose", actor=member, project=member.project, subject=kept, new=told)
    if not is_own:
        distill.propose_now(project=member.project, row=kept)
    return kept


def _removed(member: Member, statement: str) -> bool:
    """Whether an editor removed what it says, in these words or as the line of a profile reads."""
    guard = Guard(member.project)
    times = ((slot, _time_said(slot, statement)) for slot in current().said)
    said = [statement, *(f"{slot.label}: {time}" for slot, time in times if time)]
    return any(guard.blocks(text, profile=member.identity) for text in said)


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
    """Rows without the statements of nothing but a time, where a newer row says another one."""
    slots = [slot for slot in current().said if slot.kind == "time" and not slot.many]
    return [row for row in rows if not any(_overruled(slot, row, rows) for slot in slots)]


def _overruled(slot: Slot, row: UserMemory, rows: Sequence[UserMemory]) -> bool:
    if not row.is_statement or not (said := _time_said(slot, row.content)):
        return False
    cue = pattern(slot.cue)
    parts = clauses.split(clauses.folded(row.content))
    if not all(cue.search(part.text) or len(letters_of(part.text)) <= _FEW for part in parts):
        return False
    newer = (other for other in rows if other.created_at > row.created_at)
    return any(_time_of(slot, other) not in ("", said) for other in newer)


def _time_of(slot: Slot, row: UserMemory) -> str:
    """The time that a row keeps for a field; "" for none, and of a proposal."""
    if row.is_proposal:
        return ""
    if row.is_statement:
        return _time_said(slot, row.content)
    detail = fact_store.details(row).get(slot.name)
    return _clock(str(detail["value"])) if detail else ""


def _time_said(slot: Slot, statement: str) -> str:
    """ "16:00" of "以后下午四点通知我"; "" of a statement that does not speak of it."""
    text = clauses.folded(statement)
    cued = slot.kind == "time" and pattern(slot.cue).search(text)
    barred = slot.bars and pattern(slot.bars).search(text)
    return _clock(text) if cued and not barred else ""


def _clock(text: str) -> str:
    found = clock_times.parse(text)
    return f"{found:%H:%M}" if found else ""
