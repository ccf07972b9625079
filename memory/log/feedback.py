"""反馈统计: every user's 👍 and 👎, from data (seed 002, 3.4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime

from memory.log import flow_log
from memory.models import FeedbackTally
from projects.models import Member, Project

_EVER = (datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))


@dataclass(frozen=True)
class Given:
    """How often a user said 👍 and 👎."""

    up: int
    down: int

    def __str__(self) -> str:
        """`👍 12 / 👎 1`"""
        return f"👍 {self.up} / 👎 {self.down}"


def of(member: Member) -> str | None:
    """`👍 12 / 👎 1` of one member; None without any."""
    mine = given(member.project, member.identity).get(member.identity)
    return str(mine) if mine else None


def given(project: Project, user_id: str = "") -> dict[str, Given]:
    """{user: counts} of everybody who gave feedback, or of one user; deleted answers included."""
    up: Counter[str] = Counter()
    down: Counter[str] = Counter()
    tallies = FeedbackTally.objects.filter(project=project)
    for tally in tallies.filter(user_id=user_id) if user_id else tallies:
        up[tally.user_id] += tally.up
        down[tally.user_id] += tally.down
    for by, value, _reason, times in flow_log.feedback_counts(project, *_EVER, user_id):
        (up if value == flow_log.Feedback.UP else down)[by] += times
    users = sorted({*up, *down})
    return {user: Given(up[user], down[user]) for user in users if up[user] or down[user]}
