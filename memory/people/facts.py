"""What users said about themselves, and proposals about others (decisions.md, "remember").

A statement is kept at once with its own words as evidence; the Memory Manager reads its fields afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from integrations import tokens
from language.values import PLACEHOLDER
from memory import length, session
from memory.hot import asked, superseded
from memory.hot.tombstones import Guard
from memory.models import UserMemory
from memory.people import fact_store, forgotten, tools
from memory.people.schemas import IMPORTANCE, current
from memory.visibility import Scope
from projects import audit
from projects.models import Member

LIMIT = 300
# One long statement leaves room for others.
_LINE = 90
_MOST = 40
_OF_REPORTS = re.compile(r"[周月季年日简]报|报告|总结|摘要|邮件")


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
    rows = tools.get_user_context(member, question, scope)
    if not rows:
        return []
    guard = guard or Guard(member.project, member.identity)
    kept = [
        row for row in rows if not guard.blocks(row.content, profile=member.identity, own=False)
    ]
    return superseded.holding(kept)


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

    Which ones was decided with a session's first message (`sessions.begun`); what was learned since then
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
    text = "\n".join(f"- {_cut(row.content)}" for row in ordered[:_MOST])
    return tokens.cut(text, LIMIT)


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
    about_self = about_self and not _removed(member, statement)
    category = "" if about_self else fact_store.PROPOSAL
    same = fact_store.rows(member).filter(category=category, superseded_by=None)
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
        field=fact_store.STATEMENT,
        evidence=statement,
    )
    audit.record(
        "memory.propose",
        actor=member,
        project=member.project,
        subject=kept,
        new={"category": category or "own"},
    )
    if category:
        asked.propose(project=member.project, row=kept)
    return kept


def _removed(member: Member, statement: str) -> bool:
    """Whether an editor removed what it says, in these words or as the line of a profile reads."""
    guard = Guard(member.project)
    times = ((slot, superseded.time_said(slot, statement)) for slot in current().said)
    said = [statement, *(f"{slot.label}: {time}" for slot, time in times if time)]
    return any(guard.blocks(text, profile=member.identity) for text in said)
