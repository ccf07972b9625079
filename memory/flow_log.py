"""The flow log: the only module that touches `ConversationHistory` (design.md 9.2).

Engines may import `append` and `set_feedback` alone. People read through the selectors here; only the
weekly report job may ask for text that goes to an LLM.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, QuerySet

from memory.models import ConversationHistory
from projects.access import User
from projects.models import Member, Project

Row = ConversationHistory
Feedback = Row.Feedback
Reason = Row.Reason


@dataclass(frozen=True)
class Turn:
    """One exchange: what was asked and answered, de-identified or not; the log is the raw stream."""

    question: str
    answer: str
    intent: str
    entities: Mapping[str, Any]
    record_id: str | None = None


def append(*, project: Project, user_id: str, turn: Turn, at: datetime) -> UUID:
    """Add the user's and the assistant's row; returns the id of the assistant's (feedback concerns it)."""
    shared = {
        "project": project,
        "user_id": user_id,
        "record_id": turn.record_id,
        "intent": turn.intent,
        "entities": dict(turn.entities),
        "created_at": at,
    }
    asked = Row(role=Row.Role.USER, content=turn.question, **shared)
    answered = Row(role=Row.Role.ASSISTANT, content=turn.answer, **shared)
    Row.objects.bulk_create([asked, answered])
    return answered.pk


def set_feedback(
    *,
    project: Project,
    user_id: str,
    feedback: str | None,
    reason: str | None = None,
    conversation_id: UUID | str | None = None,
) -> bool:
    """Store 👍/👎 on the user's last answer, or on the one a card names; the latest wins.

    False when there is no such answer of this user (decisions.md, "feedback").
    """
    answers = Row.objects.filter(project=project, user_id=user_id, role=Row.Role.ASSISTANT)
    # A thank-you for feedback is no answer: the reason that follows concerns the one before.
    answers = answers.exclude(intent="feedback")
    if conversation_id is not None:
        answers = answers.filter(pk=conversation_id)
    last = answers.order_by("-created_at").values_list("pk", flat=True).first()
    if last is None:
        return False
    return bool(Row.objects.filter(pk=last).update(feedback=feedback, feedback_reason=reason))


def feedback_counts(
    project: Project, since: datetime, until: datetime
) -> list[tuple[str, str, str, int]]:
    """(user, feedback, reason or "", how often) of the answers between two times; no text."""
    rows = Row.objects.filter(
        project=project, created_at__gte=since, created_at__lt=until, feedback__isnull=False
    )
    counted = rows.values("user_id", "feedback", "feedback_reason")
    return [
        (row["user_id"], row["feedback"] or "", row["feedback_reason"] or "", row["times"])
        for row in counted.annotate(times=Count("pk")).order_by(
            "user_id", "feedback", "feedback_reason"
        )
    ]


def for_member(member: Member) -> QuerySet[Row]:
    """What a member may read."""
    return Row.objects.for_member(member)


def for_user(user: User) -> QuerySet[Row]:
    """What a console user may read."""
    return Row.objects.for_user(user)
