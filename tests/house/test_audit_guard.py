"""Triggers of the database in use refuse to change or delete audit entries (design.md 9.9)."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from django.db import DatabaseError, connection, transaction

from core.house import audit_guard
from core.house.db import atomic
from projects import audit
from projects.models import AuditEntry
from tests.house.kit import make_project

pytestmark = [pytest.mark.django_db, pytest.mark.database]


def raw(sql: str) -> Callable[[AuditEntry], object]:
    def run(entry: AuditEntry) -> object:
        with connection.cursor() as cursor:
            return cursor.execute(sql)

    return run


def saved(entry: AuditEntry) -> object:
    entry.reason = "forged"
    return entry.save()


INSERTED = "SELECT * FROM iit_audit_log"
REPLACING = {
    "sqlite": {
        "replace": raw(f"INSERT OR REPLACE INTO iit_audit_log {INSERTED}"),
        "replace by its number": raw(
            "INSERT OR REPLACE INTO iit_audit_log (chain, number, at, actor, action, object_type, object_id,"
            " label, record_id, reason, previous, hash) SELECT chain, number, at, 'forged', action, '', '',"
            " '', '', 'forged', previous, hash FROM iit_audit_log"
        ),
        "update or replace": raw("UPDATE OR REPLACE iit_audit_log SET reason = 'forged'"),
    },
    "postgresql": {
        "truncate": raw("TRUNCATE iit_audit_log"),
        "truncate cascade": raw("TRUNCATE iit_audit_log RESTART IDENTITY CASCADE"),
        "insert or update": raw(
            f"INSERT INTO iit_audit_log {INSERTED} ON CONFLICT (id) DO UPDATE SET reason = 'forged'"
        ),
        "update as a replica": raw(
            "SET LOCAL session_replication_role = replica; UPDATE iit_audit_log SET reason = 'forged'"
        ),
    },
}
WAYS: dict[str, Callable[[AuditEntry], object]] = {
    "save": saved,
    "update": lambda entry: AuditEntry.objects.update(reason="forged"),
    "bulk_update": lambda entry: AuditEntry.objects.bulk_update([entry], ["reason"]),
    "delete": lambda entry: entry.delete(),
    "delete all": lambda entry: AuditEntry.objects.all().delete(),
    "raw update": raw("UPDATE iit_audit_log SET reason = 'forged'"),
    "raw update that changes nothing": raw("UPDATE iit_audit_log SET reason = reason"),
    "raw delete": raw("DELETE FROM iit_audit_log"),
    **REPLACING[connection.vendor],
}


@pytest.fixture
def entry() -> AuditEntry:
    with atomic():
        audit.record("login", actor="zhangyi", reason="true")
    return AuditEntry.objects.get()


@pytest.mark.parametrize("way", WAYS)
def test_no_way_to_change_an_entry(entry: AuditEntry, way: str) -> None:
    with (
        pytest.raises(DatabaseError, match="audit entries cannot be changed"),
        transaction.atomic(),
    ):
        WAYS[way](entry)
    assert AuditEntry.objects.get().reason == "true"


def test_a_study_that_is_deleted_leaves_its_entries() -> None:
    project = make_project()
    with atomic():
        audit.record("login", actor="zhangyi", project=project)
    chain = str(project.pk)
    project.delete()
    assert AuditEntry.objects.filter(chain=chain).count() == 1
    assert [*audit.verify()] == []


def test_installing_twice_is_no_error_and_removing_can_be_undone(entry: AuditEntry) -> None:
    audit_guard.install(connection)
    audit_guard.remove(connection)
    audit_guard.remove(connection)
    AuditEntry.objects.update(reason="true")
    audit_guard.install(connection)
    with pytest.raises(DatabaseError), transaction.atomic():
        AuditEntry.objects.update(reason="forged")
