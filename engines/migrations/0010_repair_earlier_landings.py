"""What databases lack that were made before landed migrations were edited: nothing where they were not."""

from copy import copy

from django.db import migrations

from core.house import audit_guard

WIDTH = 255
VERSIONS = [("engines", "AgentTrace"), ("llm", "LlmUsage")]


def widen(apps, editor):
    """Versions of prompts were 64 wide (b158559 edited the first migrations of engines and llm)."""
    for app, name in VERSIONS:
        model = apps.get_model(app, name)
        wide = model._meta.get_field("prompt_version")
        with editor.connection.cursor() as cursor:
            columns = editor.connection.introspection.get_table_description(cursor, model._meta.db_table)
        if any(column.name == wide.column and column.display_size == 64 for column in columns):
            narrow = copy(wide)
            narrow.max_length = 64
            editor.alter_field(model, narrow, wide)


def guard(apps, editor):
    """The audit trail's triggers were lost on SQLite (ff1292d edited projects 0002_blinding)."""
    audit_guard.install(editor.connection)


class Migration(migrations.Migration):
    dependencies = [
        ("engines", "0009_words"),
        ("llm", "0002_words"),
        ("projects", "0005_words"),
    ]

    operations = [
        migrations.RunPython(widen, migrations.RunPython.noop),
        migrations.RunPython(guard, migrations.RunPython.noop),
    ]
