"""The study that a reader of the console has turned to: lists show its rows until another one is chosen."""

from __future__ import annotations

from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.http import require_POST

from core.house.request_cache import once
from projects.models import Project
from projects.scoping import User, held

KEY = "study"
MOST = 12
"""So many studies fit into a select and on the first page; among more the reader searches."""


def studies(user: User) -> list[Project]:
    """The reader's studies by code; read once a page."""
    if getattr(user, "is_superuser", False):
        rows = Project.objects.for_user(user).order_by("code")
        return once(("studies", user.pk), lambda: [*rows])
    found = {member.project_id: member.project for member in held(user)}
    return sorted(found.values(), key=lambda project: project.code)


def has_several(user: User) -> bool:
    """Whether a row has to say which study it is of."""
    return len(studies(user)) > 1


def has_many(user: User) -> bool:
    """Whether the reader's studies are too many to be shown all at once."""
    return len(studies(user)) > MOST


def chosen(request: HttpRequest) -> Project | None:
    """The one that was chosen, while the reader still takes part in it; None: all of them."""
    pk = request.session.get(KEY) if hasattr(request, "session") else None
    return next((one for one in studies(request.user) if str(one.pk) == pk), None) if pk else None


@require_POST
@staff_member_required
def choose_view(request: HttpRequest) -> HttpResponse:
    """Turn to a study (`study`: its code; blank: all), and back to the page without its filters."""
    code = request.POST.get("study", "")
    found = next((one for one in studies(request.user) if one.code == code), None)
    if code and found is None:
        raise Http404
    request.session[KEY] = str(found.pk) if found else ""
    back = request.POST.get("next", "")
    is_here = url_has_allowed_host_and_scheme(back, {request.get_host()}, request.is_secure())
    return redirect(back if is_here else "admin:index")
