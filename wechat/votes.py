"""Votes on answers: the latest one counts, all of them are kept (wecom.md A11; decisions.md, "feedback")."""

from __future__ import annotations

from uuid import UUID

from engines.chat import record_feedback
from projects import audit
from projects.db import atomic
from projects.models import Member


def cast(
    *,
    member: Member,
    feedback: str | None,
    reason: str | None,
    conversation_id: UUID | str | None = None,
) -> bool:
    """Note a vote on the named answer, else on the member's last one; None withdraws it.

    False when there is no such answer of this member.
    """
    vote = {"feedback": feedback, "reason": reason, "answer": str(conversation_id or "")}
    with atomic():
        known = record_feedback(
            member=member, feedback=feedback, reason=reason, conversation_id=conversation_id
        )
        if known:
            audit.record("wechat.rated", actor=member, project=member.project, new=vote)
    return known
