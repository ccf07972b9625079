"""The console's pages of schedules: the list, and one with its next firings, its past ones and its switches."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods

from engines import schedules, sop
from engines.models import TaskRun
from engines.pages.layout import render_page
from projects.access import has_role
from projects.models import Role
from projects.scoping import memberships
from skills import services
from skills.models import Skill


@require_GET
def list_view(request: HttpRequest) -> HttpResponse:
    """The schedules of the reader's studies."""
    if not (request.user.is_superuser or memberships(request.user).exists()):
        raise Http404
    rows = [
        {"one": one, "last": one.last, **(_state(one.last) if one.last else {})}
        for one in schedules.listed_schedules(request.user)
    ]
    return render_page(request, "engines/schedules.html", _("Schedules"), TaskRun, rows=rows)


@require_http_methods(["GET", "POST"])
def one_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """GET shows one schedule; POST runs it now (`run`), pauses it (`pause`) or lets it go on (`resume`)."""
    rows = Skill.objects.for_user(request.user).select_related("project")
    skill = rows.filter(pk=pk, trigger_type=Skill.Trigger.CRON).first()
    if skill is None:
        raise Http404
    may_switch = has_role(request.user, skill.project_id, Role.ADMIN)
    if request.method == "POST":
        if not may_switch:
            raise PermissionDenied
        _do(request, skill)
        return redirect("admin:engines_schedule", skill.pk)
    past = [{"fired": one, **_state(one)} for one in schedules.history(request.user, skill)]
    shown = {"one": schedules.schedule_of(skill), "past": past, "may_switch": may_switch}
    return render_page(request, "engines/schedule.html", skill.name, TaskRun, **shown)


def _do(request: HttpRequest, skill: Skill) -> None:
    told = {
        "run": _("Started out of turn; the next firing stays as it is."),
        "pause": _("The schedule is paused."),
        "resume": _("The schedule goes on; what was due meanwhile is not made up for."),
    }
    act = next((name for name in told if name in request.POST), None)
    if act is None:
        return
    try:
        if act == "run":
            schedules.run_now(skill=skill, actor=request.user)
        else:
            services.switch(skill=skill, is_active=act == "resume", actor=request.user)
    except sop.Inactive as error:
        messages.error(request, str(error))
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        messages.success(request, told[act])


def _state(fired: schedules.Fired) -> dict[str, Any]:
    """What came of a firing, in words with a colour."""
    if fired.is_hidden:
        return {"label": _("started; its run is not for your role or site"), "colour": "info"}
    if fired.run is None:
        return {"label": _("nothing started"), "colour": ""}
    status = TaskRun.Status(fired.run.status)
    return {"label": status.label, "colour": TaskRun.COLOURS[status]}
