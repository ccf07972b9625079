"""Two transactions that want the same key and the same audit chain (design.md 9.9)."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, connections

from projects import audit
from projects.db import atomic, later, write_now
from projects.models import AuditEntry, Project
from skills.models import FieldMapping
from tests.house.kit import make_project

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        connection.vendor == "sqlite", reason="NOT RUN: PostgreSQL (set DATABASE_URL)"
    ),
]

BLOCKED = "SELECT count(*) FROM pg_locks WHERE NOT granted"
LOOKS = 20_000


def store(project: Project, reason: str) -> None:
    """The alias and the entry, which go to the database together at the end."""
    with atomic():
        later(FieldMapping(project=project, alias_name="a", actual_name=reason), ignore=True)
        audit.record("plan.change", actor="x", project=project, reason=reason)


def other(project: Project) -> None:
    try:
        store(project, "second")
    finally:
        connections.close_all()


def somebody_waits() -> bool:
    with connection.cursor() as cursor:
        for _look in range(LOOKS):
            cursor.execute(BLOCKED)
            if cursor.fetchone()[0]:
                return True
    return False


def test_who_waits_for_a_key_does_not_hold_the_chain() -> None:
    project = make_project()
    store(project, "before")  # from here on entries follow the end that this process knows
    FieldMapping.objects.all().delete()

    with ThreadPoolExecutor(1) as pool:
        with atomic():
            later(FieldMapping(project=project, alias_name="a", actual_name="first"), ignore=True)
            write_now()
            waiting = pool.submit(other, project)
            assert somebody_waits()
            audit.record("plan.change", actor="x", project=project, reason="first")
        waiting.result()

    assert FieldMapping.objects.get().actual_name == "first"
    reasons = AuditEntry.objects.order_by("number").values_list("reason", flat=True)
    assert [*reasons] == ["before", "first", "second"]
    assert [*audit.verify()] == []
