"""A prepared database, copied for every crash: a SQLite file, or a PostgreSQL template."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection, connections

from tests.support import database


class SqliteStore:
    """The file and its copy; the settings already name the copy."""

    def __init__(self) -> None:
        settings = connections.settings["default"]
        self.work = Path(str(settings["NAME"]))
        self.base = self.work.with_suffix(".base")
        # Only processes die here, not the machine: what a commit handed to the kernel stays.
        settings["OPTIONS"]["init_command"] += "PRAGMA synchronous=OFF;"

    def create(self) -> None:
        """A copy of the one that all tests begin with."""
        shutil.copyfile(database.template(), self.work)

    def freeze(self) -> None:
        with connection.cursor() as cursor:
            cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        connections.close_all()
        shutil.copyfile(self.work, self.base)

    def fresh(self) -> None:
        for suffix in ("-wal", "-shm"):
            Path(f"{self.work}{suffix}").unlink(missing_ok=True)
        shutil.copyfile(self.base, self.work)

    def drop(self) -> None:
        """The directory is the caller's."""


class PostgresStore:
    """Databases beside the configured one, made from a template."""

    def __init__(self, name: str) -> None:
        self.settings: dict[str, Any] = connections.settings["default"]
        self.home = self.settings["NAME"]
        self.work, self.base = f"{name}_work", f"{name}_base"
        self.settings["CONN_MAX_AGE"] = 0

    def create(self) -> None:
        self._run(
            f'DROP DATABASE IF EXISTS "{self.work}" WITH (FORCE)', f'CREATE DATABASE "{self.work}"'
        )
        call_command("migrate", verbosity=0)
        call_command("createcachetable", verbosity=0)

    def freeze(self) -> None:
        self._run(
            f'DROP DATABASE IF EXISTS "{self.base}" WITH (FORCE)',
            f'ALTER DATABASE "{self.work}" RENAME TO "{self.base}"',
        )

    def fresh(self) -> None:
        self._run(
            f'DROP DATABASE IF EXISTS "{self.work}" WITH (FORCE)',
            f'CREATE DATABASE "{self.work}" TEMPLATE "{self.base}"',
        )

    def drop(self) -> None:
        self._run(
            f'DROP DATABASE IF EXISTS "{self.work}" WITH (FORCE)',
            f'DROP DATABASE IF EXISTS "{self.base}" WITH (FORCE)',
        )

    def _run(self, *statements: str) -> None:
        import psycopg

        connections.close_all()
        where = {
            "host": self.settings["HOST"],
            "port": self.settings["PORT"],
            "user": self.settings["USER"],
        }
        with psycopg.connect(
            dbname=self.home, password=self.settings["PASSWORD"], autocommit=True, **where
        ) as server:
            for statement in statements:
                server.execute(statement)
        self.settings["NAME"] = self.work
        connection.settings_dict["NAME"] = self.work


def store(name: str) -> SqliteStore | PostgresStore:
    return SqliteStore() if connection.vendor == "sqlite" else PostgresStore(name)
