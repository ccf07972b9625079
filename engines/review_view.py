"""What a reviewer is shown: question, findings, values (contracts.md, `review`; design.md 9.9)."""

from __future__ import annotations

from typing import Any

from core.house.encrypted_fields import json_in
from engines.models import Review
from engines.pages.evidence import Ground, evidence
from engines.sop.asking import waiting_for
from engines.sop.brief import overrides
from engines.sop.findings import LISTED
from study import dictionary
from study.display import display_rows


def review_view(review: Review) -> dict[str, Any]:
    """JSON of a review as the API shows it: its evidence, and the values of the subject beside it."""
    shown = evidence(review)
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
        "findings": [_finding(one) for one in shown.grounds],
        "passages": [one.model_dump() for one in shown.passages],
        "verbs": dict(zip(("approve", "reject"), shown.verbs, strict=True)),
        "reason_required": {"approve": overrides(review), "reject": True},
        "asked_at": review.created_at.isoformat(),
        "decided_by": review.decided_by or None,
        "decided_at": review.decided_at.isoformat() if review.decided_at else None,
        "reason": review.reason or None,
    }


def _finding(one: Ground) -> dict[str, Any]:
    seen = one.finding
    return {
        "id": seen.id,
        "action_type": seen.action_type,
        "rule": seen.rule_key,
        "rule_text": one.rule,
        **{name: getattr(seen, name) for name in LISTED},
        "read": [str(value) for value in one.read],
        "quotes": list(one.quotes),
        "confidence": seen.confidence,
        "open": one.is_open,
    }


def values(review: Review) -> list[dict[str, Any]]:
    """The non-blank values of the subject, identifiers left out: the decision does not need them."""
    rows = json_in(review.values)
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
