"""Fixtures that every test can ask for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection


@pytest.fixture(autouse=True)
def _audit_guard(request: pytest.FixtureRequest) -> Iterator[None]:
    """Let transactional tests empty the audit table: its triggers refuse DELETE (projects.audit_guard)."""
    transactional = (
        "transactional_db" in request.fixturenames or "live_server" in request.fixturenames
    )
    marker = request.node.get_closest_marker("django_db")
    transactional |= bool(marker and marker.kwargs.get("transaction"))
    if not transactional:
        yield
        return
    from projects import audit_guard

    request.getfixturevalue("django_db_setup")
    blocker: Any = request.getfixturevalue("django_db_blocker")
    with blocker.unblock():
        audit_guard.remove(connection)
    yield
    with blocker.unblock():
        audit_guard.install(connection)


@pytest.fixture(autouse=True)
def _empty_cache(request: pytest.FixtureRequest) -> Iterator[None]:
    """No test sees another one's session memory."""
    yield
    if {"db", "transactional_db"} & set(request.fixturenames):
        from django.core.cache import cache

        cache.clear()
