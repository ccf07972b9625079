"""A member is a person of the house; their login is the person's (PostgreSQL wants rows and columns apart)."""

import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("projects", "0009_people")]

    operations = [
        migrations.RemoveField(model_name="member", name="user"),
        migrations.AlterField(
            model_name="member",
            name="person",
            field=models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name="memberships", to="projects.person", verbose_name="person"),
        ),
        migrations.AddConstraint(
            model_name="member",
            constraint=models.UniqueConstraint("project", "person", name="iit_person_once"),
        ),
    ]
