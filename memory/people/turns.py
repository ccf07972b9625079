"""Turns: the user's words from a reply to `save_info` (decisions.md, Memory).

The row is the truth, the broker only wakes; who moves `due_at` may work, and what is stored and the end of
the row are one transaction, so a turn counts once however often it is delivered.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import datetime, timedelta

from django.db.models import F
from django.utils.timezone import now

from house.db import after_commit, atomic
from memory.models import MemoryTurn
from memory.people import actions, fact_store, screen
from memory.people.extraction import ExtractorDown
from memory.people.results import SaveInput, SaveOutput
from projects.models import Member

logger = logging.getLogger(__name__)
KEPT = timedelta(hours=24)
# The first try, then ever longer: a model that is down stays down for a while.
_LEASE = timedelta(minutes=5)
_MOST_DOUBLINGS = 5


def note(member: Member, text: str, *, at: datetime, wake: Callable[[int], object]) -> bool:
    """Keep a message for `save_info` if it may hold something new; True when it was kept.

    Called when the reply is stored; whatever goes wrong here does not touch it.
    """
    try:
        if not screen.has_news(member, text):
            return False
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
        return False
    return True


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
    except ExtractorDown as error:
        logger.info("save_info waits: %s", error)
        with atomic():
            error.save()
        return None
    with atomic():
        fact_store.claim(turn.project_id, turn.user_id)
        if not MemoryTurn.objects.filter(pk=turn.pk).delete()[0]:
            return None
        return actions.keep(member, given, heard, at=turn.created_at)


def _claimed(turn: MemoryTurn) -> bool:
    lease = _LEASE * 2 ** min(turn.tries, _MOST_DOUBLINGS)
    due = MemoryTurn.objects.filter(pk=turn.pk, due_at=turn.due_at, due_at__lte=now())
    return due.update(due_at=now() + lease, tries=F("tries") + 1) == 1


def due() -> list[int]:
    """Turns that a lost message or a model that was down left behind."""
    return list(MemoryTurn.objects.filter(due_at__lte=now()).values_list("pk", flat=True)[:200])


def drop_old() -> None:
    """Delete turns that nobody could use within 24 hours."""
    MemoryTurn.objects.filter(created_at__lt=now() - KEPT).delete()
