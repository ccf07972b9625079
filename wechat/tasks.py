"""Celery tasks: they take ids, call one service and tolerate a row that is gone (CONTRIBUTING.md)."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Any

from celery import shared_task
from django.utils.timezone import now
from kombu.exceptions import OperationalError

from core.house.alone import alone
from wechat import housekeeping
from wechat.inbound import inbox
from wechat.outbound import notices, safety_notices, sender

logger = logging.getLogger(__name__)

SOON_S = 25.0  # what is due later than this is left to the sweeper
SWEEP_AT_ONCE = 500


@shared_task
def process_inbox(pk: int) -> None:
    """Answer one message, then wake the sender's next one."""
    following = inbox.process(pk)
    if following is not None:
        process_inbox.delay(following)


@shared_task
def send_lane(to_user: str, *others: str) -> None:
    """Send what is due to a recipient; come back when the next message is due soon.

    `others` have messages of the same transaction: another worker may have them.
    """
    for other in others:
        send_lane.delay(other)
    due = sender.send_lane(to_user)
    if due is None:
        return
    wait_s = max((due - now()).total_seconds(), 0.0)
    if wait_s < SOON_S:
        send_lane.apply_async((to_user,), countdown=wait_s)


@shared_task
def sweep() -> None:
    """Wake the workers for what a lost message or a killed worker left behind (every 30 s)."""
    alone("inbox", lambda: _queue(process_inbox, inbox.due(SWEEP_AT_ONCE)))
    alone("safety notices", safety_notices.tell_all)
    alone("notices", lambda: notices.release(SWEEP_AT_ONCE))
    alone("outbox", lambda: _queue(send_lane, sender.due_lanes(SWEEP_AT_ONCE)))
    housekeeping.run_due()


def _queue(task: Any, keys: Iterable[int | str]) -> None:
    """Without a broker nothing can be queued, and the database still has it all."""
    try:
        for key in keys:
            task.delay(key)
    except OperationalError as error:
        logger.error("sweep: the broker does not answer: %s", type(error).__name__)
