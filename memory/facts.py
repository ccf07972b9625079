"""What users said about themselves, and proposals about others (decisions.md, "remember").

The Memory Manager extends this; here a statement is kept with its own words as evidence.
"""

from __future__ import annotations

from integrations import tokens
from memory.models import UserMemory
from memory.tombstones import Guard
from projects import audit
from projects.models import Member

LIMIT = 300
IMPORTANCE = {UserMemory.Kind.FACT: 70, UserMemory.Kind.PREFERENCE: 60, UserMemory.Kind.INTENT: 80}
PROPOSAL = "proposal"


def own(member: Member) -> str:
    """The reader's own active facts, most important first, at most 300 tokens; never proposals."""
    rows = UserMemory.objects.filter(
        project_id=member.project_id, user_id=member.identity, superseded_by=None
    ).exclude(category=PROPOSAL)
    guard = Guard(member.project)
    said = [
        content
        for content in rows.values_list("content", flat=True)[:40]
        if not guard.blocks(content, profile=member.identity)
    ]
    text = "\n".join(f"- {content}" for content in said)
    return tokens.cut(text, LIMIT) if text else ""


def remember(*, member: Member, statement: str, about_self: bool) -> UserMemory:
    """Keep a statement; about others or the study it stays a proposal. Inside the caller's transaction.

    The same words are kept once. What an editor removed is a proposal whoever says it (decisions.md, "who
    may edit").
    """
    about_self = about_self and not Guard(member.project).blocks(statement, profile=member.identity)
    category = "" if about_self else PROPOSAL
    kind = UserMemory.Kind.PREFERENCE
    kept, created = UserMemory.objects.get_or_create(
        project_id=member.project_id,
        user_id=member.identity,
        content=statement,
        category=category,
        superseded_by=None,
        defaults={
            "memory_type": kind,
            "importance": IMPORTANCE[kind],
            "field": "statement",
            "value": None,
            "evidence": statement,
        },
    )
    if created:
        audit.record(
            "memory.propose",
            actor=member,
            project=member.project,
            subject=kept,
            new={"category": category or "own"},
        )
    return kept
