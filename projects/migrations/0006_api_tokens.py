from hashlib import sha256

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def hash_keys(apps, editor):
    """Tokens made before go on working; their table held them in clear, so it goes."""
    connection = editor.connection
    with connection.cursor() as cursor:
        if "authtoken_token" not in connection.introspection.table_names(cursor):
            return
        cursor.execute("SELECT key, user_id FROM authtoken_token")
        rows = cursor.fetchall()
    model = apps.get_model("projects", "ApiToken")
    model.objects.bulk_create(
        model(user_id=user, digest=sha256(key.encode()).hexdigest(), key_start=key[:8])
        for key, user in rows
    )
    with connection.cursor() as cursor:
        cursor.execute("DROP TABLE authtoken_token")


class Migration(migrations.Migration):
    dependencies = [
        ("projects", "0005_fewer_indexes"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]
    operations = [
        migrations.CreateModel(
            name="ApiToken",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("digest", models.CharField(max_length=64, unique=True)),
                ("key_start", models.CharField(max_length=8, verbose_name="begins with")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("last_used_at", models.DateTimeField(null=True, verbose_name="last used")),
                ("expires_at", models.DateTimeField(null=True, verbose_name="expires")),
                ("user", models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name="api_tokens", to=settings.AUTH_USER_MODEL, verbose_name="console user")),
            ],
            options={
                "db_table": "iit_api_tokens",
                "ordering": ["-created_at"],
                "verbose_name": "API token",
                "verbose_name_plural": "API tokens",
            },
        ),
        migrations.RunPython(hash_keys, migrations.RunPython.noop),
    ]
