"""Seeds the demo study LUNG-IIT; what is there already is kept (contracts.md, `make run`)."""

from __future__ import annotations

from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth.models import User

from core.house.db import atomic
from demo import files, reports
from demo.stand_ins import DATASET_ID, base_url
from memory.models import FeedbackTally, ProjectMemory, ProjectMemoryVersion, WeeklyReport
from projects import audit, tokens
from projects.models import AuditEntry, Member, Person, Project
from skills.models import FieldMapping, Skill
from skills.services import save_skill
from study.models import VisitPlanEntry
from study.protocol import index

CODE = "LUNG-IIT"
ACTOR = "demo"


def existing() -> Project | None:
    """The demo study, if it was seeded before."""
    return Project.objects.filter(code=CODE).first()


def day(run: dict[str, Any]) -> date:
    """The day the study is laid around: of the first seeding, DEMO_TODAY, else today (contracts.md)."""
    if known := run.get("demo_today") or settings.DEMO_TODAY:
        return date.fromisoformat(known)
    project = existing()
    zone = ZoneInfo("Asia/Shanghai")
    moment = project.created_at if project else datetime.now(zone)
    return moment.astimezone(zone).date()


def seed(run: dict[str, Any], today: date) -> Project:
    """Create the study and its people and point it at the stand-ins."""
    with atomic():
        project = existing() or _project(today)
        connect(project, run)
        _members(project, run, today)
    return project


def fill(project: Project, today: date) -> None:
    """Workflows, visit plan, memory, reports, documents: once, when the dictionary is known.

    A workflow that a former demo brought and nobody changed since becomes the one of today.
    """
    with atomic():
        if project.skills.exists():
            _refresh(project, today)
        else:
            _content(project, today)


def connect(project: Project, run: dict[str, Any]) -> None:
    """Addresses and tokens of the stand-ins; their port may differ from the last run's."""
    project.redcap_url = f"{base_url()}/redcap/api/"
    project.redcap_token = run["redcap_tokens"]["full"]
    project.dify_url = f"{base_url()}/dify/v1"
    project.dify_key = run["dify_key"]
    project.dify_dataset_id = DATASET_ID
    project.save()


def _project(today: date) -> Project:
    fields: dict[str, Any] = files.load("project.json", today)
    known = {field.name for field in Project._meta.get_fields()}
    project = Project(**{key: value for key, value in fields.items() if key in known})
    project.full_clean()
    project.save(force_insert=True)
    audit.record("project.create", actor=ACTOR, project=project, subject=project)
    return project


def _members(project: Project, run: dict[str, Any], today: date) -> None:
    for entry in files.load("members.json", today):
        userid = entry["wecom_userid"]
        login = run["logins"][userid]
        user, new = User.objects.get_or_create(
            username=userid, defaults={"is_staff": True, "is_superuser": userid == "admin"}
        )
        if new or not user.check_password(login["password"]):
            user.set_password(login["password"])
            user.save()
        tokens.create(user=user, actor=ACTOR, key=login["token"])
        person, _new = Person.objects.get_or_create(wecom_userid=userid, defaults={"user": user})
        Member.objects.get_or_create(
            project=project,
            person=person,
            defaults={
                "role": entry["role"],
                "site": entry.get("site") or "",
                "display_name": entry.get("display_name", ""),
            },
        )


def _refresh(project: Project, today: date) -> None:
    for row in files.load("skills.json", today):
        skill = project.skills.filter(skill_type=row["skill_type"]).first()
        if skill is None or all(getattr(skill, name) == value for name, value in row.items()):
            continue
        changes = AuditEntry.objects.filter(action="skill.change", object_id=str(skill.pk))
        if changes.exclude(actor=ACTOR).exists():
            continue
        for name, value in row.items():
            setattr(skill, name, value)
        save_skill(skill=skill, actor=ACTOR)


def _content(project: Project, today: date) -> None:
    for row in files.load("field_mappings.json", today):
        FieldMapping.objects.get_or_create(
            project=project,
            alias_name=row["alias_name"],
            defaults={"actual_name": row["actual_name"]},
        )
    for position, row in enumerate(files.load("visit_plan.json", today)):
        VisitPlanEntry.objects.create(project=project, position=position, **row)
    for row in files.load("skills.json", today):
        save_skill(skill=Skill(project=project, **row), actor=ACTOR)
    memory = ProjectMemory.objects.create(
        project=project, content=files.text("hot_memory.md", today), last_updated_by="admin"
    )
    ProjectMemoryVersion.objects.create(
        memory=memory, version=1, content=memory.content, author=ACTOR
    )
    _reports(project, today)
    for path in sorted((files.STUDY / "documents").glob("*.md")):
        name = path.read_text("utf-8").lstrip("# ").splitlines()[0].strip() or path.stem
        index.import_document(project, name, files.text(f"documents/{path.name}", today))


def _reports(project: Project, today: date) -> None:
    weeks = files.load("weekly_reports.json", today)
    enrolled = reports.enrolment_dates(today)
    first = datetime.combine(project.start_date, datetime.min.time(), ZoneInfo(project.timezone))
    for week in range(1, reports.weeks_before(project.start_date, today) + 1):
        start = first + timedelta(days=7 * (week - 1))
        text, metrics = reports.compose(
            week, start.date(), weeks.get(str(week), {}), enrolled, project.target_enrolment
        )
        end = start + timedelta(days=7)
        report, new = WeeklyReport.objects.get_or_create(
            project=project,
            week_number=week,
            defaults={
                "week_start": start,
                "week_end": end - timedelta(microseconds=1),
                "summary": text,
                "metrics": metrics,
                "created_by": "system_scheduler",
                "counted_at": end,
                "narrated_at": end,
            },
        )
        if new:
            report.versions.create(
                version=1, kind="composed", content=text, author=report.created_by
            )
    for row in files.load("feedback.json", today):
        FeedbackTally.objects.get_or_create(
            project=project,
            user_id=row["user_id"],
            defaults={"up": row["up"], "down": row["down"]},
        )
