"""The documented tables take the statements of their own documentation (seed 002): SQL, not the ORM."""

from __future__ import annotations

import uuid
from datetime import UTC, date, datetime

import pytest
from django.apps import apps
from django.db import connection, models

from core.house.encrypted_fields import is_sealed
from projects.models import Project

pytestmark = pytest.mark.database

# What seed 002 demands of each table: every column without `?`, `@default` or `@updatedAt`.
REQUIRED: dict[str, tuple[str, ...]] = {
    "iit_skills": ("skill_type", "name", "config"),
    "iit_field_mapping": ("alias_name", "actual_name"),
    "iit_task_run": ("skill_id", "triggered_by", "status"),
    "iit_pending_actions": ("task_run_id", "action_type", "message", "severity"),
    "iit_conversation_history": ("user_id", "role", "content"),
    "iit_project_memory": ("content", "last_updated_by"),
    "iit_weekly_reports": ("week_number", "week_start", "week_end", "summary", "created_by"),
    "iit_agent_trace": ("user_id", "query", "trace", "success"),
    "iit_form_templates": ("form_name", "field_schema", "keywords"),
}
# In this order, because some point at others.
VALUES: dict[str, object] = {
    "config": "{}",
    "trace": "{}",
    "field_schema": "{}",
    "keywords": "[]",
    "status": "RUNNING",
    "role": "user",
    "action_type": "warning",
    "severity": "info",
    "week_number": 1,
    "success": True,
}


@pytest.fixture
def project(db: None) -> Project:
    return Project.objects.create(code="T", name="T", start_date=date(2026, 9, 7))


def model_of(table: str) -> type[models.Model]:
    return next(model for model in apps.get_models() if model._meta.db_table == table)


def insert(table: str, project: Project, known: dict[str, object]) -> models.Model:
    """One row with the demanded columns only; read back through the model."""
    model = model_of(table)
    values: dict[str, object] = {"project_id": project.pk}
    for column in REQUIRED[table]:
        moment = column in {"week_start", "week_end"}
        plain = datetime(2026, 9, 7, tzinfo=UTC) if moment else f"a {column}"
        values[column] = known.get(column, VALUES.get(column, plain))
    before = set(model._default_manager.values_list("pk", flat=True))
    fields = {field.column: field for field in model._meta.concrete_fields}
    prepared = [
        value
        if isinstance(fields[column], models.JSONField) and not is_sealed(fields[column])
        else fields[column].get_db_prep_save(value, connection)
        for column, value in values.items()
    ]
    names = ", ".join(values)
    marks = ", ".join(["%s"] * len(values))
    with connection.cursor() as cursor:
        cursor.execute(f"INSERT INTO {table} ({names}) VALUES ({marks})", prepared)
    return model._default_manager.exclude(pk__in=before).get()


@pytest.mark.django_db
def test_every_documented_table_takes_the_demanded_columns_alone(project: Project) -> None:
    known: dict[str, object] = {}
    for table in REQUIRED:
        row = insert(table, project, known)
        known[{"iit_skills": "skill_id", "iit_task_run": "task_run_id"}.get(table, table)] = row.pk
        assert isinstance(row.pk, uuid.UUID)
        assert row.pk.version == 4, table
        assert row.created_at is not None, table
    model_of("iit_task_run")._default_manager.all().delete()


@pytest.mark.django_db
def test_the_printed_statement_for_field_mappings_works_as_it_stands(project: Project) -> None:
    key = project.pk.hex if connection.vendor == "sqlite" else str(project.pk)
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO iit_field_mapping (project_id, alias_name, actual_name) VALUES"
            f" ('{key}', 'age', 'age_calculated'), ('{key}', '性别', 'sex')"
        )
    mapping = model_of("iit_field_mapping")._default_manager
    rows = list(mapping.order_by("alias_name").values_list("alias_name", "actual_name"))
    assert rows == [("age", "age_calculated"), ("性别", "sex")]
    assert len(set(mapping.values_list("pk", flat=True))) == 2


@pytest.mark.full
@pytest.mark.django_db
def test_no_documented_table_has_two_indexes_over_the_same_columns() -> None:
    for table in REQUIRED:
        with connection.cursor() as cursor:
            constraints = connection.introspection.get_constraints(cursor, table)
        indexed = [
            tuple(c["columns"])
            for c in constraints.values()
            if c["index"] and not c["unique"] and not c.get("definition")
        ]
        assert len(indexed) == len(set(indexed)), (table, indexed)
