"""Fixed texts of the channel that decisions.md gives word for word, and the words people type as commands."""

from __future__ import annotations

QUERYING = "🫡 正在查询,请稍候..."

APPROVE_WORDS = ("同意", "approve")
REJECT_WORDS = ("驳回", "reject")
ACCEPT_WORDS = ("接受", "accept")
DECLINE_WORDS = ("拒绝", "decline")
INVITATION_WORDS = ("邀请", "invitation")
UP_WORDS = ("👍",)
DOWN_WORDS = ("👎",)
# Labels of iit_conversation_history.feedback_reason (decisions.md, "feedback").
FEEDBACK_REASONS = {"太长": "too_long", "不准确": "inaccurate", "不清楚": "unclear"}
