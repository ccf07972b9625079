"""The wizard that sets a study up: a panel a step, each with its state, its form or page, and its test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from django import forms
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

from core.house.db import after_commit, atomic
from projects import members, services
from projects.models import Member, Project, Role
from study import dictionary
from study.admin.confirm import held_project
from study.admin.project_form import ProjectForm
from study.identity import Answer
from study.models import SyncState, VisitPlanEntry
from study.setup import plan, steps
from study.setup.own import PAGE
from study.tasks import read_study

ALL_SITES = "*"
NO_FIELD = "-"
"""Chosen in place of a field where the study has none of the kind."""
_TAKE = "take-"
READ_S = 3600
"""For so long a reading that was asked for is waited for."""


class SitesChangedError(Exception):
    """Somebody else gave the member that it names another site."""


class ConnectionForm(ProjectForm):
    """Address and token of REDCap; a token that was typed survives a wrong address."""

    class Meta:
        model = Project
        fields = ("redcap_url", "redcap_token", "reads_queries")


class PatternForm(forms.ModelForm):
    """How the study's record ids look."""

    class Meta:
        model = Project
        fields = ("record_id_pattern",)


@sensitive_post_parameters("redcap_token")
@require_http_methods(["GET", "POST"])
def setup_view(request: HttpRequest, pk: UUID, page: ModelAdmin) -> HttpResponse:
    """GET shows how every step stands; POST does one thing of one step (`do`), or tests it (`test`)."""
    project = held_project(request, pk, Role.ADMIN)
    connection = ConnectionForm(instance=project)
    context: dict[str, Any] = {}
    if request.method == "POST" and "test" in request.POST:
        key = request.POST["test"]
        context = {"tested": key, "lines": steps.run_test(project, key)}
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


def _from_dictionary(project: Project, typed: Mapping[str, str]) -> dict[str, Any]:
    """Sites, people and proposed visits, with what was `typed`; nothing before the first reading."""
    if dictionary.stored(project) is None:
        return {}
    rows = Member.objects.filter(project=project, is_active=True).select_related("person__user")
    return {
        "doubts": plan.doubtful_dates(project),
        "answers": Answer.choices,
        "id_pattern": typed.get("record_id_pattern", plan.id_pattern(project)),
        "sites": dictionary.load(project).sites,
        "people": rows.order_by("role", "display_name"),
        "proposed": shown_rows(project, typed),
        "anchors": plan.anchor_dates(project),
        "anchor": plan.likely_anchor(project),
        "withdrawal": plan.likely_withdrawal(project),
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
        "lines": steps.run_test(stored, "redcap"),
    }


def _read(request: HttpRequest, project: Project) -> HttpResponse:
    """Read dictionary and subjects at once, in the background."""
    cache.set(_key(project), now().isoformat(), READ_S)
    after_commit(lambda: read_study.delay(str(project.pk)))
    return _back(project, "reading")


def _identity(request: HttpRequest, project: Project) -> HttpResponse | dict[str, Any]:
    """Store how ids look and what the doubtful dates are, then read again: what is closed changes."""
    form = PatternForm(request.POST, instance=project)
    if not form.is_valid():
        project.refresh_from_db()
        return {"pattern_errors": form.errors["record_id_pattern"], "typed": request.POST}
    try:
        with atomic():
            services.save_project(project=form.save(False), actor=request.user)
            answers = plan.answers_in(request.POST, project)
            dictionary.store_date_answers(project=project, answers=answers, actor=request.user)
    except dictionary.AnsweredMeanwhileError as error:
        messages.error(request, str(error))
        return _back(project, "identity")
    messages.success(request, _("Stored; the subjects are read again."))
    return _read(request, project)


def _sites(request: HttpRequest, project: Project) -> HttpResponse:
    """Give people the sites that were picked for them; all or none."""
    sites = dictionary.load(project).sites if dictionary.stored(project) else {}
    known = {site: site for site in sites} | {ALL_SITES: ""}
    try:
        with atomic():
            for member in Member.objects.filter(project=project, is_active=True):
                chosen = request.POST.get(f"site-{member.pk}", "")
                read = request.POST.get(f"was-{member.pk}", "")
                if chosen not in known or chosen == read or members.refusal(request.user, member):
                    continue
                if read != (member.site or ALL_SITES):
                    raise SitesChangedError(member.display_name or member.identity)
                member.site = known[chosen]
                services.save_member(
                    member=member, actor=request.user, all_sites=chosen == ALL_SITES
                )
    except SitesChangedError as error:
        told = _("The site of %s was changed meanwhile. Nothing was stored: please look again.")
        messages.error(request, told % error)
    except PermissionDenied as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("Sites stored."))
    return _back(project, "sites")


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
    told = ngettext("%d visit planned.", "%d visits planned.", len(entries))
    messages.success(request, told % len(entries))
    return _back(project, "plan")


def _withdrawal(request: HttpRequest, project: Project) -> HttpResponse | dict[str, Any]:
    """Store the date that tells when a subject left, or that the study has none."""
    name = request.POST.get("withdrawal", "")
    if name not in {NO_FIELD, *dict(plan.anchor_dates(project))}:
        return {"withdrawal_error": _("Choose the date of withdrawal, or that there is none.")}
    project.withdraw_field = "" if name == NO_FIELD else name
    project.has_no_withdraw_field = name == NO_FIELD
    services.save_project(project=project, actor=request.user)
    messages.success(request, _("Date of withdrawal stored."))
    return _back(project, "plan")


_ACTIONS = {
    "connect": _connect,
    "read": _read,
    "identity": _identity,
    "sites": _sites,
    "plan": _plan,
    "withdrawal": _withdrawal,
}


def _back(project: Project, step: str) -> HttpResponse:
    return redirect(f"{reverse(PAGE, args=[project.pk])}#{step}")


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
    return JsonResponse({"goes_on": is_reading(held_project(request, pk, Role.ADMIN))})


def shown_rows(project: Project, typed: Mapping[str, str]) -> list[dict[str, object]]:
    """The proposed visits as the page shows them: what was typed stands where it was refused."""
    return [
        {
            "key": row.key,
            "field": row.field,
            "label": row.label,
            "place": row.event or row.form,
            "taken": f"take-{row.key}" in typed,
            **{
                column: typed.get(f"{column}-{row.key}", getattr(row, column))
                for column in ("visit", "day", "minus", "plus")
            },
        }
        for row in plan.proposed_visits(project)
    ]


def plan_rows(data: Mapping[str, str], project: Project) -> list[VisitPlanEntry]:
    """The visits that were ticked, not stored. Raises ValidationError that names the visit."""
    anchor = data.get("anchor", "")
    if anchor not in dict(plan.anchor_dates(project)):
        raise ValidationError(_("Choose the date that days are counted from."))
    proposed = plan.proposed_visits(project)
    ticked = {name.removeprefix(_TAKE) for name in data if name.startswith(_TAKE)}
    gone = ticked - {row.key for row in proposed}
    told = _("%(date)s is no longer proposed: it was planned meanwhile, or REDCap changed it.")
    errors = [told % {"date": key.rstrip("@")} for key in sorted(gone)]
    entries: list[VisitPlanEntry] = []
    start = project.visit_plan.count()
    for row in proposed:
        if row.key not in ticked:
            continue
        name = data.get(f"visit-{row.key}", "").strip()
        entry = VisitPlanEntry(
            project=project,
            position=start + len(entries) + 1,
            visit=name,
            anchor_field=anchor,
            date_field=row.field,
            event=row.event,
            arm=row.arm,
        )
        wrong = []
        try:
            for column in ("day", "minus", "plus"):
                setattr(entry, column, int(data.get(f"{column}-{row.key}", "").strip()))
            entry.full_clean()
        except ValidationError as error:
            wrong = error.messages
        except ValueError:
            wrong = [_("The day and its window are whole numbers.")]
        if name and (name, row.arm) in [(one.visit, one.arm) for one in entries]:
            wrong.append(_("Two visits have this name."))
        errors += [f"{name or row.field}: {text}" for text in wrong]
        entries.append(entry)
    if not (entries or errors):
        errors.append(_("Nothing was ticked."))
    if errors:
        raise ValidationError(errors)
    return entries
