"""A database of each landed layout comes to today's tables with `migrate`, with all its rows."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import connection

from tests.upgrade.dump import FOLDER, KEYS, place

pytestmark = pytest.mark.database

ROOT = FOLDER.parents[1]
URL = os.environ.get("DATABASE_URL", "")
# What a database has beside its landed rows is made by the migrations themselves.
KEPT = [
    "projects.Project",
    "projects.AuditEntry",
    "engines.TaskRun",
    "study.Reading",
    "study.Subject",
]


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Of a house with a database of its own, on the server that the suite runs on."""
    found = {**os.environ, "VAR_DIR": str(tmp_path), "FIELD_ENCRYPTION_KEYS": KEYS, "DEBUG": "1"}
    if connection.vendor == "sqlite":
        yield found | {"DATABASE_URL": ""}
        return
    import psycopg

    name = f"upgrade_{uuid4().hex[:12]}"
    with psycopg.connect(URL, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield found | {"DATABASE_URL": urlsplit(URL)._replace(path=f"/{name}").geturl()}
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


def execute(environment: dict[str, str], statements: str) -> None:
    if connection.vendor == "sqlite":
        with closing(sqlite3.connect(Path(environment["VAR_DIR"]) / "iit.sqlite3")) as database:
            database.executescript(statements)
        return
    import psycopg

    with psycopg.connect(environment["DATABASE_URL"]) as database:
        database.execute(statements)


def restore(commit: str, environment: dict[str, str]) -> None:
    kept = place(commit, connection.vendor).read_bytes()
    execute(environment, gzip.decompress(kept).decode())


def run(environment: dict[str, str], *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command], cwd=ROOT, env=environment, capture_output=True, text=True
    )


def look(environment: dict[str, str]) -> dict[str, Any]:
    done = run(environment, "-m", "tests.upgrade.look")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.slow
@pytest.mark.kept
@pytest.mark.parametrize("commit", ["b217bbc", "f7e1961", "b8acff1"])
def test_a_database_of_a_landed_commit_is_upgraded(
    commit: str, environment: dict[str, str], db: None
) -> None:
    restore(commit, environment)
    found = look(environment)
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            fresh = connection.introspection.get_table_description(cursor, table)
            columns = sorted(
                [column.name, str(column.type_code), column.display_size, column.null_ok]
                for column in fresh
            )
            assert found["tables"][table] == columns, table
    assert all(found["rows"][name] for name in KEPT), found["rows"]
    assert found["faults"] == []
    assert len(found["types"]) == len({one.split(".")[1] for one in found["types"]}), found["types"]


@pytest.mark.full
def test_a_database_of_another_version_is_refused_and_left(
    environment: dict[str, str], db: None
) -> None:
    restore("b8acff1", environment)
    execute(
        environment,
        "INSERT INTO django_migrations (app, name, applied)"
        " VALUES ('engines', '0099_of_tomorrow', '2027-01-01')",
    )
    done = run(environment, "manage.py", "migrate", "--verbosity", "0")
    assert done.returncode == 1
    assert "engines.0099_of_tomorrow" in done.stderr
    kept = run(environment, "manage.py", "showmigrations", "engines")
    assert "[ ] 0010_repair_earlier_landings" in kept.stdout


def test_landed_migrations_are_never_edited() -> None:
    """Where this fails: undo the edit and write a new migration. Lines are only ever added."""
    for line in (FOLDER / "landed.sha256").read_text().splitlines():
        digest, name = line.split()
        # A move of folders may change import paths and nothing else.
        text = (Path(settings.BASE_DIR) / name).read_bytes()
        text = re.sub(rb"(?<![.\w])core\.(?=house\b)", b"", text)
        assert hashlib.sha256(text).hexdigest() == digest, name
