"""Who administers which studies, for the pages of this app."""

from __future__ import annotations

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
