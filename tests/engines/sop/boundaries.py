"""Every instant at which a process may die: SQL statements, BEGIN, COMMIT, ROLLBACK, outside calls.

`execute_wrapper` sees the statements that go through a cursor, but not COMMIT: the connection's own methods
are wrapped as well. Before and after each of them is a boundary.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import httpx2
from django.db import connection

TRANSPORTS: tuple[Any, ...] = (httpx.HTTPTransport, httpx2.HTTPTransport)
TRANSACTION = ("_commit", "_rollback", "_set_autocommit")


class Boundaries:
    """Counts boundaries; at number `fatal` the process kills itself."""

    def __init__(self, fatal: int = 0) -> None:
        self.fatal = fatal
        self.count = 0
        self.kinds: dict[str, int] = {}

    def pass_by(self, kind: str) -> None:
        self.count += 1
        self.kinds[kind] = self.kinds.get(kind, 0) + 1
        if self.count == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, kind: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            self.pass_by(kind)
            try:
                return call(*args, **kwargs)
            finally:
                self.pass_by(kind)

        return wrapped

    @contextmanager
    def watch(self) -> Iterator[None]:
        """Count what this thread does with the database and over HTTP."""
        connection.ensure_connection()
        real = {kind: kind.handle_request for kind in TRANSPORTS}
        for name in TRANSACTION:
            setattr(connection, name, self.around(name.strip("_"), getattr(connection, name)))
        for kind, send in real.items():
            kind.handle_request = self.around("http", send)  # type: ignore[method-assign]
        try:
            with connection.execute_wrapper(self._statement):
                yield
        finally:
            for kind, send in real.items():
                kind.handle_request = send  # type: ignore[method-assign]
            for name in TRANSACTION:
                delattr(connection, name)

    def _statement(self, execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        return self.around(sql.split(None, 1)[0].upper(), execute)(sql, params, many, context)
