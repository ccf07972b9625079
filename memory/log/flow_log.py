"""The flow log: the only module that touches `ConversationHistory` (design.md 9.2).

Engines may import `append` and `set_feedback` alone. People read through the selectors here; only the
weekly report job may ask for text that goes to an LLM.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from memory.log.rating_result import Rated
from memory.models import ConversationHistory
from projects.models import Member, Project
from projects.scoping import User

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


def append(
    *, project: Project, user_id: str, turn: Turn, at: datetime, answer_id: UUID | None = None
) -> UUID:
    """Add the user's and the assistant's row; returns the id of the assistant's (feedback concerns it).

    `answer_id`: that id, where somebody was told it already.
    """
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
    answered.pk = answer_id or answered.pk
    Row.objects.bulk_create([asked, answered])
    return answered.pk


def set_feedback(
    *,
    project: Project,
    user_id: str,
    feedback: str | None,
    reason: str | None = None,
    conversation_id: UUID | str | None = None,
) -> Rated | None:
    """Store 👍/👎 on the user's last answer, or on the one a card names; the latest wins.

    A 👎 once more without a reason keeps the one given before. None when there is no such answer of this
    user (decisions.md, "feedback").
    """
    answers = Row.objects.filter(project=project, user_id=user_id, role=Row.Role.ASSISTANT)
    # A thank-you for feedback is no answer: the reason that follows concerns the one before.
    answers = answers.exclude(intent="feedback")
    if conversation_id is not None:
        answers = answers.filter(pk=conversation_id)
    last = answers.order_by("-created_at").only("feedback", "feedback_reason").first()
    if last is None:
        return None
    if reason is None and feedback == last.feedback:
        reason = last.feedback_reason
    changed = Row.objects.filter(pk=last.pk).update(feedback=feedback, feedback_reason=reason)
    return Rated(last.feedback) if changed else None


def feedback_counts(
    project: Project, since: datetime, until: datetime, user_id: str = ""
) -> list[tuple[str, str, str, int]]:
    """(user, feedback, reason or "", how often) of the answers (to one user) between two times; no text."""
    rows = Row.objects.filter(
        project=project, created_at__gte=since, created_at__lt=until, feedback__isnull=False
    )
    rows = rows.filter(user_id=user_id) if user_id else rows
    counted = rows.values("user_id", "feedback", "feedback_reason")
    return [
        (row["user_id"], row["feedback"] or "", row["feedback_reason"] or "", row["times"])
        for row in counted.annotate(times=Count("pk")).order_by(
            "user_id", "feedback", "feedback_reason"
        )
    ]


@dataclass(frozen=True)
class Complaint:
    """A 👎 with its reason: which answer, of whom, and when the answer was given; no text."""

    id: str
    user_id: str
    reason: str
    at: datetime


def complaints(project: Project) -> list[Complaint]:
    """Every 👎 with a reason that the log still holds, oldest first."""
    rows = Row.objects.filter(
        project=project, feedback=Feedback.DOWN, feedback_reason__isnull=False
    )
    found = rows.order_by("created_at", "pk").values_list(
        "pk", "user_id", "feedback_reason", "created_at"
    )
    return [Complaint(str(pk), user_id, reason or "", at) for pk, user_id, reason, at in found]


def newest(project: Project) -> datetime | None:
    """When the last row was written that the log still holds."""
    rows = Row.objects.filter(project=project).order_by("-created_at")
    return rows.values_list("created_at", flat=True).first()


def messages(project: Project, since: datetime, until: datetime) -> int:
    """How many messages people sent between two times."""
    rows = Row.objects.filter(project=project, created_at__gte=since, created_at__lt=until)
    return rows.filter(role=Row.Role.USER).count()


@dataclass(frozen=True)
class Cursor:
    """A place in the log: behind this row."""

    at: datetime
    id: UUID


@dataclass(frozen=True)
class Said:
    """A row with its text; only the weekly report job reads it (design.md 9.2)."""

    cursor: Cursor
    user_id: str
    is_user: bool
    text: str
    record_ids: tuple[str, ...]


def for_report(
    project: Project, since: datetime, until: datetime, *, after: Cursor | None, most: int
) -> list[Said]:
    """The next rows of a period with their text, for the weekly report alone."""
    rows = _behind(project, since, until, after).order_by("created_at", "pk")[:most]
    return [_said(row) for row in rows]


def left(project: Project, since: datetime, until: datetime, after: Cursor | None) -> int:
    """How many rows of a period lie behind a place."""
    return _behind(project, since, until, after).count()


def _behind(
    project: Project, since: datetime, until: datetime, after: Cursor | None
) -> QuerySet[Row]:
    rows = Row.objects.for_all(project).filter(created_at__gte=since, created_at__lt=until)
    if after is None:
        return rows
    later = Q(created_at__gt=after.at) | Q(created_at=after.at, pk__gt=after.id)
    return rows.filter(later, created_at__gte=after.at)


def _said(row: Row) -> Said:
    entities = row.entities if isinstance(row.entities, dict) else {}
    named = [row.record_id, *(entities.get("record_ids") or [])]
    return Said(
        cursor=Cursor(row.created_at, row.pk),
        user_id=row.user_id,
        is_user=row.role == Row.Role.USER,
        text=row.content,
        record_ids=tuple(dict.fromkeys(str(found) for found in named if found)),
    )


@dataclass(frozen=True)
class Deleted:
    """Rows that were deleted, and each user's (👍, 👎) among them."""

    rows: int
    feedback: Mapping[str, tuple[int, int]]


def delete_some(project: Project, since: datetime, until: datetime, *, most: int) -> Deleted:
    """Delete at most `most` rows of a period, oldest first; in the caller's transaction."""
    rows = Row.objects.filter(project=project, created_at__gte=since, created_at__lt=until)
    chosen = list(
        rows.order_by("created_at", "pk").values_list("pk", "created_at", "user_id", "feedback")[
            :most
        ]
    )
    up = Counter(user for _pk, _at, user, value in chosen if value == Feedback.UP)
    down = Counter(user for _pk, _at, user, value in chosen if value == Feedback.DOWN)
    if not chosen:
        return Deleted(0, {})
    # The times let PostgreSQL look into the right months only.
    gone = rows.filter(
        pk__in=[row[0] for row in chosen],
        created_at__gte=chosen[0][1],
        created_at__lte=chosen[-1][1],
    )
    count, _by_model = gone.delete()
    return Deleted(count, {user: (up[user], down[user]) for user in {*up, *down}})


def for_member(member: Member) -> QuerySet[Row]:
    """What a member may read."""
    return Row.objects.for_member(member)


def for_user(user: User) -> QuerySet[Row]:
    """What a console user may read."""
    return Row.objects.for_user(user)
