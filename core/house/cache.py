"""Cached values as JSON: whoever can write Redis or the table of the cache must not run code with our keys.

Django's back ends keep pickles. What is not JSON (a pickle of before) reads as if it were not there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

from django.core.cache.backends.base import DEFAULT_TIMEOUT
from django.core.cache.backends.db import DatabaseCache
from django.db import connections, router


class JSONSerializer:
    """For Django's Redis cache. A value that JSON has no word for is a TypeError."""

    def dumps(self, value: Any) -> str | int:
        """As JSON; a whole number as Redis counts it."""
        return value if type(value) is int else json.dumps(value)

    def loads(self, data: bytes | str) -> Any:
        """The value; None for what is no JSON."""
        try:
            return json.loads(data)
        except ValueError:
            return None


class JSONTableCache(DatabaseCache):
    """Django's cache in a table of the database, with JSON as values and one statement for each write."""

    serializer = JSONSerializer()
    _table: str
    _max_entries: int
    _cull: Callable[..., None]

    def get_many(self, keys: Iterable[str], version: int | None = None) -> dict[str, Any]:
        """The values of those keys that are there and not expired."""
        known = {self.make_and_validate_key(key, version=version): key for key in keys}
        if not known:
            return {}
        connection = connections[router.db_for_read(self.cache_model_class)]
        marks = ", ".join(["%s"] * len(known))
        with connection.cursor() as cursor:
            cursor.execute(
                f"SELECT cache_key, value FROM {self._table}"  # noqa: S608 - a setting
                f" WHERE cache_key IN ({marks}) AND expires > %s",
                [*known, connection.ops.adapt_datetimefield_value(datetime.now(UTC))],
            )
            rows = cursor.fetchall()
        read = ((known[key], self.serializer.loads(value)) for key, value in rows)
        return {key: value for key, value in read if value is not None}

    def _base_set(
        self, mode: str, key: str, value: Any, timeout: float | None = DEFAULT_TIMEOUT
    ) -> bool:
        """Set, or (`add`) set where nothing is, or (`touch`) keep longer; whether it was done."""
        alias = router.db_for_write(self.cache_model_class)
        connection = connections[alias]
        moment = connection.ops.adapt_datetimefield_value
        now, until = datetime.now(UTC), self.get_backend_timeout(timeout)
        expires = datetime.max.replace(tzinfo=UTC, microsecond=0)
        if until is not None:
            expires = datetime.fromtimestamp(until, UTC)
        with connection.cursor() as cursor:
            if mode == "touch":
                cursor.execute(
                    f"UPDATE {self._table} SET expires = %s WHERE cache_key = %s AND expires > %s",  # noqa: S608
                    [moment(expires), key, moment(now)],
                )
                return bool(cursor.rowcount)
            cursor.execute(f"SELECT COUNT(*) FROM {self._table}")  # noqa: S608
            if (count := cursor.fetchone()[0]) > self._max_entries:
                self._cull(alias, cursor, now, count)
            taken = f" WHERE {self._table}.expires <= %s" if mode == "add" else ""
            cursor.execute(
                f"INSERT INTO {self._table} (cache_key, value, expires) VALUES (%s, %s, %s)"  # noqa: S608
                " ON CONFLICT (cache_key) DO UPDATE"
                f" SET value = excluded.value, expires = excluded.expires{taken}",
                [key, self.serializer.dumps(value), moment(expires)]
                + ([moment(now)] if taken else []),
            )
            return bool(cursor.rowcount)
