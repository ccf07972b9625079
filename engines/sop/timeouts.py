"""Reviews that wait too long: brought to mind once, then put to the administrators (`on_timeout`)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import QuerySet
from django.utils.timezone import now

from engines.models import Review
from engines.sop import run_events
from house.db import atomic
from projects import audit
from projects.models import Role
from skills.graph import Graph


def remind_and_escalate() -> None:
    """Act on every open review whose time has come; safe to call at any time, by several at once."""
    for review in _waiting().filter(remind_at__lte=now()):
        _act(review, run_events.Kind.REVIEW_REMINDED, "reminded", remind_at=None)
    for review in _overdue():
        reviewers = [*dict.fromkeys([*review.reviewers, Role.ADMIN.value])]
        _act(
            review,
            run_events.Kind.REVIEW_ESCALATED,
            "escalated",
            escalated_at=now(),
            reviewers=reviewers,
        )


def _waiting() -> QuerySet[Review]:
    rows = Review.objects.filter(status=Review.Status.OPEN)
    return rows.select_related("project", "task_run__project", "task_run__skill")


def _overdue() -> Iterator[Review]:
    for review in _waiting().filter(escalated_at__isnull=True):
        graph = Graph.model_validate(review.task_run.config)
        hours = graph.nodes[review.node].on_timeout.escalate_hours
        if hours and review.created_at + timedelta(hours=hours) <= now():
            yield review


def _act(review: Review, kind: run_events.Kind, what: str, **values: object) -> None:
    """One transaction: the mark that makes it happen once, the audit entry, the event."""
    same = Review.objects.filter(
        pk=review.pk,
        status=Review.Status.OPEN,
        remind_at=review.remind_at,
        escalated_at=review.escalated_at,
    )
    with atomic():
        if same.update(**values) != 1:
            return
        for name, value in values.items():
            setattr(review, name, value)
        audit.record(
            "review.ask",
            actor="system",
            project=review.project,
            subject=review,
            record_id=review.record_id or "",
            new={what: True, "reviewers": review.reviewers},
        )
        run_events.keep(kind, review.task_run, review)
