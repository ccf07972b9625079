from django.apps.registry import Apps
from django.db import migrations, models
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

import core.house.encrypted_fields


def seal(apps: Apps, editor: BaseDatabaseSchemaEditor) -> None:
    """Lines of proposals as ciphertext; read past the field, which would take them for ciphertext already."""
    proposals = apps.get_model("memory", "MemoryProposal").objects
    as_text = {
        f"{name}_read": models.functions.Cast(name, models.TextField()) for name in ("old", "new")
    }
    for row in proposals.annotate(**as_text).values("pk", *as_text):
        proposals.filter(pk=row["pk"]).update(old=row["old_read"], new=row["new_read"])


class Migration(migrations.Migration):
    dependencies = [("memory", "0001_initial")]

    operations = [
        migrations.AlterField(
            model_name="memoryproposal",
            name=name,
            field=core.house.encrypted_fields.EncryptedTextField(blank=True, verbose_name=label),
        )
        for name, label in (("old", "old line"), ("new", "new line"))
    ] + [migrations.RunPython(seal, migrations.RunPython.noop)]
