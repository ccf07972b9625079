"""What all tables hold, and whether something writes to them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.apps import apps
from django.db import connection, transaction

# A log-in's own traces, the notes of whom a page was shown to, and whether the own study's REDCap answered.
TRACES = {"sessions.Session", "projects.Read", "study.SyncState"}
# That a conversation was shown stands in the trail at once; entries are compared, so the heads need not be.
HEADS = "projects.AuditHead"
SHOWN = "conversation.read"


def snapshot() -> dict[str, frozenset[str]]:
    """What every table holds."""
    found = {}
    for model in apps.get_models():
        if model._meta.label in TRACES | {HEADS}:
            continue
        rows = model._base_manager.all()
        rows = rows.exclude(action=SHOWN) if model._meta.label == "projects.AuditEntry" else rows
        found[model._meta.label] = frozenset(map(repr, rows.values_list()))
    return found


def changed(before: dict[str, frozenset[str]]) -> dict[str, list[str]]:
    """What came into being or went since."""
    after = snapshot()
    return {
        label: sorted(rows ^ after[label])[:4]
        for label, rows in before.items()
        if rows != after[label]
    }


def writes(act: Callable[[], object]) -> bool:
    """Whether it writes to any table; what it wrote is taken back."""
    traces = {apps.get_model(label)._meta.db_table for label in TRACES}
    told: list[str] = []

    def note(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        told.append(sql)
        return execute(sql, params, many, context)

    with transaction.atomic(), connection.execute_wrapper(note):
        act()
        transaction.set_rollback(True)
    written = [sql for sql in told if sql.startswith(("INSERT", "UPDATE", "DELETE"))]
    return any(not any(f'"{table}"' in sql for table in traces) for sql in written)
