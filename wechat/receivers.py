"""What the engines' signals become in WeCom: outbox rows with unique keys, nothing else (design.md 2).

Signals arrive inside the transaction of what happened, so a message exists exactly if it did.
"""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver
from django.utils import translation
from django.utils.translation import gettext as _

from engines import labels
from engines.models import PendingAction, Review, TaskRun
from engines.signals import (
    review_decided,
    review_escalated,
    review_reminded,
    review_requested,
    run_finished,
)
from projects.models import Member
from wechat import reconcile, review_cards
from wechat.circle import Circle, orderer
from wechat.outbox import tell

FINDINGS_SHOWN = 5


@receiver(review_requested, dispatch_uid="wechat.review_requested")
def on_review_requested(*, run: TaskRun, review: Review, **_kwargs: Any) -> None:
    """Ask the reviewers by card; tell who ordered the run that it waits."""
    circle = Circle.of(review, run)
    review_cards.ask(circle, run)
    if run.batch_id:
        return  # wechat.batch_messages tells it
    member = circle.orderer(run)
    if member is None or review.version > 1 or member in circle.reviewers():
        return
    with translation.override(member.language):
        subject = f"{run.skill.name or run.skill.skill_type} {run.record_id or ''}".strip()
        text = f"{subject}: {run.message} (#{review.pk})"
        _tell(member, run, text, f"suspended:{review.pk}")


@receiver(review_decided, dispatch_uid="wechat.review_decided")
def on_review_decided(*, review: Review, by: Member | None = None, **_kwargs: Any) -> None:
    """Take the buttons off the review's cards, wherever it was decided."""
    review_cards.show_decision(review, by)


@receiver(review_reminded, dispatch_uid="wechat.review_reminded")
def on_review_reminded(*, review: Review, **_kwargs: Any) -> None:
    """Recall a waiting review to its reviewers, once."""
    reconcile.remind(review, f"reminded:{review.pk}@{review.version}")


@receiver(review_escalated, dispatch_uid="wechat.review_escalated")
def on_review_escalated(*, review: Review, **_kwargs: Any) -> None:
    """Put a waiting review to the administrators, once."""
    reconcile.escalate(review)


@receiver(run_finished, dispatch_uid="wechat.run_finished")
def on_run_finished(
    *, run: TaskRun, found: list[PendingAction] | None = None, **_kwargs: Any
) -> None:
    """Tell who ordered the run what came of it; a batch is told at its end (wechat.batch_messages)."""
    if run.batch_id:
        return
    member = orderer(run)
    if member is None:
        return
    with translation.override(member.language):
        _tell(member, run, result_text(run, found), f"run:{run.pk}")


def result_text(run: TaskRun, found: list[PendingAction] | None = None) -> str:
    """Workflow, subject, state and the run's open findings, which are among `found` where that was read."""
    name = run.skill.name or run.skill.skill_type
    head = f"{name} {run.record_id or ''}".strip()
    lines = [f"{head}: {_state(run)}"]
    if run.message:
        lines.append(run.message)
    if found is None:
        rows = PendingAction.objects.filter(task_run=run, open_key__isnull=False)
        found = [*rows.order_by("created_at")]
    messages = [row.message for row in found if row.task_run_id == run.pk]
    lines += [f"{number}. {text}" for number, text in enumerate(messages[:FINDINGS_SHOWN], 1)]
    if len(messages) > FINDINGS_SHOWN:
        lines.append(_("… %(number)s findings in all") % {"number": len(messages)})
    return "\n".join(lines)


def _state(run: TaskRun) -> str:
    """The status, and the end that was reached where its name says more."""
    status = str(TaskRun.Status(run.status).label)
    end = labels.name(labels.ENDS, run.final_state)
    return f"{status} ({end})" if end not in ("", status) else status


def _tell(member: Member, run: TaskRun, text: str, key: str) -> None:
    tell(to_user=member.wecom_userid, project=run.project, content=text, key=key)
