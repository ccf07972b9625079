"""反馈统计: a member's 👍/👎 of the last 90 days, as counts."""

from __future__ import annotations

from datetime import timedelta

from django.utils.timezone import now

from memory import flow_log
from projects.models import Member

_SINCE = timedelta(days=90)


def counts(member: Member) -> str | None:
    """`👍 3 / 👎 too_long 2`; None without any."""
    rows = flow_log.feedback_counts(member.project, now() - _SINCE, now())
    shown = [
        f"{'👍' if value == flow_log.Feedback.UP else '👎'}{f' {reason}' if reason else ''} {times}"
        for user_id, value, reason, times in rows
        if user_id == member.identity
    ]
    return " / ".join(shown) or None
