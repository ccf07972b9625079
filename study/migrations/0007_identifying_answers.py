from django.db import migrations, models


def answer(apps, schema_editor):
    """What an administrator has long named as a date of the study dates somebody's birth as little as ever.

    The dates of rows are left out: they were proposed from the dictionary's first date field.
    """
    VisitPlanEntry = apps.get_model("study", "VisitPlanEntry")
    FieldRole = apps.get_model("study", "FieldRole")
    for row in apps.get_model("study", "Dictionary").objects.select_related("project"):
        plan = VisitPlanEntry.objects.filter(project=row.project)
        roles = FieldRole.objects.filter(project=row.project)
        named = {row.project.enrolment_field, row.project.withdraw_field}
        for fields in plan.values_list("anchor_field", "date_field"):
            named.update(fields)
        named.update(
            roles.filter(role__in=("consent", "unscheduled")).values_list("field", flat=True)
        )
        told = dict.fromkeys(named - {""}, "nobody")
        told |= dict.fromkeys(roles.filter(role="birth").values_list("field", flat=True), "birth")
        row.answers = told
        row.save(update_fields=["answers"])


class Migration(migrations.Migration):

    dependencies = [
        ("projects", "0006_withdrawal_asked"),
        ("study", "0006_setup_tests"),
    ]

    operations = [
        migrations.AddField(
            model_name="dictionary",
            name="answers",
            field=models.JSONField(
                blank=True, default=dict, verbose_name="answers about identifying fields"
            ),
        ),
        migrations.RunPython(answer, migrations.RunPython.noop),
    ]
