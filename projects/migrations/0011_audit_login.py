from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0010_people_only")]

    operations = [
        # SQLite would build the table anew, without the triggers that guard it.
        migrations.SeparateDatabaseAndState(
            database_operations=[
                migrations.RunSQL(
                    "ALTER TABLE iit_audit_log ADD COLUMN login varchar(150) NOT NULL DEFAULT ''",
                    "ALTER TABLE iit_audit_log DROP COLUMN login",
                ),
            ],
            state_operations=[
                migrations.AddField(
                    model_name="auditentry",
                    name="login",
                    field=models.CharField(blank=True, default="", max_length=150, verbose_name="through login"),
                ),
            ],
        ),
    ]
