"""Questions through the API, worked out by a worker: stored, claimed, answered exactly once (contracts.md).

As with messages of WeCom the database is the truth: a lost wake or a killed worker is found by the sweeper,
a task that is delivered twice changes nothing.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import translation
from django.utils.timezone import now

from core.house import current_login, task_queue
from core.house.db import after_commit, atomic
from core.house.leases import LEASE, kept
from engines.assistant.chat import ChatReply, answer_message
from engines.assistant.texts import FAILED
from engines.models import Question
from projects.models import Person

logger = logging.getLogger(__name__)

Status = Question.Status
MAX_ATTEMPTS = 3
BACKOFF_S = (2, 10)
# A question that has just come in has its wake under way.
SWEEP_AFTER = timedelta(seconds=10)
KEPT = timedelta(days=1)
LOOKS_S = (0.05, 0.5)  # how often who waits looks for the answer, at first and at last


class LostLease(Exception):
    """Another worker has the question: whatever this one wanted to write is rolled back."""


def put_question(
    *, person: Person, login: str, text: str, project_code: str, may_order: bool = True
) -> Question:
    """Store a question and wake a worker. `may_order`: it may start runs, where the person may."""
    with atomic():
        question = Question.objects.create(
            person=person,
            login=login,
            text=text,
            project_code=project_code,
            may_order=may_order,
        )
        after_commit(lambda: task_queue.wake("engines.tasks.answer_question", question.pk))
    return question


def wait_for_answer(question: Question) -> Question:
    """The question as it is once it is answered, or after `CHAT_WAIT_S` seconds."""
    until = time.monotonic() + settings.CHAT_WAIT_S
    pause, most = LOOKS_S
    while question.status != Status.DONE and time.monotonic() < until:
        time.sleep(pause)
        pause = min(pause * 1.5, most)
        question.refresh_from_db()
    return question


def reply_of(question: Question) -> dict[str, Any] | None:
    """What `POST chat/` and `GET chat/{id}/` say of an answered question, None of one that waits."""
    found: dict[str, Any] | None = json.loads(question.reply) if question.reply else None
    return found


def answer_question(pk: int) -> int | None:
    """Answer a question if it is this worker's turn; the person's next due one, if any."""
    question = _claim(pk)
    if question is None:
        return None
    try:
        with (
            kept(_ours(question)),
            current_login.through(question.login, may_order=question.may_order),
        ):
            _answer(question)
    except LostLease:
        logger.warning("question %s: lease lost", question.pk)
        return None
    waiting = Question.objects.filter(_due(now()), ~Exists(_older()), person=question.person_id)
    return waiting.values_list("pk", flat=True).first()


def due_questions(limit: int = 200) -> Iterator[int]:
    """Questions whose wake was lost or whose worker died (the sweeper's question)."""
    rows = Question.objects.filter(_due(now() - SWEEP_AFTER), ~Exists(_older()))
    return rows.order_by("pk").values_list("pk", flat=True)[:limit].iterator()


def forget_answered() -> None:
    """Delete what was answered a day ago; the flow log has it for as long as the study says."""
    Question.objects.filter(done_at__lt=now() - KEPT).delete()


def _due(at: datetime) -> Q:
    fresh = Q(status=Status.NEW, available_at__lte=at)
    return fresh | Q(status=Status.PROCESSING, lease_until__lt=at)


def _older() -> QuerySet[Question]:
    return Question.objects.filter(
        person=OuterRef("person"), pk__lt=OuterRef("pk"), status__in=Question.UNFINISHED
    )


def _claim(pk: int) -> Question | None:
    """The question, leased to the caller; None while it is not due, taken, done or behind an older one."""
    at = now()
    claimed = Question.objects.filter(_due(at), ~Exists(_older()), pk=pk).update(
        status=Status.PROCESSING,
        lease_until=at + LEASE,
        fence=F("fence") + 1,
        attempts=F("attempts") + 1,
    )
    return Question.objects.select_related("person").get(pk=pk) if claimed else None


def _ours(question: Question) -> QuerySet[Question]:
    return Question.objects.filter(pk=question.pk, fence=question.fence, status=Status.PROCESSING)


def _answer(question: Question) -> None:
    if question.attempts > MAX_ATTEMPTS:
        _fail(question)
        return
    member = question.person.memberships.filter(is_active=True).first()
    try:
        with translation.override(member.language if member else settings.LANGUAGE_CODE):
            answer_message(
                person=question.person,
                text=question.text,
                project_code=question.project_code or None,
                answer_id=question.conversation_id,
                in_transaction=lambda reply: _close(question, reply),
            )
    except LostLease:
        raise
    except Exception as error:  # whatever went wrong, the question gets its one reply
        # Only the name: the text of an exception can quote a patient.
        logger.error("question %s: %s", question.pk, type(error).__name__)
        if question.attempts >= MAX_ATTEMPTS:
            _fail(question)
        else:
            again = now() + timedelta(seconds=BACKOFF_S[question.attempts - 1])
            _ours(question).update(status=Status.NEW, lease_until=None, available_at=again)


def _close(question: Question, reply: ChatReply) -> None:
    """The last statement of the one transaction that answers. Raises LostLease."""
    body = {
        "reply": reply.text,
        "intents": reply.intents,
        "record_ids": reply.record_ids,
        "conversation_id": str(question.conversation_id),
    }
    closed = _ours(question).update(
        status=Status.DONE,
        done_at=now(),
        lease_until=None,
        project=reply.project,
        reply=json.dumps(body, ensure_ascii=False),
    )
    if not closed:
        raise LostLease


def _fail(question: Question) -> None:
    with atomic():
        _close(question, ChatReply(FAILED.format(number=question.pk)))
