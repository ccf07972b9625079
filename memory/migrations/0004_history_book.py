import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('memory', '0003_hot_memory'),
        ('projects', '0001_initial'),
    ]

    operations = [
        migrations.CreateModel(
            name='WeeklyNote',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('week_number', models.PositiveIntegerField(verbose_name='week')),
                ('part', models.PositiveIntegerField(verbose_name='part')),
                ('rows', models.PositiveIntegerField(verbose_name='messages')),
                ('until_at', models.DateTimeField(verbose_name='until')),
                ('until_id', models.UUIDField()),
                ('entries', models.JSONField(blank=True, default=list, verbose_name='entries')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='projects.project', verbose_name='project')),
            ],
            options={
                'verbose_name': 'weekly note',
                'verbose_name_plural': 'weekly notes',
                'db_table': 'iit_weekly_notes',
                'ordering': ['project', '-week_number', 'part'],
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('week_number'), models.F('part'), name='iit_week_part_once')],
            },
        ),
        migrations.CreateModel(
            name='FeedbackTally',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('user_id', models.CharField(max_length=150, verbose_name='user')),
                ('up', models.PositiveIntegerField(default=0, verbose_name='👍')),
                ('down', models.PositiveIntegerField(default=0, verbose_name='👎')),
                ('project', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='+', to='projects.project', verbose_name='project')),
            ],
            options={
                'verbose_name': 'feedback count',
                'verbose_name_plural': 'feedback counts',
                'db_table': 'iit_feedback_tally',
                'constraints': [models.UniqueConstraint(models.F('project'), models.F('user_id'), name='iit_tally_once')],
            },
        ),
        migrations.AddField(
            model_name='weeklyreport',
            name='version',
            field=models.PositiveIntegerField(default=1, verbose_name='version'),
        ),
        migrations.AddField(
            model_name='weeklyreport',
            name='counted_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='figures counted'),
        ),
        migrations.AddField(
            model_name='weeklyreport',
            name='narrated_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='conversations summarised'),
        ),
        migrations.AddField(
            model_name='weeklyreport',
            name='log_purged_at',
            field=models.DateTimeField(blank=True, null=True, verbose_name='conversations deleted'),
        ),
        migrations.AddField(
            model_name='weeklyreport',
            name='tried_at',
            field=models.DateTimeField(blank=True, null=True),
        ),
        migrations.CreateModel(
            name='WeeklyReportVersion',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('version', models.PositiveIntegerField(verbose_name='version')),
                ('kind', models.CharField(choices=[('composed', 'Composed'), ('proposed', 'Proposed'), ('merged', 'Merged'), ('edited', 'Edited')], max_length=16, verbose_name='kind')),
                ('content', models.TextField(blank=True, verbose_name='report')),
                ('author', models.CharField(max_length=150, verbose_name='author')),
                ('created_at', models.DateTimeField(auto_now_add=True, verbose_name='created')),
                ('report', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='versions', to='memory.weeklyreport')),
            ],
            options={
                'verbose_name': 'weekly report version',
                'verbose_name_plural': 'weekly report versions',
                'db_table': 'iit_weekly_report_versions',
                'ordering': ['report', '-version'],
                'constraints': [models.UniqueConstraint(models.F('report'), models.F('version'), name='iit_week_version_once')],
            },
        ),
    ]
