"""More studies beside the demo's: rows made in bulk, without an outside system."""

from __future__ import annotations

from typing import Any

MEMBERS, SUBJECTS = 20, 3
COPIED = ("daily_briefing", "qc_process", "visit_reminder")


def add(count: int) -> None:
    """`count` more active studies with `MEMBERS` people, `SUBJECTS` subjects and the demo's workflows each."""
    from django.contrib.auth.models import User
    from django.utils.timezone import now

    from projects.models import Member, Person, Project, Role
    from skills.models import Skill
    from study.models import Dictionary, Subject, SyncState

    model = Project.objects.order_by("created_at").first()
    assert model is not None
    begin = Project.objects.count()
    projects = Project.objects.bulk_create(
        Project(code=f"MANY-{n:03}", name=f"Study {n}", start_date=model.start_date)
        for n in range(begin, begin + count)
    )
    names = [f"many{n:03}_{m:02}" for n in range(begin, begin + count) for m in range(MEMBERS)]
    users = User.objects.bulk_create(User(username=name, is_staff=True) for name in names)
    people = Person.objects.bulk_create(
        Person(wecom_userid=user.username, user=user) for user in users
    )
    roles = (Role.PI, Role.ADMIN, Role.AUDITOR, *[Role.CRC] * (MEMBERS - 3))
    Member.objects.bulk_create(
        Member(
            project=projects[number // MEMBERS],
            person=person,
            wecom_userid=person.wecom_userid,
            role=roles[number % MEMBERS],
            site="site_a" if roles[number % MEMBERS] == Role.CRC else "",
        )
        for number, person in enumerate(people)
    )
    skills = [*Skill.objects.filter(project=model, skill_type__in=COPIED)]
    content = Dictionary.objects.filter(project=model).values("content", "digest").first() or {}
    for rows in (
        [_skill(project, skill) for project in projects for skill in skills],
        [Dictionary(project=project, read_at=now(), **content) for project in projects],
        [SyncState(project=project, roster_at=now(), records=SUBJECTS) for project in projects],
        [
            Subject(project=project, record_id=f"P{n:03}", site="site_a", synced_at=now())
            for project in projects
            for n in range(SUBJECTS)
        ],
    ):
        type(rows[0])._default_manager.bulk_create(rows, batch_size=500)  # type: ignore[attr-defined]


def _skill(project: Any, skill: Any) -> Any:
    fields = ("skill_type", "name", "trigger_type", "cron_schedule", "config", "version")
    kept = {name: getattr(skill, name) for name in fields}
    return type(skill)(project=project, is_active=True, **kept)
