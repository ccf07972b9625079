"""The page of the standard checks of a study: what each looks for, on or off, and what it would find now."""

from __future__ import annotations

from collections import Counter
from typing import Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from engines.desk.checks_form import HELP, ChecksForm
from engines.sop.checks import switch
from engines.sop.checks.kinds import LABELS, Kind
from integrations.redcap import RedcapError
from projects import reads
from projects.models import Project, Role
from projects.scoping import memberships
from study import dictionary, records
from study.client import NotConfiguredError
from study.known_names import KnownNames

PAGE = "admin:engines_pendingaction_checks"
MOST_SUBJECTS, MOST_SHOWN = 500, 100
_PARAMETERS: dict[Kind, tuple[str, ...]] = {
    Kind.LAB_AE: ("times", "days", "words"),
    Kind.AE_MEDICATION: ("ae_field",),
    Kind.PROHIBITED: ("names", "field"),
}


@require_http_methods(["GET", "POST"])
def checks_view(request: HttpRequest, page: ModelAdmin) -> HttpResponse:
    """GET shows the form, POST saves it (`save`) or shows what the ticked would find (`preview`)."""
    mine = administered(request)
    project = _chosen(request, mine)
    if project is None:
        raise PermissionDenied
    before, running = switch.standing(project)
    names = KnownNames.of(project)
    initial = ChecksForm.initial_of(before, running)
    form = ChecksForm(names, request.POST or None, initial=initial)
    found: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        if "preview" in request.POST:
            found = _preview(request, project, form)
        elif _saved(request, project, form):
            return redirect(f"{reverse(PAGE)}?project={project.pk}")
    context = page.admin_site.each_context(request) | {
        "title": _("Standard checks"),
        "opts": page.model._meta,
        "project": project,
        "projects": mine,
        "form": form,
        "lines": [_line(form, kind, found.get("counts")) for kind in Kind],
        "running": running,
        **found,
    }
    return render(request, "engines/findings/checks.html", context)


def administered(request: HttpRequest) -> list[Project]:
    """Studies whose checks the person may switch: as an administrator of all its sites."""
    projects = Project.objects.for_user(request.user).order_by("code")
    if request.user.is_superuser:
        return [*projects]
    held = memberships(request.user).filter(role=Role.ADMIN, site="")
    return [*projects.filter(pk__in=held.values("project"))]


def _chosen(request: HttpRequest, mine: list[Project]) -> Project | None:
    wanted = request.GET.get("project", "")
    named = [one for one in mine if str(one.pk) == wanted]
    return next(iter(named if wanted else mine), None)


def _line(form: ChecksForm, kind: Kind, counts: Counter[Kind] | None) -> dict[str, Any]:
    return {
        "kind": kind,
        "label": LABELS[kind],
        "help": HELP[kind],
        "box": form[f"on_{kind}"],
        "fields": [form[name] for name in _PARAMETERS.get(kind, ())],
        "count": None if counts is None else counts[kind],
    }


def _saved(request: HttpRequest, project: Project, form: ChecksForm) -> bool:
    checks = form.checks()
    try:
        switch.switch(project=project, checks=checks, actor=request.user)
    except ValidationError as error:
        form.add_error(None, error.messages)
        return False
    said = _("%d standard checks are on.") % len(checks) if checks else _("All are off.")
    messages.success(request, said)
    return True


def _preview(request: HttpRequest, project: Project, form: ChecksForm) -> dict[str, Any]:
    """What would be found, counted by kind; the first are shown one by one."""
    checks = form.checks()
    if not checks:
        form.add_error(None, _("Tick at least one check."))
        return {}
    try:
        metadata = dictionary.load(project)
        read = records.read_records(project=project)[:MOST_SUBJECTS]
        found = switch.preview(project=project, checks=checks, records=read, metadata=metadata)
    except (RedcapError, NotConfiguredError):
        form.add_error(None, _("REDCap could not be read."))
        return {}
    shown = found[:MOST_SHOWN]
    about = sorted({one.record_id for one in shown})
    reads.note(actor=request.user, project=project.pk, record_ids=about, door="console")
    return {
        "previewed": True,
        "subjects": len(read),
        "total": len(found),
        "counts": Counter(one.kind for one in found),
        "shown": [_shown(one, metadata) for one in shown],
    }


def _shown(one: switch.Previewed, metadata: Any) -> dict[str, Any]:
    event = metadata.event_label(one.seen.event) if one.seen.event else ""
    repeat = f"#{one.seen.instance}" if one.seen.instance else ""
    return {
        "record_id": one.record_id,
        "rule": LABELS[one.kind] if one.kind else one.seen.rule_key,
        "place": f"{event} {repeat}".strip() or "-",
        "message": one.seen.message,
    }
