"""What audit entries say is encrypted; their hashes cover it as it reads, so they hold."""

from django.db import migrations

import projects.fields
from projects import audit_guard
from projects.sealing import seal_rows


def unguard(_apps, editor):
    audit_guard.remove(editor.connection)


def guard(_apps, editor):
    """SQLite has built the table anew, without its triggers."""
    audit_guard.install(editor.connection)


class Migration(migrations.Migration):
    dependencies = [("projects", "0013_trigger_secret")]

    operations = [
        migrations.RunPython(unguard, guard),
        migrations.AlterField(
            model_name="auditentry",
            name="label",
            field=projects.fields.EncryptedTextField(blank=True, verbose_name="label"),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="new",
            field=projects.fields.EncryptedJSONField(null=True, verbose_name="new"),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="old",
            field=projects.fields.EncryptedJSONField(null=True, verbose_name="old"),
        ),
        migrations.AlterField(
            model_name="auditentry",
            name="reason",
            field=projects.fields.EncryptedTextField(blank=True, verbose_name="why"),
        ),
        seal_rows("projects", {"AuditEntry": ["label", "new", "old", "reason"]}),
        migrations.RunPython(guard, unguard),
    ]
