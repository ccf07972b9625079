"""Working the inbox: every accepted question ends in exactly one final reply (decisions.md).

Rows of one sender are handled one at a time in the order of their ids. A task that is delivered twice, or a
worker that is killed anywhere, changes nothing: claims and endings are conditional UPDATEs.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import translation
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.db import atomic
from core.house.leases import LEASE
from engines.assistant.texts import FAILED
from engines.models import Review
from projects.models import Member
from wechat.inbound import events, groups, invitations, not_read, pending, strangers, votes
from wechat.inbound.commands import Command, Decide, Feedback, read_command
from wechat.inbound.job import CHANNELS, Job, LostLease, close, kept, mine, reply
from wechat.inbound.questions import ask
from wechat.models import InboxMessage
from wechat.outbound import alerts
from wechat.reviews.decisions import decide
from wechat.reviews.shown import last_seen

logger = logging.getLogger(__name__)

Status = InboxMessage.Status
MAX_ATTEMPTS = 3
BACKOFF_S = (2, 10)
# A row that has just come in has its wake under way.
SWEEP_AFTER = timedelta(seconds=10)
SPOKEN = ("text", "voice", "mixed")
MOST_CHARS = 10_000
"""Of one question, as in the API; WeCom's own are shorter by far."""


def process(pk: int) -> int | None:
    """Handle one row if it is this worker's turn; the sender's next due row, if any."""
    row = claim(pk)
    if row is None:
        return None
    speaker = Member.objects.active_of(row.from_user).first()
    # A stranger is spoken to in the house's language.
    language = speaker.language if speaker else settings.LANGUAGE_CODE
    try:
        with kept(row), translation.override(language):
            _handle(row, speaker)
    except LostLease:
        logger.warning("inbox %s: lease lost", row.pk)
        return None
    return _following(row.from_user)


def claim(pk: int) -> InboxMessage | None:
    """The row, leased to the caller; None while it is not due, taken, done or behind an older one."""
    at = now()
    # Two workers see the same row: the UPDATE lets one of them have it.
    claimed = InboxMessage.objects.filter(_due(at), ~Exists(_older()), pk=pk).update(
        status=Status.PROCESSING,
        lease_until=at + LEASE,
        fence=F("fence") + 1,
        attempts=F("attempts") + 1,
    )
    return InboxMessage.objects.get(pk=pk) if claimed else None


def due(limit: int) -> Iterator[int]:
    """Rows whose wake was lost or whose worker died (the sweeper's question)."""
    rows = InboxMessage.objects.filter(_due(now() - SWEEP_AFTER), ~Exists(_older()))
    return rows.order_by("pk").values_list("pk", flat=True)[:limit].iterator()


def _due(at: datetime) -> Q:
    fresh = Q(status=Status.NEW, available_at__lte=at)
    return fresh | Q(status=Status.PROCESSING, lease_until__lt=at)


def _older() -> QuerySet[InboxMessage]:
    return InboxMessage.objects.filter(
        from_user=OuterRef("from_user"),
        pk__lt=OuterRef("pk"),
        status__in=InboxMessage.UNFINISHED,
    )


def _following(from_user: str) -> int | None:
    rows = InboxMessage.objects.filter(from_user=from_user, status__in=InboxMessage.UNFINISHED)
    head = rows.order_by("pk").first()
    is_due = head and head.status == Status.NEW and head.available_at <= now()
    return head.pk if head and is_due else None


def _handle(row: InboxMessage, speaker: Member | None) -> None:
    if row.attempts > MAX_ATTEMPTS:
        _fail(row, "the worker was lost")
        return
    try:
        handle_callback(Job(row, CHANNELS[row.channel].parse(row.raw), speaker))
    except LostLease:
        raise
    except Exception as error:  # whatever went wrong, the question gets its one reply
        # Only the name: the text of an exception can quote a patient.
        logger.error("inbox %s attempt %s: %s", row.pk, row.attempts, type(error).__name__)
        _try_again(row, type(error).__name__)


def _try_again(row: InboxMessage, error: str) -> None:
    if row.attempts >= MAX_ATTEMPTS:
        _fail(row, error)
        return
    InboxMessage.objects.filter(**mine(row)).update(
        status=Status.NEW,
        lease_until=None,
        available_at=now() + timedelta(seconds=BACKOFF_S[row.attempts - 1]),
        error=error,
    )


def _fail(row: InboxMessage, error: str) -> None:
    """The last resort: the person is told the number to quote; events end silently."""
    with atomic():
        close(row, Status.FAILED, project=None, error=error)
        if row.msg_type != "event":
            reply(row, FAILED.format(number=row.pk), None)


def handle_callback(job: Job) -> None:
    """Handle a callback; ends in `job.finish`. What it raises is tried again by the caller."""
    alerts.heard(job.row.from_user, job.row.channel)
    if job.incoming.is_event:
        events.handle_event(job)
    elif not job.incoming.is_group and invitations.answer_invitation(job):
        return
    elif job.speaker is None:
        strangers.refuse_stranger(job)
    elif job.incoming.msg_type in SPOKEN and job.incoming.content.strip():
        job.note = not_read.left_out(job.incoming)
        _spoken(job)
    else:
        with atomic():
            job.finish(not_read.refusal(job.incoming))


def _spoken(job: Job) -> None:
    if len(job.incoming.content) > MOST_CHARS:
        with atomic():
            job.finish(_("Your message is too long: please ask in a few sentences."))
        return
    if job.incoming.is_group:
        groups.answer_in_group(job)
        return
    command = read_command(job.incoming.content)
    if command is not None:
        _obey(job, command)
    elif how := pending.explain(job.row, job.incoming.content):
        with atomic():
            job.finish(how)
    else:
        ask(job, job.incoming.content)


def _obey(job: Job, command: Command) -> None:
    if isinstance(command, Decide):
        outcome = decide(
            userid=job.row.from_user,
            review_id=command.review_id,
            decision=command.decision,
            reason=command.reason,
            seen=last_seen(command.review_id, job.row),
            door=Review.Door.TEXT,
        )
        with atomic():
            InboxMessage.objects.filter(**mine(job.row)).update(shown=outcome.shown)
            job.finish(outcome.text, outcome.project)
    else:
        _note_feedback(job, command)


def _note_feedback(job: Job, command: Feedback) -> None:
    """👍 or 👎 on the last answer (decisions.md, "feedback"); a bare 👎 is asked for its reason once.

    What is asked beside is answered; thanks stand below it.
    """
    member = _last_membership(job.row)
    if command.asked:

        def vote() -> None:
            mark, why, at = command.feedback, command.reason, job.row.received_at
            if member and votes.cast(member=member, feedback=mark, reason=why, until=at):
                job.note = "\n".join(filter(None, (_(votes.THANKS), job.note)))

        ask(job, command.asked, also=vote)
        return
    if member is None:
        with atomic():
            job.finish(_(votes.NOTHING))
        return
    with atomic():
        rated = votes.cast(member=member, feedback=command.feedback, reason=command.reason)
        job.finish(votes.thanks(rated, command.feedback, command.reason), member.project)


def _last_membership(row: InboxMessage) -> Member | None:
    """The membership in the study of the last answer, else the only one: a vote is no study's to catch."""
    members = Member.objects.active_of(row.from_user)
    answered = InboxMessage.objects.filter(
        from_user=row.from_user, pk__lt=row.pk, project__isnull=False
    )
    last = answered.order_by("-pk").values_list("project_id", flat=True).first()
    held = [*members]
    return next(
        (one for one in held if one.project_id == last), held[0] if len(held) == 1 else None
    )
