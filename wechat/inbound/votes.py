"""Votes on answers: the latest one counts, all of them are kept (wecom.md A11; decisions.md, "feedback")."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from core.house.db import atomic
from engines.assistant.chat import record_feedback
from memory.log.flow_log import Rated
from projects import audit
from projects.models import Member
from wechat.inbound.job import Job
from wechat.inbound.parse import Vote
from wechat.models import Stream
from wechat.texts import DOWN_WORDS, FEEDBACK_REASONS

THANKS = gettext_noop("Thank you for your feedback.")
NOTHING = gettext_noop("There is no answer of mine to rate yet.")
# How the smart bot numbers a vote and its reasons (wecom.md 5).
RATINGS: dict[int, str | None] = {1: "thumbs_up", 2: "thumbs_down", 3: None}
# 1 off the question, 2 incomplete, 3 wrong content, 4 wrong analysis: what is wrong weighs more.
INACCURATE, UNCLEAR = frozenset({3, 4}), frozenset({1, 2})


def cast(
    *,
    member: Member,
    feedback: str | None,
    reason: str | None,
    conversation_id: UUID | str | None = None,
    until: datetime | None = None,
) -> Rated | None:
    """Note a vote on the named answer, else on the member's last one (`until` a time); None withdraws it.

    The answer's state before it, None when there is no such answer of this member.
    """
    vote = {"feedback": feedback, "reason": reason, "answer": str(conversation_id or "")}
    with atomic():
        rated = record_feedback(
            member=member,
            feedback=feedback,
            reason=reason,
            conversation_id=conversation_id,
            until=until,
        )
        if rated:
            audit.record("wechat.rated", actor=member, project=member.project, new=vote)
    return rated


def thanks(rated: Rated | None, feedback: str | None, reason: str | None) -> str:
    """What a voter is told: a bare 👎 is asked for its reason, once (decisions.md, "feedback")."""
    if rated is None:
        return _(NOTHING)
    if not rated.wants_reason(feedback, reason):
        return _(THANKS)
    ways = ", ".join(f"{DOWN_WORDS[0]} {word}" for word in FEEDBACK_REASONS)
    return _("Thank you. What was wrong? Please reply with one of: %(ways)s") % {"ways": ways}


def note_vote(job: Job) -> None:
    """Note a vote on the answer it names; the latest wins, a withdrawn one leaves nothing."""
    vote = job.incoming.vote
    stream = _stream(job, vote)
    member = _voter(job, stream)
    with atomic():
        known = (
            vote is not None
            and vote.kind in RATINGS
            and stream is not None
            and member is not None
            and cast(
                member=member,
                feedback=RATINGS[vote.kind],
                reason=reason(vote),
                conversation_id=stream.conversation_id,
            )
        )
        if not known:
            name = vote.feedback_id[:128] if vote else ""
            audit.record("wechat.click_ignored", actor=job.row.from_user, new={"feedback": name})
        job.finish("", member.project if member else None)


def reason(vote: Vote) -> str | None:
    """Our label of a 👎; none where WeCom named none."""
    if vote.kind != 2:
        return None
    if INACCURATE & set(vote.reasons):
        return "inaccurate"
    return "unclear" if UNCLEAR & set(vote.reasons) else None


def _stream(job: Job, vote: Vote | None) -> Stream | None:
    """The answer; only its reader has a vote, and only once there is one."""
    if vote is None:
        return None
    rows = Stream.objects.filter(inbox__from_user=job.row.from_user, conversation_id__isnull=False)
    return rows.filter(stream_id=vote.feedback_id).first()


def _voter(job: Job, stream: Stream | None) -> Member | None:
    if stream is None:
        return None
    members = Member.objects.active_of(job.row.from_user)
    found: Member | None = members.filter(project=stream.project_id).first()
    return found
