"""A PostgreSQL database of our own for a benchmark: made, migrated, dropped."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit, urlunsplit

import psycopg
from psycopg import sql

NAME = "iit_bench"
USUAL = (
    "postgresql://127.0.0.1:5432/postgres",
    "postgresql://postgres@127.0.0.1:5432/postgres",
)
ABSENT = "no PostgreSQL (DATABASE_URL or 127.0.0.1:5432)"


def _reachable() -> str | None:
    """The address of a server where we may make databases."""
    given = os.environ.get("DATABASE_URL")
    for url in (given,) if given else USUAL:
        if urlsplit(url).scheme not in {"postgres", "postgresql"}:
            continue
        try:
            psycopg.connect(url, connect_timeout=3).close()
        except psycopg.Error:
            continue
        return url
    return None


@contextmanager
def temporary() -> Iterator[str | None]:
    """The address of an empty, migrated database that Django uses; None without a server.

    Django must not be set up yet: each benchmark has a process of its own.
    """
    server = _reachable()
    if server is None:
        yield None
        return
    name = sql.Identifier(f"{NAME}_{os.getpid()}")
    with psycopg.connect(server, autocommit=True) as admin:
        admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))
        admin.execute(sql.SQL("CREATE DATABASE {}").format(name))
    parts = urlsplit(server)
    url = urlunsplit(parts._replace(path=f"/{NAME}_{os.getpid()}"))
    try:
        _set_up(url)
        yield url
    finally:
        from django.db import connections

        connections.close_all()
        with psycopg.connect(server, autocommit=True) as admin:
            admin.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(name))


def _set_up(url: str) -> None:
    os.environ["DATABASE_URL"] = url
    os.environ["DEBUG"] = "0"  # else Django keeps the text of every statement
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "iit_manager.settings")
    import django
    from django.core.management import call_command

    django.setup()
    logging.disable(logging.WARNING)
    call_command("migrate", verbosity=0)
    call_command("createcachetable", verbosity=0)
