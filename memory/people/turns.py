"""What happens once a reply is stored, and never touches it (seed 004, 8; decisions.md, "004 trigger table").

A turn is the user's words on their way to `save_info`. The row is the truth, the broker only wakes; who moves
`due_at` may work, and what is stored and the end of the row are one transaction, so a turn counts once
however often it is delivered. A session begins with the memories that hold for all of it; when it has ended,
the profile is summarized, once.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import DatabaseError
from django.db.models import F, Q
from django.utils.timezone import now

from core.house.db import after_commit, atomic
from core.llm.job_llm import ModelDown
from memory import session
from memory.models import MemoryTurn, UserProfile
from memory.people import actions, fact_store, screen
from memory.people.actions import SaveInput, SaveOutput
from projects.models import Member

logger = logging.getLogger(__name__)
# The first try, then ever longer: a model that is down stays down for a while.
_LEASE = timedelta(minutes=5)
_MOST_DOUBLINGS = 5


def after_reply(member: Member, text: str, *, at: datetime, wake: Callable[[int], object]) -> None:
    """Note that the member spoke and on which memories; keep what says something new for `save_info`."""
    try:
        with atomic():
            _spoken(member, at)
        begun(member, text, at)
    except DatabaseError as error:
        logger.warning("Session not noted: %s", type(error).__name__)
    try:
        if screen.has_news(member, text):
            with atomic():
                turn = MemoryTurn.objects.create(
                    project_id=member.project_id,
                    user_id=member.identity,
                    user_message=text,
                    created_at=at,
                    due_at=now(),
                )
                after_commit(lambda: wake(turn.pk))
    except Exception as error:
        # Type only: a message could quote the words it choked on.
        logger.warning("Memory turn not kept: %s", type(error).__name__)


def _spoken(member: Member, at: datetime) -> None:
    mine = UserProfile.objects.filter(project_id=member.project_id, user_id=member.identity)
    if not mine.update(last_at=at):
        UserProfile.objects.get_or_create(
            project_id=member.project_id, user_id=member.identity, defaults={"last_at": at}
        )


def begun(member: Member, question: str, at: datetime) -> None:
    """Keep for the session what load_context gave its first message, sent `at`."""
    talk = session.load(member)
    if talk.chosen is None:
        rows = fact_store.get_user_context(member, question)
        if chosen := [str(row.pk) for row in rows if row.created_at < at]:
            session.choose_memories(member, talk, chosen)


def work(turn_id: int) -> SaveOutput | None:
    """`save_info` on a turn; None where there is nothing to do (done, taken, not due, model down)."""
    turn = MemoryTurn.objects.filter(pk=turn_id).select_related("project").first()
    if turn is None or not _claimed(turn):
        return None
    member = Member.objects.of_identity(turn.project, turn.user_id)
    if member is None:
        turn.delete()
        return None
    given = SaveInput(userMessage=turn.user_message)
    try:
        heard = actions.hear(member, given)
    except ModelDown as error:
        logger.info("save_info waits: %s", error)
        with atomic():
            error.save()
        return None
    with atomic():
        fact_store.claim(turn.project_id, turn.user_id)
        if not MemoryTurn.objects.filter(pk=turn.pk).delete()[0]:
            return None
        return actions.keep_heard(member, given, heard, at=turn.created_at, in_passing=True)


def _claimed(turn: MemoryTurn) -> bool:
    lease = _LEASE * 2 ** min(turn.tries, _MOST_DOUBLINGS)
    due = MemoryTurn.objects.filter(pk=turn.pk, due_at=turn.due_at, due_at__lte=now())
    return due.update(due_at=now() + lease, tries=F("tries") + 1) == 1


def due_turns() -> list[int]:
    """Turns that a lost message or a model that was down left behind."""
    return list(MemoryTurn.objects.filter(due_at__lte=now()).values_list("pk", flat=True)[:200])


def drop_old() -> None:
    """Delete turns that nobody could use within 24 hours."""
    MemoryTurn.objects.filter(created_at__lt=now() - MemoryTurn.KEPT).delete()


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
