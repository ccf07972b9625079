"""Database triggers that refuse to change or delete audit entries (design.md 9.9)."""

from __future__ import annotations

from collections.abc import Iterator

from django.db.backends.base.base import BaseDatabaseWrapper

TABLE = "iit_audit_log"
_REFUSAL = "audit entries cannot be changed"


def install(connection: BaseDatabaseWrapper) -> None:
    """Create the triggers of this database vendor, anew where they are there."""
    remove(connection)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(_FUNCTION)
        for name, trigger in TRIGGERS[connection.vendor].items():
            cursor.execute(trigger)
            if connection.vendor == "postgresql":
                # Else a session that says it replicates would pass.
                cursor.execute(f"ALTER TABLE {TABLE} ENABLE ALWAYS TRIGGER {name}")


def remove(connection: BaseDatabaseWrapper) -> None:
    """Drop the triggers: only for reversing the migration and for emptying a test database."""
    suffix = f" ON {TABLE}" if connection.vendor == "postgresql" else ""
    with connection.cursor() as cursor:
        for name in TRIGGERS[connection.vendor]:
            cursor.execute(f"DROP TRIGGER IF EXISTS {name}{suffix}")


def missing(connection: BaseDatabaseWrapper) -> Iterator[str]:
    """Names of the triggers that are not there as they were made, or are switched off."""
    with connection.cursor() as cursor:
        cursor.execute(_INSTALLED[connection.vendor], [TABLE])
        found = dict(cursor.fetchall())
    for name, trigger in TRIGGERS[connection.vendor].items():
        # What a trigger of PostgreSQL does stands in its function.
        made = trigger + _BODY if connection.vendor == "postgresql" else trigger
        if found.get(name) != made:
            yield name


def _sqlite(event: str, name: str, when: str = "") -> str:
    return (
        f"CREATE TRIGGER {name} BEFORE {event} ON {TABLE} {when}"
        f"BEGIN SELECT RAISE(ABORT, '{_REFUSAL}'); END"
    )


def _postgresql(event: str, name: str, each: str = "ROW") -> str:
    return (
        f"CREATE TRIGGER {name} BEFORE {event} ON {TABLE} "
        f"FOR EACH {each} EXECUTE FUNCTION iit_audit_refuse()"
    )


# An insert that replaces deletes without asking the triggers of DELETE.
_TAKEN = (
    "WHEN EXISTS (SELECT 1 FROM iit_audit_log WHERE id = NEW.id) "
    "OR EXISTS (SELECT 1 FROM iit_audit_log WHERE chain = NEW.chain AND number = NEW.number) "
)
_BODY = f" BEGIN RAISE EXCEPTION '{_REFUSAL}'; END "
_FUNCTION = (
    f"CREATE OR REPLACE FUNCTION iit_audit_refuse() RETURNS trigger LANGUAGE plpgsql AS $${_BODY}$$"
)
TRIGGERS = {
    "sqlite": {
        "iit_audit_no_update": _sqlite("UPDATE", "iit_audit_no_update"),
        "iit_audit_no_delete": _sqlite("DELETE", "iit_audit_no_delete"),
        "iit_audit_no_replace": _sqlite("INSERT", "iit_audit_no_replace", _TAKEN),
    },
    "postgresql": {
        "iit_audit_no_update": _postgresql("UPDATE", "iit_audit_no_update"),
        "iit_audit_no_delete": _postgresql("DELETE", "iit_audit_no_delete"),
        "iit_audit_no_truncate": _postgresql("TRUNCATE", "iit_audit_no_truncate", "STATEMENT"),
    },
}
_INSTALLED = {
    "sqlite": "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND tbl_name = %s",
    "postgresql": (
        "SELECT tgname, pg_get_triggerdef(pg_trigger.oid, true) || prosrc FROM pg_trigger"
        " JOIN pg_proc ON pg_proc.oid = tgfoid"
        " WHERE tgrelid = to_regclass(%s) AND tgenabled = 'A'"
    ),
}
