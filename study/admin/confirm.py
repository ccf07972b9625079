"""What of REDCap waits for somebody who sees all sites: another project, or many moves between sites."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from core.integrations.redcap import RedcapError
from projects.access import has_role
from projects.models import Project, Role
from study import dictionary, roster
from study.client import NotConfiguredError
from study.models import SyncState
from study.records import state_of

PAGE = "admin:projects_project_confirm"
CONFIRM = (Role.ADMIN, Role.PI)


@require_http_methods(["GET", "POST"])
def confirm_view(request: HttpRequest, pk: UUID, page: ModelAdmin) -> HttpResponse:
    """GET shows what waits, POST confirms what was shown (`do`: moves, redcap). Raises Http404."""
    project = held_project(request, pk, *CONFIRM)
    if request.method == "POST":
        return _confirm(request, project)
    waiting = roster.waiting_moves(project)
    other = dictionary.other_project(project)
    context = page.admin_site.each_context(request) | {
        "title": _("Confirm what REDCap says"),
        "opts": page.model._meta,
        "project": project,
        "moves": waiting,
        "seen": roster.digest_of_moves(waiting),
        "other": None if other is None else {"id": other},
    }
    return render(request, "study/confirm.html", context)


def held_project(request: HttpRequest, pk: UUID, *wanted: str) -> Project:
    """A study of the reader's, where they hold a role. Raises Http404, PermissionDenied."""
    project: Project | None = Project.objects.for_user(request.user).filter(pk=pk).first()
    if project is None:
        raise Http404
    if not has_role(request.user, pk, *wanted):
        raise PermissionDenied
    return project


def is_waiting(project: Project, *, moves: bool | None = None) -> bool:
    """Whether the page has something to confirm; `moves`: whether moves of subjects wait, None: look."""
    state = state_of(project)
    is_other = state is not None and state.cause == SyncState.Cause.OTHER
    return is_other or bool(roster.waiting_moves(project) if moves is None else moves)


def _confirm(request: HttpRequest, project: Project) -> HttpResponse:
    shown, is_done = request.POST.get("seen", ""), True
    try:
        if request.POST.get("do") == "redcap":
            dictionary.accept_other_project(project=project, found=shown, actor=request.user)
        else:
            is_done = roster.accept_moves(project=project, shown=shown, actor=request.user)
    except (RedcapError, NotConfiguredError) as error:
        messages.error(request, str(error))
    else:
        changed = _("This has changed meanwhile; please look again.")
        (messages.success if is_done else messages.error)(
            request, _("Confirmed.") if is_done else changed
        )
    return redirect(PAGE, project.pk)
