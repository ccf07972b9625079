"""What is done about one callback: commands, questions, other kinds of message, events (issue 5)."""

from __future__ import annotations

from django.utils.translation import gettext as _

from core.house.db import atomic
from engines.models import Review
from projects.models import Member
from wechat.inbound import (
    events,
    invitations,
    pending,
    strangers,
    votes,
)
from wechat.inbound.commands import Command, Decide, Feedback
from wechat.inbound.commands import read_command as read_command
from wechat.inbound.job import Job
from wechat.inbound.questions import ask
from wechat.models import InboxMessage
from wechat.outbound import alerts
from wechat.reviews.decisions import decide
from wechat.reviews.review_words import last_seen

SPOKEN = ("text", "voice", "mixed")
MOST_CHARS = 10_000
"""Of one question, as in the API; WeCom's own are shorter by far."""


def handle_callback(job: Job) -> None:
    """Handle a callback; ends in `job.finish`. What it raises is tried again by the caller."""
    alerts.heard(job.row.from_user, job.row.channel)
    if job.incoming.is_event:
        events.handle_event(job)
    elif not job.incoming.is_group and invitations.answer_invitation(job):
        return
    elif job.speaker is None:
        strangers.refuse_stranger(job)
    elif job.incoming.is_group:
        # What one member may read is not for everybody in the group (design.md 9.7).
        with atomic():
            job.finish(_("I answer in single chats only: please write to me there."))
    elif job.incoming.msg_type in SPOKEN and job.incoming.content.strip():
        _spoken(job)
    else:
        with atomic():
            job.finish(_("I understand text messages. Please type your question."))


def _spoken(job: Job) -> None:
    if len(job.incoming.content) > MOST_CHARS:
        with atomic():
            job.finish(_("Your message is too long: please ask in a few sentences."))
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
            job.finish(outcome.text, outcome.project)
    else:
        _note_feedback(job, command)


def _note_feedback(job: Job, command: Feedback) -> None:
    """👍 or 👎 on the last answer (decisions.md, "feedback"); a bare 👎 is asked for its reason once."""
    member = _last_membership(job.row)
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
