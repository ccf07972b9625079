"""What becomes of an outbox row after the call (wecom.md 3.6, 8.2)."""

from __future__ import annotations

import logging
import random
from datetime import timedelta
from typing import Any

from django.utils.timezone import now

from core.house.db import atomic
from core.integrations.wecom import Kind, SendError, Sent
from core.integrations.wecom.results import Result
from wechat.models import Alert, Card, OutboxMessage
from wechat.models.cards import CODE_CHARS
from wechat.outbound import alerts, formats
from wechat.outbound.outbox import Payload, enqueue

logger = logging.getLogger(__name__)

Status = OutboxMessage.Status
CODE_RETRIES = 3  # "at most three" where WeCom answers busy (3.6)
TRANSPORT_RETRIES = 12  # about half an hour where WeCom does not answer
LONGEST_S = 300.0
LONGEST_WAIT_S = 3600.0
WINDOW_MARGIN_S = 5
# Codes by which WeCom says that the first, unanswered call had worked.
_USED_UP = {
    OutboxMessage.Kind.CARD_UPDATE: frozenset({60140, 42022}),
    OutboxMessage.Kind.CARD: frozenset({42014, 42022}),
    OutboxMessage.Kind.RESPONSE: frozenset({60140, 42022}),
}


def settle(row: OutboxMessage, result: Result) -> None:
    """Write the result under the row's fencing number; a worker that lost its lease writes nothing."""
    if isinstance(result, SendError) and _had_worked(row, result):
        result = Sent()
    with atomic():
        values = _accepted(result) if isinstance(result, Sent) else _refused(row, result)
        mine = OutboxMessage.objects.filter(pk=row.pk, fence=row.fence, status=Status.SENDING)
        if not mine.update(lease_until=None, **values):
            logger.warning("outbox %s: lease lost, its result is left to the next worker", row.pk)
            return
        _note_reach(row, result)
        if isinstance(result, Sent):
            _note_card(row, result)
        elif values["status"] in OutboxMessage.DEAD_LETTERS:
            _fall_back(row)


def _note_reach(row: OutboxMessage, result: Result) -> None:
    """Alerts for people and for the app, set and cleared by what came of the call."""
    readers = set(row.to_user.split("|"))
    if isinstance(result, SendError):
        alerts.sound_for(result)
        named = "not delivered" in result.detail
        missed = readers if result.code in alerts.UNREACHABLE or named else set()
    else:
        missed = set(result.undelivered)
        # An update says nothing about who can be reached.
        alerts.calls_work(readers - missed if row.kind != OutboxMessage.Kind.CARD_UPDATE else ())
    for userid in sorted(missed):
        alerts.sound(Alert.Code.UNREACHABLE, f"outbox {row.pk}", subject=userid)


def _had_worked(row: OutboxMessage, error: SendError) -> bool:
    kind = OutboxMessage.Kind(row.kind)
    return row.is_ambiguous and error.code in _USED_UP.get(kind, frozenset())


def _accepted(sent: Sent) -> dict[str, Any]:
    if sent.undelivered:
        logger.warning("WeCom did not reach %s of the recipients", len(sent.undelivered))
    return {
        "status": Status.SENT,
        "msgid": sent.msgid[:128],
        "response_code": sent.response_code[:CODE_CHARS],
        "sent_at": now(),
        "error": "",
        "error_code": None,
    }


def _refused(row: OutboxMessage, error: SendError) -> dict[str, Any]:
    noted: dict[str, Any] = {"error": error.detail[:300], "error_code": error.code}
    if error.kind is Kind.PERMANENT:
        logger.error("ALERT outbox %s refused: %s %s", row.pk, error.code, error.detail)
        return {"status": Status.FAILED, **noted}
    if error.kind is Kind.ALERT:
        # Kept until an operator acts; these tries do not count (O9).
        return _later(row, error.wait_s, attempts=row.attempts - 1, **noted)
    if error.kind is Kind.WAIT:
        delay = min(error.wait_s * 2 ** (row.attempts - 1), LONGEST_WAIT_S)
        if row.attempts <= TRANSPORT_RETRIES:
            return _later(row, delay, **noted)
    elif row.attempts <= (CODE_RETRIES if error.code else TRANSPORT_RETRIES):
        ambiguous = row.is_ambiguous or error.kind is Kind.AMBIGUOUS
        delay = backoff(row.attempts)
        return _later(row, _in_time(row, delay) if ambiguous else delay, ambiguous, **noted)
    logger.error("ALERT outbox %s given up after %s attempts", row.pk, row.attempts)
    return {"status": Status.DEAD, **noted}


def backoff(attempts: int) -> float:
    """2, 4, 8 … seconds with jitter (45033 asks for it), short enough for the duplicate check."""
    return min(2.0**attempts, LONGEST_S) * random.uniform(0.75, 1.0)


def _in_time(row: OutboxMessage, delay: float) -> float:
    """Rather a little early than after WeCom has forgotten the first try: then it would deliver twice."""
    if row.first_tried_at is None or row.duplicate_interval is None:
        return delay
    window = timedelta(seconds=row.duplicate_interval - WINDOW_MARGIN_S)
    left = (row.first_tried_at + window - now()).total_seconds()
    return min(delay, left) if left > 1.0 else delay


def _later(
    row: OutboxMessage, delay: float, ambiguous: bool = False, **values: Any
) -> dict[str, Any]:
    return {
        "status": Status.PENDING,
        "available_at": now() + timedelta(seconds=delay),
        "is_ambiguous": row.is_ambiguous or ambiguous,
        **values,
    }


def _note_card(row: OutboxMessage, sent: Sent) -> None:
    """Keep the code that changes the card later (3.4)."""
    if row.kind != OutboxMessage.Kind.CARD or not sent.response_code:
        return
    card = Payload.model_validate_json(row.payload).message["template_card"]
    # A click may have come first and left a newer code (A15).
    unknown = Card.objects.filter(task_id=card.get("task_id"), response_code="")
    unknown.update(response_code=sent.response_code[:CODE_CHARS])


def _fall_back(row: OutboxMessage) -> None:
    """A text to each recipient in place of a refused card or update (A8)."""
    payload = Payload.model_validate_json(row.payload)
    for userid in row.to_user.split("|") if payload.fallback else ():
        if row.kind == OutboxMessage.Kind.CARD and formats.reads_plain(userid, row.project):
            continue  # who sees no cards has been told in words
        enqueue(
            to_user=userid,
            project=row.project,
            kind=OutboxMessage.Kind.TEXT,
            content=payload.fallback,
            key=f"fallback:{row.pk}:{userid}",
        )
