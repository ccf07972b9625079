"""What happened to a run: an outbox row in its transaction, which a worker turns into messages.

Whom it concerns and in which words is read when it is told: the run waits for none of that, and who has
lost sight of the subject meanwhile is told nothing. The events of a run are a lane, so each finds what the
ones before it have made (a card is there before it is changed).
"""

from __future__ import annotations

import logging
from datetime import timedelta
from enum import StrEnum
from uuid import UUID

from django.conf import settings
from django.db.models import F, QuerySet
from django.utils import translation
from django.utils.timezone import now
from django.utils.translation import gettext as _
from pydantic import BaseModel

from engines import labels
from engines.models import PendingAction, Review, TaskRun
from engines.sop.findings import open_now
from memory.visibility import told_to
from projects.db import atomic
from projects.models import Member
from projects.prepared import Prepared
from wechat import review_cards, settling
from wechat.circle import Circle, orderer
from wechat.models import OutboxMessage
from wechat.outbox import Payload, enqueue, tell

logger = logging.getLogger(__name__)

Status = OutboxMessage.Status
FINDINGS_SHOWN = 5


class What(StrEnum):
    """What can happen to a run that somebody has to hear of."""

    ASKED = "asked"
    JOINED = "joined"
    DECIDED = "decided"
    FINISHED = "finished"


class Event(BaseModel):
    """A row's content: the run, and the review in the version it was asked in."""

    what: What
    run: UUID
    review: int | None = None
    version: int | None = None


LANE = "run:"
"""No userid of WeCom has a colon."""


def lane(run: UUID) -> str:
    """Where a run's events are."""
    return f"{LANE}{run}"


def run_of(to_user: str) -> str:
    """The id of the run whose events are in this lane; "" for people's lanes."""
    return to_user.removeprefix(LANE) if to_user.startswith(LANE) else ""


def keep(what: What, run: TaskRun, review: Review | None = None) -> None:
    """Note an event, in the transaction of what happened; a second time does nothing."""
    ref = f"{review.pk}@{review.version}" if review else str(run.pk)
    if what == What.JOINED:
        ref = f"{ref}:{run.pk}"
    about = {"review": review.pk, "version": review.version} if review else {}
    enqueue(
        to_user=lane(run.pk),
        project=run.project,
        kind=OutboxMessage.Kind.EVENT,
        content={"what": what, "run": str(run.pk), **about},
        key=f"{what}:{ref}",
    )


def spread(row: OutboxMessage) -> bool:
    """Put what the event makes of messages into their lanes, with the row done in the same transaction.

    False where it could not be done now, or another worker was faster.
    """
    try:
        with atomic():
            return _done(row) and _told(row)
    except Exception as error:  # whatever it is, a lane does not stand still for ever
        # Its text can quote a patient.
        logger.error("outbox %s: the event could not be told: %s", row.pk, type(error).__name__)
        _put_off(row, type(error).__name__)
        return False


def _told(row: OutboxMessage) -> bool:
    event = Event.model_validate(Payload.model_validate_json(row.payload).message)
    with translation.override(settings.LANGUAGE_CODE):  # what no single reader's language decides
        _TELL[event.what](event)
    return True


def _mine(row: OutboxMessage) -> QuerySet[OutboxMessage]:
    rows = OutboxMessage.objects.filter(pk=row.pk, fence=row.fence, status=Status.PENDING)
    return rows.filter(available_at__lte=now())


def _done(row: OutboxMessage) -> bool:
    tried = {"fence": F("fence") + 1, "attempts": F("attempts") + 1}
    return _mine(row).update(status=Status.SENT, sent_at=now(), error="", **tried) == 1


def _put_off(row: OutboxMessage, error: str) -> None:
    """Try later, and after many tries leave it to a person."""
    tries = row.attempts + 1
    given_up = tries >= settling.TRANSPORT_RETRIES
    if given_up:
        logger.error("ALERT outbox %s given up after %s attempts", row.pk, tries)
    _mine(row).update(
        status=Status.DEAD if given_up else Status.PENDING,
        available_at=now() + timedelta(seconds=settling.backoff(tries)),
        attempts=tries,
        fence=F("fence") + 1,
        error=error,
    )


_REVIEW = Prepared(
    lambda pk: (
        Review.objects.select_related("project", "task_run__skill")
        .defer("values", "task_run__data", "task_run__config", "task_run__skill__config")
        .filter(pk=pk)
        .order_by()
    ),
    int,
)
_RUN = Prepared(
    lambda pk: (
        TaskRun.objects.select_related("project", "skill")
        .defer("data", "config", "skill__config")
        .filter(pk=pk)
        .order_by()
    ),
    UUID,
)


def _asked(event: Event) -> None:
    """Ask the reviewers by card; tell who ordered the run that it waits. Nothing where that is over.

    A newer version is asked by its own event.
    """
    review = _review(event)
    if review is None or review.status != Review.Status.OPEN:
        return
    run = review.task_run
    circle = Circle.of(review, run)
    if review.version == event.version:
        review_cards.ask(circle, run)
    if run.batch_id or event.version != 1:
        return  # wechat.batch_messages tells it, or it has been told
    _tell_waiting(circle, run, f"suspended:{review.pk}")


def _joined(event: Event) -> None:
    """Tell who ordered one more run that it waits for a review that others wait for."""
    review = _review(event)
    run = next(iter(_RUN(event.run)), None)
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


def _decided(event: Event) -> None:
    """Take the buttons off the review's cards, wherever it was decided; perhaps the run has ended by it."""
    review = _review(event)
    if review is None:
        return
    review_cards.show_decision(review)
    if review.task_run.completed_at:
        _result(review.task_run)


def _finished(event: Event) -> None:
    for run in _RUN(event.run):
        _result(run)


_TELL = {
    What.ASKED: _asked,
    What.JOINED: _joined,
    What.DECIDED: _decided,
    What.FINISHED: _finished,
}


def _review(event: Event) -> Review | None:
    """The review with run and project; None where they were deleted."""
    review = next(iter(_REVIEW(event.review)), None)
    if review is not None:
        review.task_run.project = review.project
    return review


def _result(run: TaskRun) -> None:
    """Tell who ordered the run what came of it; a batch is told at its end (wechat.batch_messages)."""
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
    listed = (told_to(member, _line(row)) for row in open_now(run))
    messages = [text for text in listed if text]
    lines += [f"{number}. {text}" for number, text in enumerate(messages[:FINDINGS_SHOWN], 1)]
    if len(messages) > FINDINGS_SHOWN:
        lines.append(_("… %(number)s findings in all") % {"number": len(messages)})
    return "\n".join(lines)


def _line(row: PendingAction) -> str:
    """What was found; and that the data have changed since, where only a person's word is missing."""
    is_open = row.state == PendingAction.State.OPEN
    return row.message if is_open else f"{row.message} ({row.get_state_display()})"


def _state(run: TaskRun) -> str:
    """The status, and the end that was reached where its name says more."""
    status = str(TaskRun.Status(run.status).label)
    end = labels.name(labels.ENDS, run.final_state)
    return f"{status} ({end})" if end not in ("", status) else status
