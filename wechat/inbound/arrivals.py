"""The inbox row of a genuine callback, whichever channel it came by; each channel stores it its own way."""

from __future__ import annotations

import hashlib

from django.utils.timezone import now

from core.house import task_queue
from core.house.db import after_commit
from wechat.inbound.parse import Incoming
from wechat.models import InboxMessage
from wechat.outbound import alerts


def message(incoming: Incoming, raw: str, channel: str, passive_reply: str = "") -> InboxMessage:
    """What a worker has to answer."""
    return InboxMessage(
        channel=channel,
        dedup_key=incoming.dedup_key,
        from_user=incoming.from_user.lower(),
        msg_type=incoming.msg_type[:32],
        event=incoming.event[:64],
        content=incoming.content,
        raw=raw,
        passive_reply=passive_reply,
    )


def quarantined(plain: bytes, error: Exception, channel: str) -> InboxMessage:
    """What we cannot read: kept for an operator, who is told."""
    alerts.sound(alerts.Code.NOT_UNDERSTOOD, type(error).__name__)
    return InboxMessage(
        channel=channel,
        dedup_key=hashlib.sha256(b"quarantine" + plain).hexdigest(),
        msg_type="",
        raw=plain.decode(errors="replace"),
        status=InboxMessage.Status.QUARANTINED,
        error=str(error)[:300],
        done_at=now(),
    )


def wake_inbox(row: InboxMessage) -> None:
    """Let a worker answer the message once this transaction is committed; the sweeper finds a lost wake."""
    after_commit(lambda: task_queue.wake("wechat.tasks.process_inbox", row.pk))
