"""The first page of the console: what waits, how the study stands, whether the house is well.

Every figure is counted in the user's scope (design.md 9.7).
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db.models import Count
from django.http import HttpRequest
from django.utils.timezone import now
from django.utils.translation import gettext as _

from engines.assistant.uncited import never_cites
from engines.models import PendingAction, Review, TaskRun
from house.models import Heartbeat
from iit_manager.health import STALE
from memory.hot.prune import is_over
from memory.models import ProjectMemory, WeeklyReport
from memory.versioned_admin import EDITORS
from projects.access import has_role
from projects.admin_base import supervises
from projects.models import Project, Role
from projects.scoping import memberships
from study.models import Subject, SyncState
from wechat.models import OutboxMessage

User = AbstractBaseUser | AnonymousUser
DAYS = 7
SHOWN = 6


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """Add the cards to the context of the index page."""
    user = request.user
    projects = [*Project.objects.for_user(user)]
    context |= {"title": _("Dashboard"), "has_studies": bool(projects)}
    if not projects:
        return context
    context |= {
        "reviews": _reviews(user),
        "kinds": _findings(user),
        "runs": _runs(user),
        "studies": [_study(user, project) for project in projects],
        "house": _house() if supervises(request) else None,
        "letters": _letters(user, projects) if supervises(request) else None,
    }
    return context


def _reviews(user: User) -> dict[str, Any]:
    rows = Review.objects.for_user(user).filter(status=Review.Status.OPEN)
    oldest_first = rows.select_related("task_run__skill").order_by("created_at")
    return {"count": rows.count(), "rows": [*oldest_first[:SHOWN]]}


def _findings(user: User) -> list[dict[str, Any]]:
    """Open findings by kind; the kinds in their own order."""
    rows = PendingAction.objects.for_user(user).filter(open_key__isnull=False).order_by()
    counts = dict(rows.values_list("action_type").annotate(Count("pk")))
    colours = {"violation": "danger", "warning": "warning", "review_required": "info"}
    return [
        {
            "value": kind.value,
            "label": kind.label,
            "count": counts.get(kind, 0),
            "colour": colours[kind],
        }
        for kind in PendingAction.Kind
    ]


def _runs(user: User) -> dict[str, Any]:
    """Runs of the last days by status."""
    since = now() - timedelta(days=DAYS)
    rows = TaskRun.objects.for_user(user).filter(created_at__gte=since).order_by()
    counts = dict(rows.values_list("status").annotate(Count("pk")))
    total = sum(counts.values())
    parts = [
        {
            "value": status.value,
            "label": status.label,
            "count": counts[status],
            "colour": TaskRun.COLOURS[status] or "none",
        }
        for status in TaskRun.Status
        if status in counts
    ]
    return {"total": total, "parts": parts}


def _study(user: User, project: Project) -> dict[str, Any]:
    subjects = Subject.objects.for_user(user).filter(project=project, is_present=True).count()
    sync = SyncState.objects.filter(project=project).first()
    return {
        "project": project,
        "roles": _roles(user, project),
        "subjects": subjects,
        "sync": sync,
        "sync_failed": sync is not None and sync.is_failing,
        "is_whole": _sees_all_sites(user, project),
        "over_cap": _over_cap(user, project),
        "never_cites": _never_cites(user, project),
        **(_enrolment(project) if _sees_all_sites(user, project) else {}),
    }


def _over_cap(user: User, project: Project) -> ProjectMemory | None:
    """The hot memory where it is too long, for those who may shorten it (seed 000, 5.1)."""
    if not has_role(user, project.pk, *EDITORS):
        return None
    memory = ProjectMemory.objects.filter(project=project).first()
    return memory if memory and is_over(memory.content) else None


def _never_cites(user: User, project: Project) -> bool:
    """For those who choose the model: one that never cites answers nothing in its own words."""
    return has_role(user, project.pk, *EDITORS) and never_cites(project)


def _sees_all_sites(user: User, project: Project) -> bool:
    """Whether the study's own figures may be shown: they count the subjects of every site."""
    everything = getattr(user, "is_superuser", False)
    return bool(everything) or memberships(user).filter(project=project, site="").exists()


def _roles(user: User, project: Project) -> str:
    held = memberships(user).filter(project=project)
    return "、".join(f"{member.get_role_display()} {member.site}".strip() for member in held)


def _enrolment(project: Project) -> dict[str, Any]:
    """Enrolled against target, from the newest weekly report's figures."""
    report = WeeklyReport.objects.filter(project=project).order_by("-week_number").first()
    figures = report.metrics if report and isinstance(report.metrics, dict) else {}
    enrolled = figures.get("enrolled_total")
    target = figures.get("target") or project.target_enrolment
    share = round(100 * enrolled / target) if target and isinstance(enrolled, int) else None
    return {
        "report": report,
        "enrolled": enrolled,
        "new": figures.get("enrolled"),
        "target": target,
        "share": share,
        "bar": min(share or 0, 100),
    }


def _house() -> dict[str, Any]:
    known = {row.name: row.at for row in Heartbeat.objects.all()}
    moment = now()
    return {
        "embedded": settings.EMBEDDED,
        "version": settings.VERSION,
        "beats": [
            {
                "name": name,
                "at": known.get(name),
                "ok": name in known and moment - known[name] < STALE,
            }
            for name in ("worker", "beat")
        ],
    }


def _letters(user: User, projects: Iterable[Project]) -> dict[str, int] | None:
    """Messages to WeCom that were given up or still wait, in studies that the user administers as a whole."""
    mine = [
        project.pk
        for project in projects
        if has_role(user, project.pk, Role.ADMIN) and _sees_all_sites(user, project)
    ]
    if not mine:
        return None
    rows = OutboxMessage.objects.filter(project__in=mine)
    return {
        "dead": rows.filter(status__in=OutboxMessage.DEAD_LETTERS).count(),
        "waiting": rows.filter(status__in=OutboxMessage.UNSENT).count(),
    }
