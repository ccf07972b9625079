from django.db import migrations, models
from django.db.models.functions import Coalesce


def end_old_ones(apps, schema_editor):
    """Nobody is told today that a batch ended long ago."""
    batches = apps.get_model("engines", "Batch").objects
    batches.update(ended_at=Coalesce("cancelled_at", "filled_at"))


class Migration(migrations.Migration):
    dependencies = [("engines", "0002_batches")]

    operations = [
        migrations.AddField(
            "batch",
            "ended_at",
            models.DateTimeField(null=True, blank=True, verbose_name="worked off"),
        ),
        migrations.RunPython(end_old_ones, migrations.RunPython.noop),
    ]
