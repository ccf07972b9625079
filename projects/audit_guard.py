"""Database triggers that refuse to change or delete audit entries (design.md 9.9)."""

from __future__ import annotations

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = "iit_audit_log"
_REFUSAL = "audit entries cannot be changed"


def install(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers of this database vendor."""
    with connection.cursor() as cursor:
        for statement in _STATEMENTS[connection.vendor]:
            cursor.execute(statement)


def remove(connection: BaseDatabaseWrapper) -> None:
    """Drop the triggers: only for reversing the migration and for emptying a test database."""
    suffix = f" ON {TABLE}" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        for event in ("update", "delete"):
            cursor.execute(f"DROP TRIGGER IF EXISTS iit_audit_no_{event}{suffix}")


def _sqlite(event: str) -> str:
    return (
        f"CREATE TRIGGER IF NOT EXISTS iit_audit_no_{event.lower()} BEFORE {event} ON {TABLE} "
        f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
    )


def _postgresql(event: str) -> str:
    return (
        f"CREATE OR REPLACE TRIGGER iit_audit_no_{event.lower()} BEFORE {event} ON {TABLE} "
        "FOR EACH ROW EXECUTE FUNCTION iit_audit_refuse()"
    )


_FUNCTION = (
    "CREATE OR REPLACE FUNCTION iit_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS "
    f"$$ BEGIN RAISE EXCEPTION '{_REFUSAL}'; END $$"
)
_STATEMENTS = {
    "sqlite": [_sqlite("UPDATE"), _sqlite("DELETE")],
    "postgresql": [_FUNCTION, _postgresql("UPDATE"), _postgresql("DELETE")],
}
