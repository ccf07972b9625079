"""A session's beginning, whose memories hold for all of it, and its end: the profile is summarized, once.

decisions.md, "004 trigger table".
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db.models import F, Q
from django.utils.timezone import now

from house.db import atomic
from memory import session
from memory.models import UserProfile
from memory.people import actions, fact_store, tools
from projects.models import Member


def spoken(member: Member, at: datetime) -> None:
    """The member said something at that time; inside the caller's transaction."""
    mine = UserProfile.objects.filter(project_id=member.project_id, user_id=member.identity)
    if not mine.update(last_at=at):
        UserProfile.objects.get_or_create(
            project_id=member.project_id, user_id=member.identity, defaults={"last_at": at}
        )


def begun(member: Member, question: str, at: datetime) -> None:
    """Keep for the session what load_context gave its first message, sent `at`."""
    talk = session.load(member)
    if talk.chosen is None:
        rows = tools.get_user_context(member, question)
        if chosen := [str(row.pk) for row in rows if row.created_at < at]:
            session.choose(member, talk, chosen)


def summarize_ended() -> int:
    """Summarize the sessions that ended since; returns how many."""
    ended = Q(last_at__lt=now() - timedelta(seconds=session.LIFETIME_S))
    fresh = Q(summarized_at=None) | Q(summarized_at__lt=F("last_at"))
    return sum(_summarize(row) for row in UserProfile.objects.filter(ended & fresh)[:500])


def _summarize(row: UserProfile) -> bool:
    """The claim comes first: a session that fails is not summarized a second time."""
    mine = UserProfile.objects.filter(
        pk=row.pk, last_at=row.last_at, summarized_at=row.summarized_at
    )
    if not mine.update(summarized_at=now()):
        return False
    member = Member.objects.of_identity(row.project_id, row.user_id)
    if member is None or not fact_store.active(member).exists():
        return False
    with atomic():
        # Before anything is read: what is forgotten meanwhile waits, and takes the summary along.
        fact_store.claim(row.project_id, row.user_id)
        done = actions.summarize(member)
        UserProfile.objects.filter(pk=row.pk).update(
            profile=done.user_profile,
            completeness=done.completeness.model_dump(),
            narrative=done.narrative_summary,
        )
    return True
