"""The flow log: the only module that touches `ConversationHistory` (design.md 9.2).

Engines may import `append` and `set_feedback` alone. People read through the selectors here; only the
weekly report job may ask for text that goes to an LLM.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Q, QuerySet

from memory.models import ConversationHistory, FeedbackTally, WeeklyNote
from projects.models import Member, Project
from projects.scoping import User

Row = ConversationHistory
Feedback = Row.Feedback
Reason = Row.Reason
_EVER = (datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))


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


@dataclass(frozen=True)
class Rated:
    """An answer that was rated; `before`: the feedback it had until then, `reason`: the one it has now."""

    answer_id: UUID
    before: str | None
    reason: str | None = None

    def wants_reason(self, feedback: str | None, reason: str | None) -> bool:
        """Whether to ask for the reason of this feedback: of a bare 👎, and once."""
        return feedback == Feedback.DOWN != self.before and reason is None


def set_feedback(
    *,
    project: Project,
    user_id: str,
    feedback: str | None,
    reason: str | None = None,
    conversation_id: UUID | str | None = None,
    until: datetime | None = None,
) -> Rated | None:
    """Store 👍/👎 on the user's last answer (`until` a time), or on the one a card names; the latest wins.

    A 👎 once more without a reason keeps the one given before. None when there is no such answer of this
    user (decisions.md, "feedback").
    """
    answers = Row.objects.filter(project=project, user_id=user_id, role=Row.Role.ASSISTANT)
    # A thank-you for feedback is no answer: the reason that follows concerns the one before.
    answers = answers.exclude(intent="feedback")
    if conversation_id is not None:
        answers = answers.filter(pk=conversation_id)
    if until is not None:
        answers = answers.filter(created_at__lt=until)
    last = answers.order_by("-created_at").only("feedback", "feedback_reason").first()
    if last is None:
        return None
    if reason is None and feedback == last.feedback:
        reason = last.feedback_reason
    changed = Row.objects.filter(pk=last.pk).update(feedback=feedback, feedback_reason=reason)
    return Rated(last.pk, last.feedback, reason) if changed else None


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
class Given:
    """How often a user said 👍 and 👎."""

    up: int
    down: int

    def __str__(self) -> str:
        """`👍 12 / 👎 1`"""
        return f"👍 {self.up} / 👎 {self.down}"


def feedback_of(member: Member) -> str | None:
    """`👍 12 / 👎 1` of one member; None without any."""
    mine = feedback_given(member.project, member.identity).get(member.identity)
    return str(mine) if mine else None


def feedback_given(project: Project, user_id: str = "") -> dict[str, Given]:
    """{user: counts} of everybody who gave feedback, or of one user; deleted answers included."""
    up: Counter[str] = Counter()
    down: Counter[str] = Counter()
    tallies = FeedbackTally.objects.filter(project=project)
    for tally in tallies.filter(user_id=user_id) if user_id else tallies:
        up[tally.user_id] += tally.up
        down[tally.user_id] += tally.down
    for by, value, _reason, times in feedback_counts(project, *_EVER, user_id):
        (up if value == Feedback.UP else down)[by] += times
    users = sorted({*up, *down})
    return {user: Given(up[user], down[user]) for user in users if up[user] or down[user]}


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


def newest_at(project: Project) -> datetime | None:
    """When the last row was written that the log still holds."""
    rows = Row.objects.filter(project=project).order_by("-created_at")
    return rows.values_list("created_at", flat=True).first()


def messages(project: Project, since: datetime, until: datetime) -> int:
    """How many messages people sent between two times."""
    rows = Row.objects.filter(project=project, created_at__gte=since, created_at__lt=until)
    return rows.filter(role=Row.Role.USER).count()


def for_report(
    project: Project, since: datetime, until: datetime, *, after: WeeklyNote | None, most: int
) -> list[Row]:
    """The next rows of a period behind the last note, with their text: for the weekly report alone."""
    return [*_behind(project, since, until, after).order_by("created_at", "pk")[:most]]


def left(project: Project, since: datetime, until: datetime, after: WeeklyNote | None) -> int:
    """How many rows of a period lie behind the last note."""
    return _behind(project, since, until, after).count()


def _behind(
    project: Project, since: datetime, until: datetime, note: WeeklyNote | None
) -> QuerySet[Row]:
    rows = Row.objects.for_all(project).filter(created_at__gte=since, created_at__lt=until)
    if note is None:
        return rows
    later = Q(created_at__gt=note.until_at) | Q(created_at=note.until_at, pk__gt=note.until_id)
    return rows.filter(later, created_at__gte=note.until_at)


def delete_some(project: Project, since: datetime, until: datetime, *, most: int) -> int:
    """Delete at most `most` rows of a period, oldest first, in the caller's transaction; returns how many.

    Each user's 👍/👎 among them stays as a tally.
    """
    rows = Row.objects.filter(project=project, created_at__gte=since, created_at__lt=until)
    ordered = rows.order_by("created_at", "pk")
    chosen = list(ordered.values_list("pk", "created_at", "user_id", "feedback")[:most])
    if not chosen:
        return 0
    given = Counter((user, value) for _pk, _at, user, value in chosen if value)
    for user in sorted({user for user, _value in given}):
        tally, _new = FeedbackTally.objects.get_or_create(project=project, user_id=user)
        FeedbackTally.objects.filter(pk=tally.pk).update(
            up=F("up") + given[user, Feedback.UP], down=F("down") + given[user, Feedback.DOWN]
        )
    # The times let PostgreSQL look into the right months only.
    gone = rows.filter(
        pk__in=[row[0] for row in chosen],
        created_at__gte=chosen[0][1],
        created_at__lte=chosen[-1][1],
    )
    return gone.delete()[0]


def for_member(member: Member) -> QuerySet[Row]:
    """What a member may read."""
    return Row.objects.for_member(member)


def for_user(user: User) -> QuerySet[Row]:
    """What a console user may read."""
    return Row.objects.for_user(user)
