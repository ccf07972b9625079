"""Telling a worker that a row has come in; a lost wake is found by the sweeper."""

from __future__ import annotations


def wake_inbox(pk: int) -> None:
    """Queue the row. Called after its commit."""
    from wechat.tasks import process_inbox

    process_inbox.delay(pk)
