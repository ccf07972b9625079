"""The house again from an archive of `projects.backup` (docs/operating/backup.md)."""

from __future__ import annotations

import os
import re
import shutil
import sqlite3
from collections.abc import Collection
from contextlib import closing
from pathlib import Path
from typing import Any

import redis
from django.conf import settings
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.core.checks import CheckMessage, Error, register
from django.core.management import call_command
from django.db import DatabaseError, connection
from django.utils.timezone import now

from core.house.db import atomic
from core.house.models import BrokerMessage, Heartbeat
from projects import audit, audit_anchors, signals
from projects.backup import (
    ANCHORS,
    DATABASE,
    BackupError,
    Manifest,
    alive,
    beside,
    check_keys,
    read_manifest,
    run_tool,
    unpack,
)

MARK = "iit_restore_unfinished"
"""A table that comes with the restored database and goes when all that belongs to it is done."""


class RestoreUnfinished(BackupError):
    """The database is the archive's, but the rest is not done: no process starts until it is restored again."""


def restore(path: Path, *, replace: bool = False, moved: bool = False) -> Manifest:
    """Put the database and the audit anchors of an archive where those of this house are.

    The house must be stopped. `replace`: over a database that holds tables; `moved`: the house was stopped for
    the archive and has not run since, so what waited in it is still to be done. Else what waited to be sent or
    answered is withdrawn: it was, after the archive was made. Everyone has to log in again.
    Raises BackupError: another engine, wrong keys, a damaged archive, a house that runs, anchors that cannot be
    written; nothing is changed. Raises RestoreUnfinished where something failed later.
    """
    manifest = read_manifest(path)
    _refuse(manifest, path, replace=replace)
    with beside(Path(settings.VAR_DIR)) as folder:
        unpack(path, manifest, folder)
        anchors = _lay_ready(folder / ANCHORS)
        try:
            connection.close()
            _RESTORE[connection.vendor](folder / DATABASE[connection.vendor])
        except BaseException:
            anchors.unlink(missing_ok=True)
            raise
        try:
            _place(anchors)
            settle(manifest, moved=moved)
        except (OSError, DatabaseError, redis.RedisError) as error:
            raise RestoreUnfinished(
                f"The database is that of {path}, but the rest failed ({error}): mend it and restore again "
                "with --replace; until then no process starts"
            ) from error
    return manifest


@register()
def restore_unfinished(**_: Any) -> list[CheckMessage]:
    """After half a restore what was sent would be sent again, and old log-ins would hold."""
    try:
        if MARK not in connection.introspection.table_names():
            return []
    except DatabaseError:  # whether there is one is for /readyz to tell
        return []
    hint = "Run manage.py restore --replace with the archive again."
    return [Error("A restore of this database was not finished.", hint=hint, id="iit.E011")]


def _refuse(manifest: Manifest, path: Path, *, replace: bool) -> None:
    """Everything that can be known to be wrong before anything is changed. Raises BackupError."""
    if manifest.engine != connection.vendor:
        raise BackupError(f"{path} is of {manifest.engine}, this house runs on {connection.vendor}")
    check_keys(manifest, path)
    tables = connection.introspection.table_names()
    if tables and not replace:
        raise BackupError("The database is not empty: restore with --replace to write over it")
    if running := [*alive(tables), *_clients()]:
        raise BackupError(f"The house still runs ({', '.join(running)}): stop its processes first")
    _refuse_schema()
    try:
        # It is emptied at the end. Without Redis the cache is a table, which may not be there yet.
        if settings.REDIS_URL:
            cache.get(MARK)
    except redis.RedisError as error:
        raise BackupError(f"Redis cannot be reached: start it first ({error})") from error


def _refuse_schema() -> None:
    """PostgreSQL's is dropped and made again, which only its owner may. Raises BackupError."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT nspname, pg_get_userbyid(nspowner), current_user, current_database(),"
            " pg_has_role(nspowner, 'USAGE'), has_database_privilege(current_database(), 'CREATE')"
            " FROM pg_namespace WHERE nspname = current_schema()"
        )
        found = cursor.fetchone()
    if found is None:
        raise BackupError("The database has no schema to restore into: CREATE SCHEMA first")
    schema, owner, user, database, is_ours, may_create = found
    if not is_ours:
        raise BackupError(
            f"The schema {schema} belongs to {owner}: as an administrator of the server run "
            f'ALTER SCHEMA "{schema}" OWNER TO "{user}" in the database {database} first'
        )
    if not may_create:
        raise BackupError(
            f"{user} may make no schema: as an administrator of the server run "
            f'GRANT CREATE ON DATABASE "{database}" TO "{user}" first'
        )


def _clients() -> list[str]:
    """Who else is connected to this database of PostgreSQL: the web gives no sign of life."""
    if connection.vendor != "postgresql":
        return []
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pid, coalesce(nullif(application_name, ''), usename) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            " AND coalesce(backend_type, 'client backend') = 'client backend' ORDER BY pid"
        )
        return [f"connection {pid} of {name}" for pid, name in cursor.fetchall()]


def _restore_sqlite(source: Path) -> None:
    """By SQLite itself: whoever has the file open sees the old database or the new one, whole."""
    target = Path(connection.settings_dict["NAME"])
    with closing(sqlite3.connect(source)) as copy:
        (verdict,) = copy.execute("PRAGMA integrity_check").fetchone()
        if verdict != "ok":
            raise BackupError(f"The database in the archive is damaged: {verdict}")
        copy.execute(f"CREATE TABLE IF NOT EXISTS {MARK} (what text)")
        copy.commit()
        with closing(sqlite3.connect(target)) as live:
            copy.backup(live)
    target.chmod(0o600)


def _restore_postgresql(source: Path) -> None:
    """One transaction: the schema as it was, or as it is in the archive."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_schema()")
        schema = connection.ops.quote_name(cursor.fetchone()[0])
        cursor.execute("SELECT name FROM pg_settings")
        _leave_out(source, {name for (name,) in cursor.fetchall()})
    connection.close()
    first, last = source.with_name("first.sql"), source.with_name("last.sql")
    begins = f"DROP SCHEMA IF EXISTS {schema} CASCADE;\n"
    # pg_dump quotes a name only where it has to.
    if not re.search(r"^CREATE SCHEMA ", _head(source), re.MULTILINE):
        begins += f"CREATE SCHEMA {schema};\n"
    first.write_text(begins, encoding="utf-8")
    last.write_text(f"CREATE TABLE IF NOT EXISTS {schema}.{MARK} (what text);\n", encoding="utf-8")
    command = ["psql", "--no-psqlrc", "--quiet", "--single-transaction", "--output=/dev/null"]
    files = [f"--file={one}" for one in (first, source, last)]
    run_tool([*command, "--set=ON_ERROR_STOP=1", *files])


def _leave_out(source: Path, known: Collection[str]) -> None:
    """Make a comment of each head line that sets what this server does not know: a newer pg_dump writes it."""
    with source.open("r+b") as file:
        start = 0
        while (line := file.readline()) and _HEAD.match(line):
            said = _SETS.match(line)
            if said and said[1].decode() not in known:
                file.seek(start)
                file.write(b"-- ")
                file.readline()
            start = file.tell()


def _head(source: Path) -> str:
    with source.open(encoding="utf-8") as file:
        return file.read(64 * 1024)


_HEAD = re.compile(rb"SET |SELECT pg_catalog\.set_config|--|\\|\s*$")
"""The lines before the first that makes something."""
_SETS = re.compile(rb"SET (\w+) = ")
_RESTORE = {"sqlite": _restore_sqlite, "postgresql": _restore_postgresql}


def _lay_ready(source: Path) -> Path:
    """The archive's anchors, under another name beside those that are here. Raises BackupError."""
    target = audit_anchors.path()
    ready = target.with_name(f".{target.name}.restored")
    try:
        with source.open("rb") as file, ready.open("wb") as copy:
            ready.chmod(0o600)
            shutil.copyfileobj(file, copy)
            copy.flush()
            os.fsync(copy.fileno())
    except OSError as error:
        raise BackupError(f"The audit anchors cannot be written: {error}") from error
    return ready


def _place(anchors: Path) -> None:
    """The archive's anchors where they belong; those that were here are kept beside them, never thrown away."""
    target = audit_anchors.path()
    if target.exists():
        target.replace(target.with_name(f"{target.name}.{now():%Y%m%dT%H%M%S%f}"))
    anchors.replace(target)


def settle(manifest: Manifest, *, moved: bool) -> None:
    """What must not be as it was, once the database is back: log-ins, messages of the broker, the cache."""
    # While the mark stands: no process starts with the cache of the house before. That of a house with Redis
    # had no table for it.
    if not settings.REDIS_URL:
        call_command("createcachetable", verbosity=0)
    cache.clear()
    with atomic():
        Session.objects.all().delete()
        if not moved:
            BrokerMessage.objects.all().delete()
        Heartbeat.objects.all().delete()
        signals.house_restored.send(sender=None, moved=moved)
        audit.record(
            "house.restore",
            actor="system",
            new={"made_at": manifest.made_at, "version": manifest.version, "moved": moved},
        )
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {MARK}")
