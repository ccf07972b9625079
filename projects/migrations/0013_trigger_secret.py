"""The trigger's secret is encrypted, and found by its hash."""

from django.db import migrations

import projects.fields
import projects.models.project
from projects.sealing import seal_rows


def note_digests(apps, _editor):
    model = apps.get_model("projects", "Project")
    for row in list(model.objects.only("redcap_det_secret")):
        digest = projects.fields.DigestField.digest(row.redcap_det_secret)
        model.objects.filter(pk=row.pk).update(redcap_det_digest=digest)


class Migration(migrations.Migration):
    dependencies = [("projects", "0012_readings")]

    operations = [
        migrations.AlterField(
            model_name="project",
            name="redcap_det_secret",
            field=projects.fields.EncryptedTextField(default=projects.models.project.new_det_secret, verbose_name="data entry trigger secret"),
        ),
        migrations.AddField(
            model_name="project",
            name="redcap_det_digest",
            field=projects.fields.DigestField(editable=False, max_length=64, null=True, of="redcap_det_secret"),
        ),
        seal_rows("projects", {"Project": ["redcap_det_secret"]}),
        migrations.RunPython(note_digests, migrations.RunPython.noop),
        migrations.AlterField(
            model_name="project",
            name="redcap_det_digest",
            field=projects.fields.DigestField(editable=False, max_length=64, of="redcap_det_secret", unique=True),
        ),
    ]
