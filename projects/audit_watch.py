"""Whether the audit trail holds, with what guards it (design.md 9.9)."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from django.db import connection

from core.house import audit_guard
from projects import audit, audit_anchors
from projects.audit_anchors import FILE, Break


def verify(since: datetime | None = None) -> Iterator[Break]:
    """Every fault of the chains and the anchors, and each trigger that is missing."""
    yield from _unguarded()
    yield from audit.verify(since)


def look() -> list[Break]:
    """What is wrong at a short look: triggers, the end of the anchors, the entries they speak of."""
    try:
        anchored = audit_anchors.faults()
    except OSError as error:  # other storage may be away
        anchored = [Break(FILE, 0, f"anchors not read: {type(error).__name__}")]
    return [*_unguarded(), *anchored]


def _unguarded() -> Iterator[Break]:
    for name in audit_guard.missing(connection):
        yield Break("triggers", 0, f"trigger missing: {name}")
