"""Telling a worker that a message came in; a wake that is lost is found by the sweeper."""

from __future__ import annotations

from projects import wakes
from projects.db import after_commit
from wechat.models import InboxMessage


def wake_inbox(row: InboxMessage) -> None:
    """Let a worker answer the message once this transaction is committed."""
    from wechat.tasks import process_inbox

    after_commit(lambda: wakes.wake(process_inbox, row.pk))
