"""The end of a session: its user's profile is summarized, at most once (decisions.md, "004 trigger table")."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import F, Q
from django.utils.timezone import now

from memory.agent import actions, book
from memory.models import UserProfile
from memory.session import LIFETIME_S
from projects.db import atomic
from projects.models import Member


def spoken(member: Member, at: datetime) -> None:
    """The member said something at that time; inside the caller's transaction."""
    mine = UserProfile.objects.filter(project_id=member.project_id, user_id=member.identity)
    if not mine.update(last_at=at):
        UserProfile.objects.get_or_create(
            project_id=member.project_id, user_id=member.identity, defaults={"last_at": at}
        )


def summarize_ended() -> int:
    """Summarize the sessions that ended since; returns how many."""
    ended = Q(last_at__lt=now() - timedelta(seconds=LIFETIME_S))
    fresh = Q(summarized_at=None) | Q(summarized_at__lt=F("last_at"))
    return sum(_summarize(row) for row in UserProfile.objects.filter(ended & fresh)[:500])


def _summarize(row: UserProfile) -> bool:
    """The claim comes first: a session that fails is not summarized a second time."""
    mine = UserProfile.objects.filter(
        pk=row.pk, last_at=row.last_at, summarized_at=row.summarized_at
    )
    if not mine.update(summarized_at=now()):
        return False
    member = next(
        (m for m in Member.objects.filter(project_id=row.project_id) if m.identity == row.user_id),
        None,
    )
    if member is None or not book.active(member).exists():
        return False
    done = actions.summarize(member)
    with atomic():
        UserProfile.objects.filter(pk=row.pk).update(
            profile=done.user_profile,
            completeness=done.completeness.model_dump(),
            narrative=done.narrative_summary,
        )
    return True
