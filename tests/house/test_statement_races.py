"""Two transactions that want the same key and the same audit chain (design.md 9.9)."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager

import pytest
from django.db import connection, connections
from django.utils.timezone import now

from core.house.db import atomic, later, write_now
from projects import audit
from projects.models import AuditEntry, Project
from skills.models import FieldMapping, Skill
from study.models import Subject
from tests.house.kit import make_project

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(
        connection.vendor == "sqlite", reason="NOT RUN: PostgreSQL (set DATABASE_URL)"
    ),
]

BLOCKED = (
    "SELECT count(*) FROM pg_stat_activity "
    "WHERE wait_event_type = 'Lock' AND datname = current_database()"
)
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
            cursor.execute("SELECT pg_stat_clear_snapshot()")  # a transaction sees one otherwise
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


TELLING = """
CREATE FUNCTION tell_table() RETURNS trigger LANGUAGE plpgsql
    AS $$ BEGIN RAISE NOTICE '%', TG_TABLE_NAME; RETURN NEW; END $$;
CREATE TRIGGER tell BEFORE INSERT ON iit_field_mapping FOR EACH ROW EXECUTE FUNCTION tell_table();
CREATE TRIGGER tell BEFORE INSERT ON iit_subjects FOR EACH ROW EXECUTE FUNCTION tell_table();
CREATE TRIGGER tell BEFORE INSERT ON iit_skills FOR EACH ROW EXECUTE FUNCTION tell_table();
CREATE TRIGGER tell BEFORE UPDATE ON iit_audit_heads FOR EACH ROW EXECUTE FUNCTION tell_table();
"""


@contextmanager
def telling() -> Iterator[list[str]]:
    """The tables that are written, in the order in which PostgreSQL does it."""
    told: list[str] = []
    with connection.cursor() as cursor:
        cursor.execute(TELLING)
    connection.connection.add_notice_handler(lambda notice: told.append(notice.message_primary))
    try:
        yield told
    finally:
        connection.close()
        with connection.cursor() as cursor:
            cursor.execute("DROP FUNCTION tell_table CASCADE")


def keep(project: Project, number: int) -> None:
    later(FieldMapping(project=project, alias_name=f"a{number}", actual_name="x"), ignore=True)
    later(Subject(project=project, record_id=f"P{number}", synced_at=now()), ignore=True)
    later(Skill(project=project, skill_type=f"s{number}", name="x", config={}), ignore=True)


def test_every_way_inserts_in_one_order() -> None:
    """Two that insert the same keys in different orders wait for each other."""
    project = make_project()
    orders = []
    with telling() as told:
        for number in range(4):
            with atomic():
                keep(project, number)
                if number == 1:
                    write_now()
                if number > 1:  # the first entry of a chain, and one that follows the end we know
                    audit.record("plan.change", actor="x", project=project)
            orders.append([table for table in told if table != "iit_audit_heads"])
            assert "iit_audit_heads" not in told[:3], "the chain is claimed last"
            told.clear()

    assert len(orders[0]) == 3
    assert all(order == orders[0] for order in orders)
