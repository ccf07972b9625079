from django.db import migrations

from projects.audit_guard import install, remove


class Migration(migrations.Migration):
    dependencies = [("projects", "0001_initial")]
    operations = [
        migrations.RunPython(
            lambda apps, editor: install(editor.connection),
            lambda apps, editor: remove(editor.connection),
        )
    ]
