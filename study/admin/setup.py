"""The wizard that sets a study up: a panel a step, each with its state, its form or page, and its test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.cache import cache
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.timezone import now
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_http_methods

from house.db import after_commit, atomic
from projects import members, services
from projects.access import has_role
from projects.models import Member, Project, Role
from study import dictionary
from study.admin.setup_forms import ConnectionForm, plan_rows, shown_rows
from study.models import SyncState
from study.setup import plan, steps
from study.setup.own import PAGE
from study.tasks import read_study

READ_S = 3600
"""For so long a reading that was asked for is waited for."""


@sensitive_post_parameters("redcap_token")
@require_http_methods(["GET", "POST"])
def setup_view(request: HttpRequest, pk: UUID, page: ModelAdmin) -> HttpResponse:
    """GET shows how every step stands; POST does one thing of one step (`do`), or tests it (`test`)."""
    project = _administered(request, pk)
    connection = ConnectionForm(instance=project)
    context: dict[str, Any] = {}
    if request.method == "POST" and "test" in request.POST:
        key = request.POST["test"]
        context = {"tested": key, "lines": steps.test(project, key)}
    elif request.method == "POST":
        action = _ACTIONS.get(request.POST.get("do", ""))
        if action is None:
            raise Http404
        found = action(request, project)
        if isinstance(found, HttpResponse):
            return found
        connection, context = found.pop("connection", connection), found
    context |= {
        **page.admin_site.each_context(request),
        "title": _("Set up %(study)s") % {"study": project.code},
        "opts": page.model._meta,
        "project": project,
        "items": steps.checklist(project),
        "connection": connection,
        "is_reading": is_reading(project),
        **_from_dictionary(project, context.get("typed", {})),
    }
    return render(request, "study/setup.html", context)


def _administered(request: HttpRequest, pk: UUID) -> Project:
    project: Project | None = Project.objects.for_user(request.user).filter(pk=pk).first()
    if project is None:
        raise Http404
    if not has_role(request.user, pk, Role.ADMIN):
        raise PermissionDenied
    return project


def _from_dictionary(project: Project, typed: Mapping[str, str]) -> dict[str, Any]:
    """Sites, people and proposed visits, with what was `typed`; nothing before the first reading."""
    if dictionary.stored(project) is None:
        return {}
    rows = Member.objects.filter(project=project, is_active=True).select_related("person__user")
    return {
        "sites": dictionary.load(project).sites,
        "people": rows.order_by("role", "display_name"),
        "proposed": shown_rows(project, typed),
        "anchors": plan.anchors(project),
        "anchor": plan.anchor(project),
    }


def _connect(request: HttpRequest, project: Project) -> HttpResponse | dict[str, Any]:
    """Store address and token, then ask REDCap what they are good for."""
    form = ConnectionForm(request.POST, instance=project)
    if not form.is_valid():
        project.refresh_from_db()
        return {"connection": form}
    stored = services.save_project(project=form.save(False), actor=request.user, typed=form.typed)
    return {
        "connection": ConnectionForm(instance=stored),
        "tested": "redcap",
        "lines": steps.test(stored, "redcap"),
    }


def _read(request: HttpRequest, project: Project) -> HttpResponse:
    """Read dictionary and subjects at once, in the background."""
    cache.set(_key(project), now().isoformat(), READ_S)
    after_commit(lambda: read_study.delay(str(project.pk)))
    return redirect(f"{_url(project)}#reading")


def _sites(request: HttpRequest, project: Project) -> HttpResponse:
    """Give people the sites that were picked for them; all or none."""
    known = {"", *dictionary.load(project).sites} if dictionary.stored(project) else {""}
    try:
        with atomic():
            for member in Member.objects.filter(project=project, is_active=True):
                site = request.POST.get(f"site-{member.pk}", member.site)
                if (
                    site != member.site
                    and site in known
                    and not members.refusal(request.user, member)
                ):
                    member.site = site
                    services.save_member(member=member, actor=request.user)
    except PermissionDenied as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Sites stored."))
    return redirect(f"{_url(project)}#sites")


def _plan(request: HttpRequest, project: Project) -> HttpResponse | dict[str, Any]:
    """Store the visits that were ticked, and the date that enrolment is told by."""
    try:
        entries = plan_rows(request.POST, project)
    except ValidationError as error:
        return {"plan_errors": error.messages, "typed": request.POST}
    with atomic():
        enrolment = request.POST.get("anchor", "")
        if project.enrolment_field not in dictionary.load(project).fields:
            project.enrolment_field = enrolment
            services.save_project(project=project, actor=request.user)
        for entry in entries:
            services.save(entry, project, request.user, "plan.change", "plan.change")
    told = ngettext("%d visit planned.", "%d visits planned.", len(entries)) % len(entries)
    messages.success(request, told)
    return redirect(f"{_url(project)}#plan")


_ACTIONS = {"connect": _connect, "read": _read, "sites": _sites, "plan": _plan}


def _url(project: Project) -> str:
    return reverse(PAGE, args=[project.pk])


def _key(project: Project) -> str:
    return f"setup-reading:{project.pk}"


def is_reading(project: Project) -> bool:
    """Whether a reading that was asked for here has neither come nor failed."""
    asked = cache.get(_key(project))
    if not asked:
        return False
    state = SyncState.objects.filter(project=project).first()
    ends = [at.isoformat() for at in (state.roster_at, state.failed_at) if at] if state else []
    return not any(at > asked for at in ends)


@require_GET
def progress_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """How far the first reading is, for the page that waits: {"goes_on": bool}."""
    return JsonResponse({"goes_on": is_reading(_administered(request, pk))})
