"""What happened to a run becomes messages: whom it concerns and in which words is read as it is told.

Who has lost sight of the subject meanwhile is told nothing. Every message has a key of its own.
"""

from __future__ import annotations

from django.utils import translation
from django.utils.translation import gettext as _

from engines import labels, redcap_asks
from engines.models import PendingAction, Review, RunEvent, TaskRun
from engines.sop.checks import switch
from engines.sop.findings import open_now
from memory.visibility import told_to
from projects.models import Member
from wechat.outbound.outbox import tell
from wechat.reviews import reconcile, review_cards
from wechat.reviews.review_audience import Circle, orderer

FINDINGS_SHOWN = 5


def asked(event: RunEvent) -> None:
    """Ask the reviewers by card; tell who ordered the run that it waits. Nothing where that is over.

    A newer version is asked by its own event.
    """
    review = _review(event)
    if review is None or review.status != Review.Status.OPEN:
        return
    run = review.task_run
    circle = Circle.of(review, run)
    if review.version == event.version:
        review_cards.send_review_card(circle, run)
    if run.batch_id or event.version != 1:
        return  # wechat.reviews.batch_messages tells it, or it has been told
    _tell_waiting(circle, run, f"suspended:{review.pk}")


def tell_joined(event: RunEvent) -> None:
    """Tell who ordered one more run that it waits for a review that others wait for."""
    review = _review(event)
    run = _run(event)
    if review and run and run.status == TaskRun.Status.SUSPENDED and not run.batch_id:
        _tell_waiting(Circle.of(review, run), run, f"suspended:{review.pk}:{run.pk}")


def _tell_waiting(circle: Circle, run: TaskRun, key: str) -> None:
    member, review = circle.orderer(run), circle.review
    if member is None or member in circle.reviewers():
        return
    with translation.override(member.language):
        subject = f"{run.skill.name or run.skill.skill_type} {run.record_id or ''}".strip()
        text = f"{subject}: {run.message} (#{review.pk})"
        tell(to=member, content=text, key=key)


def decided(event: RunEvent) -> None:
    """Take the buttons off the review's cards, wherever it was decided; perhaps the run has ended by it."""
    review = _review(event)
    if review is None:
        return
    review_cards.show_decision(review)
    if review.task_run.completed_at:
        _result(review.task_run)


def finished(event: RunEvent) -> None:
    """Tell who ordered the run what came of it; a batch is told at its end."""
    if run := _run(event):
        _result(run)


def reminded(event: RunEvent) -> None:
    """Recall a waiting review to its reviewers, once."""
    review = _review(event)
    if review and review.status == Review.Status.OPEN:
        reconcile.remind(review, f"reminded:{review.pk}@{event.version}")


def escalated(event: RunEvent) -> None:
    """Put a waiting review to the administrators, once."""
    review = _review(event)
    if review and review.status == Review.Status.OPEN:
        reconcile.escalate(review)


def _run(event: RunEvent) -> TaskRun | None:
    rows = TaskRun.objects.select_related("project", "skill").filter(pk__in=[event.run_id])
    return rows.defer("data", "config", "skill__config").order_by().first()


def _review(event: RunEvent) -> Review | None:
    """The review with run and project; None where they were deleted."""
    rows = Review.objects.select_related("project", "task_run__skill").filter(
        pk=event.review_id or 0
    )
    without = ("values", "task_run__data", "task_run__config", "task_run__skill__config")
    review = rows.defer(*without).order_by().first()
    if review is not None:
        review.task_run.project = review.project
    return review


def _result(run: TaskRun) -> None:
    """Tell who ordered the run what came of it; a batch is told at its end (wechat.reviews.batch_messages)."""
    member = None if run.batch_id else orderer(run)
    if member is None:
        return
    with translation.override(member.language):
        tell(to=member, content=result_text(run, member), key=f"run:{run.pk}")


def result_text(run: TaskRun, member: Member) -> str:
    """Workflow, subject, state and what is open of both, old and new, as far as it is this reader's."""
    name = run.skill.name or run.skill.skill_type
    head = f"{name} {run.record_id or ''}".strip()
    lines = [f"{head}: {_state(run)}"]
    if run.message:
        lines.append(run.message)
    lines += filter(None, [switch.coverage(run, switch.running(run.project))])
    rows = open_now(run)
    for row in rows:
        row.project = run.project
    asked = redcap_asks.numbers(rows)
    listed = (told_to(member, _line(row, asked.get(row.pk))) for row in rows)
    messages = [text for text in listed if text]
    lines += [f"{number}. {text}" for number, text in enumerate(messages[:FINDINGS_SHOWN], 1)]
    if len(messages) > FINDINGS_SHOWN:
        lines.append(_("… %(number)s findings in all") % {"number": len(messages)})
    return "\n".join(lines)


def _line(row: PendingAction, asked: int | None) -> str:
    """What was found; that the data have changed since, or that REDCap asks it itself (by query `asked`)."""
    if row.state == PendingAction.State.DATA_CHANGED:
        return f"{row.message} ({row.get_state_display()})"
    return f"{row.message} ({redcap_asks.told(asked)})" if asked else str(row.message)


def _state(run: TaskRun) -> str:
    """The status, and the end that was reached where its name says more."""
    status = str(TaskRun.Status(run.status).label)
    end = labels.name(labels.ENDS, run.final_state)
    return f"{status} ({end})" if end not in ("", status) else status
