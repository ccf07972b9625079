"""👍/👎 under an answer of the smart bot (wecom.md 5; decisions.md, "feedback")."""

from __future__ import annotations

from core.house.db import atomic
from projects import audit
from projects.models import Member
from wechat.inbound import votes
from wechat.inbound.job import Job
from wechat.inbound.parse import Vote
from wechat.models import Stream

RATINGS: dict[int, str | None] = {1: "thumbs_up", 2: "thumbs_down", 3: None}
# 1 off the question, 2 incomplete, 3 wrong content, 4 wrong analysis: what is wrong weighs more.
INACCURATE, UNCLEAR = frozenset({3, 4}), frozenset({1, 2})


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
            and votes.cast(
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
