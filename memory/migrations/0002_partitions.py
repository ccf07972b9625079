from django.db import migrations

from memory.partitions import prepare


class Migration(migrations.Migration):
    dependencies = [("memory", "0001_initial")]
    operations = [
        migrations.RunPython(lambda apps, editor: prepare(), migrations.RunPython.noop, elidable=False)
    ]
