"""Who somebody is belongs to the house: people of their own, out of the members' rows."""

import uuid
from collections import defaultdict

import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


def gather(apps, schema_editor):
    """One person a userid; a login goes with it where no row of any study says otherwise.

    A login that the rows give to several userids, or a userid with several logins, is whose nobody can say:
    it stays without the other until a superuser links them.
    """
    Member = apps.get_model("projects", "Member")
    Person = apps.get_model("projects", "Person")
    logins, userids = defaultdict(set), defaultdict(set)
    rows = list(Member.objects.order_by("created_at"))
    for row in rows:
        if row.wecom_userid and row.user_id:
            logins[row.wecom_userid].add(row.user_id)
            userids[row.user_id].add(row.wecom_userid)
    people, taken = {}, set()
    for row in sorted(rows, key=lambda row: not row.wecom_userid):
        person = _person(Person, row, logins, userids, people)
        if (row.project_id, person.pk) in taken:
            # The same person twice in a study: the second row stays as what was, and opens nothing.
            person = Person.objects.create()
            row.is_active = False
        taken.add((row.project_id, person.pk))
        row.person = person
        row.save()


def _person(Person, row, logins, userids, people):
    """The person of a row: of its userid, else of its login."""
    name, user = row.wecom_userid, row.user_id
    if name:
        own = logins[name]
        sure = len(own) == 1 and len(userids[next(iter(own))]) == 1
        user = next(iter(own)) if sure else None
        if own and not sure:
            print(f"  {name}: not linked to a login, because the members' rows disagree")
    elif len(userids[user]) == 1 and len(logins[next(iter(userids[user]))]) == 1:
        name = next(iter(userids[user]))
    elif userids[user]:
        user = None
    key = name or user
    if key is None:
        return Person.objects.create()
    if key not in people:
        people[key] = Person.objects.create(wecom_userid=name or None, user_id=user)
    return people[key]


class Migration(migrations.Migration):
    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ("projects", "0008_document_versions"),
    ]

    operations = [
        migrations.CreateModel(
            name="Person",
            fields=[
                ("id", models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ("wecom_userid", models.CharField(blank=True, max_length=64, null=True, unique=True, verbose_name="WeCom userid")),
                ("created_at", models.DateTimeField(auto_now_add=True, verbose_name="created")),
                ("user", models.OneToOneField(blank=True, null=True, on_delete=django.db.models.deletion.SET_NULL, related_name="person", to=settings.AUTH_USER_MODEL, verbose_name="console user")),
            ],
            options={
                "verbose_name": "person",
                "verbose_name_plural": "people",
                "db_table": "iit_people",
                "ordering": ["wecom_userid", "pk"],
            },
        ),
        migrations.RemoveConstraint(model_name="member", name="iit_member_once"),
        migrations.AddField(
            model_name="member",
            name="person",
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name="memberships", to="projects.person", verbose_name="person"),
        ),
        migrations.AlterField(
            model_name="member",
            name="wecom_userid",
            field=models.CharField(blank=True, db_index=True, max_length=64, verbose_name="WeCom userid"),
        ),
        migrations.RunPython(gather, migrations.RunPython.noop),
    ]
