"""What a reviewer is shown: question, findings, values (contracts.md, `review`; design.md 9.9)."""

from __future__ import annotations

import json
from typing import Any

from engines.models import PendingAction, Review
from engines.sop.asking import waiting_for
from engines.sop.findings import finding_line
from study import dictionary
from study.display import display_rows


def review_view(review: Review) -> dict[str, Any]:
    """JSON of a review as console, API and cards show it."""
    return {
        "id": review.pk,
        "version": review.version,
        "status": review.status,
        "seen": review.seen,
        "node": review.node,
        "question": review.question,
        "reviewers": review.reviewers,
        "record_id": review.record_id,
        "values": values(review),
        "runs": [str(run.pk) for run in waiting_for(review)],
        "findings": [finding_line(row) for row in open_findings(review)],
        "asked_at": review.created_at.isoformat(),
        "decided_by": review.decided_by or None,
        "decided_at": review.decided_at.isoformat() if review.decided_at else None,
        "reason": review.reason or None,
    }


def values(review: Review) -> list[dict[str, Any]]:
    """The non-blank values of the subject, identifiers left out: the decision does not need them."""
    rows = json.loads(review.values)
    if not rows:
        return []
    return [
        {
            "event": row.event,
            "event_label": row.event_label,
            "instrument": row.instrument,
            "instance": row.instance,
            "field": item.field,
            "label": item.label,
            "value": item.raw,
            "text": item.text,
            "unit": item.unit,
        }
        for row in display_rows(dictionary.load(review.project), rows)
        for item in row.values
        if not item.identifier
    ]


def open_findings(review: Review) -> list[PendingAction]:
    """What the review is about and nobody has closed."""
    rows = PendingAction.objects.filter(open_key__in=review.open_keys)
    return [*rows.order_by("created_at")]
