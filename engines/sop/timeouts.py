"""Reviews that wait too long: brought to mind once, then put to the administrators (`on_timeout`)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from django.db.models import QuerySet
from django.dispatch import Signal
from django.utils.timezone import now

from engines.models import Review, TaskRun
from engines.signals import review_escalated, review_reminded
from projects import audit
from projects.db import atomic
from projects.models import Role
from skills.graph import Graph


def remind_and_escalate() -> None:
    """Act on every open review whose time has come; safe to call at any time, by several at once."""
    for review in _waiting().filter(remind_at__lte=now()):
        _act(review, review_reminded, "reminded", remind_at=None)
    for review in _overdue():
        reviewers = [*dict.fromkeys([*review.reviewers, Role.ADMIN.value])]
        _act(review, review_escalated, "escalated", escalated_at=now(), reviewers=reviewers)


def _waiting() -> QuerySet[Review]:
    rows = Review.objects.filter(status=Review.Status.OPEN)
    return rows.select_related("project", "task_run__project", "task_run__skill")


def _overdue() -> Iterator[Review]:
    for review in _waiting().filter(escalated_at__isnull=True):
        graph = Graph.model_validate(review.task_run.config)
        hours = graph.nodes[review.node].on_timeout.escalate_hours
        if hours and review.created_at + timedelta(hours=hours) <= now():
            yield review


def _act(review: Review, signal: Signal, what: str, **values: object) -> None:
    """One transaction: the mark that makes it happen once, the audit entry, the signal."""
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
        signal.send(sender=TaskRun, run=review.task_run, review=review)
