"""Votes on answers: the latest one counts, all of them are kept (wecom.md A11; decisions.md, "feedback")."""

from __future__ import annotations

from uuid import UUID

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from core.house.db import atomic
from engines.assistant.chat import record_feedback
from memory.log.flow_log import Rated
from projects import audit
from projects.models import Member
from wechat.texts import DOWN_WORDS, FEEDBACK_REASONS

THANKS = gettext_noop("Thank you for your feedback.")
NOTHING = gettext_noop("There is no answer of mine to rate yet.")


def cast(
    *,
    member: Member,
    feedback: str | None,
    reason: str | None,
    conversation_id: UUID | str | None = None,
) -> Rated | None:
    """Note a vote on the named answer, else on the member's last one; None withdraws it.

    The answer's state before it, None when there is no such answer of this member.
    """
    vote = {"feedback": feedback, "reason": reason, "answer": str(conversation_id or "")}
    with atomic():
        rated = record_feedback(
            member=member, feedback=feedback, reason=reason, conversation_id=conversation_id
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
