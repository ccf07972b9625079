"""What the engines' signals become in WeCom: outbox rows with unique keys, nothing else (design.md 2).

Signals arrive inside the transaction of what happened, so a row exists exactly if it did.
"""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver

from engines.models import Review, TaskRun
from engines.signals import (
    review_decided,
    review_escalated,
    review_reminded,
    review_requested,
    run_finished,
)
from wechat import reconcile, run_events
from wechat.run_events import What


@receiver(review_requested, dispatch_uid="wechat.review_requested")
def on_review_requested(*, run: TaskRun, review: Review, **_kwargs: Any) -> None:
    """The reviewers are to be asked by card, and who ordered the run is to be told that it waits."""
    run_events.keep(What.ASKED, run, review)


@receiver(review_decided, dispatch_uid="wechat.review_decided")
def on_review_decided(*, run: TaskRun, review: Review, **_kwargs: Any) -> None:
    """The buttons are to be taken off the review's cards."""
    run_events.keep(What.DECIDED, run, review)


@receiver(review_reminded, dispatch_uid="wechat.review_reminded")
def on_review_reminded(*, review: Review, **_kwargs: Any) -> None:
    """Recall a waiting review to its reviewers, once."""
    reconcile.remind(review, f"reminded:{review.pk}@{review.version}")


@receiver(review_escalated, dispatch_uid="wechat.review_escalated")
def on_review_escalated(*, review: Review, **_kwargs: Any) -> None:
    """Put a waiting review to the administrators, once."""
    reconcile.escalate(review)


@receiver(run_finished, dispatch_uid="wechat.run_finished")
def on_run_finished(*, run: TaskRun, decided: Review | None = None, **_kwargs: Any) -> None:
    """Who ordered the run is to be told what came of it; a batch is told at its end.

    Where a review was decided with it, that event tells it too.
    """
    if decided is None and not run.batch_id:
        run_events.keep(What.FINISHED, run)
