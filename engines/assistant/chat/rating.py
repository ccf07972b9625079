"""👍/👎 and contradictions: kept with the answer in the flow log, and with its trace where it was no good."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from core.house.db import atomic
from engines.models import AgentTrace
from memory.log.flow_log import Rated, set_feedback
from projects.models import Member

UP, DOWN = "thumbs_up", "thumbs_down"


def record_feedback(
    *,
    member: Member,
    feedback: str | None,
    reason: str | None = None,
    conversation_id: UUID | str | None = None,
    until: datetime | None = None,
) -> Rated | None:
    """Rate the named answer, else the member's last one (`until` a time); None when there is none of theirs."""
    with atomic():
        rated = set_feedback(
            project=member.project,
            user_id=member.identity,
            feedback=feedback,
            reason=reason if feedback == DOWN else None,
            conversation_id=conversation_id,
            until=until,
        )
        if rated:
            mine = AgentTrace.objects.filter(project=member.project, user_id=member.identity)
            complaint = (rated.reason or DOWN) if feedback == DOWN else ""
            mine.filter(answer_id=rated.answer_id).update(complaint=complaint)
    return rated
