"""反馈统计: every user's 👍 and 👎, from data (seed 002, 3.4)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime

from memory import flow_log
from memory.models import FeedbackTally
from projects.models import Project

_EVER = (datetime(1970, 1, 1, tzinfo=UTC), datetime(9999, 1, 1, tzinfo=UTC))


@dataclass(frozen=True)
class Given:
    """How often a user said 👍 and 👎."""

    up: int
    down: int

    def __str__(self) -> str:
        """`👍 12 / 👎 1`"""
        return f"👍 {self.up} / 👎 {self.down}"


def given(project: Project) -> dict[str, Given]:
    """{user: counts} of everybody who gave feedback, deleted answers included."""
    up: Counter[str] = Counter()
    down: Counter[str] = Counter()
    for tally in FeedbackTally.objects.filter(project=project):
        up[tally.user_id] += tally.up
        down[tally.user_id] += tally.down
    for user_id, value, _reason, times in flow_log.feedback_counts(project, *_EVER):
        (up if value == flow_log.Feedback.UP else down)[user_id] += times
    users = sorted({*up, *down})
    return {user: Given(up[user], down[user]) for user in users if up[user] or down[user]}
