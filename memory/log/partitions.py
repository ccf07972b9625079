"""The flow log by month on PostgreSQL (decisions.md, "flow log at scale"); nothing of this on SQLite."""

from __future__ import annotations

import logging
import re
from datetime import date
from itertools import pairwise
from typing import Any

from django.db import connection, migrations
from django.utils.timezone import localdate

log = logging.getLogger(__name__)
TABLE = "iit_conversation_history"


class CreatePartitioned(migrations.CreateModel):
    """CreateModel whose PostgreSQL table is partitioned by `created_at`, with a default partition."""

    def database_forwards(
        self, app_label: str, schema_editor: Any, from_state: Any, to_state: Any
    ) -> None:
        """The plain table on other databases."""
        if schema_editor.connection.vendor != "postgresql":
            super().database_forwards(app_label, schema_editor, from_state, to_state)
            return
        model = to_state.apps.get_model(app_label, self.name)
        sql, params = schema_editor.table_sql(model)
        schema_editor.execute(partitioned(sql), params or None)
        schema_editor.deferred_sql.extend(schema_editor._model_indexes_sql(model))
        schema_editor.execute(f"CREATE TABLE {TABLE}_default PARTITION OF {TABLE} DEFAULT")


def partitioned(sql: str) -> str:
    """Django's CREATE TABLE with the partition key in the primary key, as PostgreSQL demands."""
    sql, changed = re.subn(r'("id" uuid [^,]*NOT NULL) PRIMARY KEY', r"\1", sql)
    if changed != 1:
        raise ValueError("the primary key was not found")
    body = sql.rstrip().removesuffix(")")
    return f'{body}, PRIMARY KEY ("id", "created_at")) PARTITION BY RANGE ("created_at")'


def months(first: date, count: int) -> list[tuple[date, date]]:
    """`count` months from the one of `first`, each as (first day, first day of the next)."""
    starts = [
        date(first.year + (first.month - 1 + n) // 12, (first.month - 1 + n) % 12 + 1, 1)
        for n in range(count + 1)
    ]
    return list(pairwise(starts))


def prepare(count: int = 3) -> list[str]:
    """Create the partitions of this and the coming months; returns the names of new ones.

    Months are made ahead: one whose rows already lie in the default partition could not be split off.
    """
    if connection.vendor != "postgresql":
        return []
    made = []
    with connection.cursor() as cursor:
        for start, end in months(localdate(), count):
            name = f"{TABLE}_{start:%Y_%m}"
            cursor.execute("SELECT to_regclass(%s)", [name])
            if _one(cursor):
                continue
            cursor.execute(_TAKEN, [start, end])
            if _one(cursor):
                log.warning("%s was not made: the default partition holds its rows", name)
                continue
            cursor.execute(
                f"CREATE TABLE {name} PARTITION OF {TABLE} FOR VALUES FROM ('{start}') TO ('{end}')"
            )
            made.append(name)
    return made


_TAKEN = (
    "SELECT count(*) FROM iit_conversation_history_default"
    " WHERE created_at >= %s AND created_at < %s"
)


def _one(cursor: Any) -> Any:
    row = cursor.fetchone()
    return row and row[0]
