"""A decision that later runs on unchanged values follow (contracts.md, HTTP)."""

from __future__ import annotations

from typing import Any
from zoneinfo import ZoneInfo

from django.utils import timezone
from django.utils.translation import gettext as _

from engines.models import Review


def decision_result(review: Review) -> dict[str, Any]:
    """What the trace of a run that follows it keeps: which review, who and when."""
    at = review.decided_at.isoformat() if review.decided_at else None
    return {"review": review.pk, "by": review.decided_by, "at": at, "standing": True}


def decision_words(review: Review) -> str:
    """The same in words, in the project's zone."""
    at = timezone.localtime(review.decided_at, ZoneInfo(review.project.timezone))
    return _("As decided before on the same values: #%(number)s %(status)s, %(who)s, %(time)s.") % {
        "number": review.pk,
        "status": Review.Status(review.status).label,
        "who": review.decided_by,
        "time": f"{at:%Y-%m-%d %H:%M}",
    }
