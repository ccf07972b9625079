"""Telling a worker that a message came in; a wake that is lost is found by the sweeper."""

from __future__ import annotations

from core.house import task_queue
from core.house.db import after_commit
from wechat.models import InboxMessage


def wake_inbox(row: InboxMessage) -> None:
    """Let a worker answer the message once this transaction is committed."""
    after_commit(lambda: task_queue.wake("wechat.tasks.process_inbox", row.pk))
