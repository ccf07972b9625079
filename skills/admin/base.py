"""Who administers which studies, for the pages of this app."""

from __future__ import annotations

from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest

from projects.admin_base import ScopedAdmin
from projects.models import Project, Role

ADMIN = (Role.ADMIN,)


def administered(page: ScopedAdmin, request: HttpRequest) -> QuerySet[Project]:
    """Studies that the user administers."""
    projects: QuerySet[Project] = Project.objects.for_user(request.user)
    if request.user.is_superuser:
        return projects
    return projects.filter(pk__in=page.holders(request, ADMIN).values("project"))


def asked_study(request: HttpRequest, projects: QuerySet[Project]) -> Project:
    """The one of `projects` that a page is asked for, else the first. Raises PermissionDenied."""
    given = request.POST if request.method == "POST" else request.GET
    rows = projects.order_by("code")
    project = rows.filter(code=given["project"]).first() if "project" in given else rows.first()
    if project is None:
        raise PermissionDenied
    return project
