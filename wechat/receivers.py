"""What the engines' signals become in WeCom: outbox rows with unique keys, nothing else (design.md 2).

Signals arrive inside the transaction of what happened, so a message exists exactly if it did.
"""

from __future__ import annotations

from typing import Any

from django.dispatch import receiver
from django.utils import translation
from django.utils.translation import gettext as _

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
from wechat.outbox import tell

FINDINGS_SHOWN = 5


@receiver(review_requested, dispatch_uid="wechat.review_requested")
def on_review_requested(*, run: TaskRun, review: Review, **_kwargs: Any) -> None:
    """Ask the reviewers by card; tell who ordered the run that it waits."""
    review_cards.ask(review, run)
    member = orderer(run)
    if member is None or review.version > 1:
        return
    if member.wecom_userid in {person.wecom_userid for person in review_cards.reviewers(review)}:
        return
    with translation.override(member.language):
        subject = f"{run.skill.name or run.skill.skill_type} {run.record_id or ''}".strip()
        _tell(member, f"{subject}: {run.message} (#{review.pk})", f"suspended:{review.pk}")


@receiver(review_decided, dispatch_uid="wechat.review_decided")
def on_review_decided(*, review: Review, **_kwargs: Any) -> None:
    """Take the buttons off the review's cards, wherever it was decided."""
    review.refresh_from_db()
    review_cards.show_decision(review)


@receiver(review_reminded, dispatch_uid="wechat.review_reminded")
def on_review_reminded(*, review: Review, **_kwargs: Any) -> None:
    """Recall a waiting review to its reviewers, once."""
    reconcile.remind(review, f"reminded:{review.pk}@{review.version}")


@receiver(review_escalated, dispatch_uid="wechat.review_escalated")
def on_review_escalated(*, review: Review, **_kwargs: Any) -> None:
    """Put a waiting review to the administrators, once."""
    reconcile.escalate(review)


@receiver(run_finished, dispatch_uid="wechat.run_finished")
def on_run_finished(*, run: TaskRun, **_kwargs: Any) -> None:
    """Tell who ordered the run what came of it."""
    member = orderer(run)
    if member is None:
        return
    with translation.override(member.language):
        _tell(member, result_text(run), f"run:{run.pk}")


def orderer(run: TaskRun) -> Member | None:
    """The member who ordered a run and may still see it; none for schedules and console users."""
    member: Member | None = (
        Member.objects.active_of(run.triggered_by).filter(project=run.project).first()
    )
    sees = member and TaskRun.objects.for_member(member).filter(pk=run.pk).exists()
    return member if sees else None


def result_text(run: TaskRun) -> str:
    """Workflow, subject, state and the open findings of the run."""
    name = run.skill.name or run.skill.skill_type
    head = f"{name} {run.record_id or ''}".strip()
    lines = [f"{head}: {run.get_status_display()} ({run.final_state})"]
    if run.message:
        lines.append(run.message)
    found = PendingAction.objects.filter(task_run=run, open_key__isnull=False)
    messages = list(found.order_by("created_at").values_list("message", flat=True))
    lines += [f"{number}. {text}" for number, text in enumerate(messages[:FINDINGS_SHOWN], 1)]
    if len(messages) > FINDINGS_SHOWN:
        lines.append(_("… %(number)s findings in all") % {"number": len(messages)})
    return "\n".join(lines)


def _tell(member: Member, text: str, key: str) -> None:
    tell(to_user=member.wecom_userid, project=member.project, content=text, key=key)
