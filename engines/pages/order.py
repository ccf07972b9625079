"""The console's page that orders a workflow: for one subject, for several, or as a trial that leaves no trace.

The same as the API's `start/`, `start-batch/` and `dry-run/` (contracts.md, HTTP).
"""

from __future__ import annotations

import re
from typing import Any

from django import forms
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from core.house.admin_json import PrettyJsonField
from core.integrations.redcap import RedcapError
from engines import labels, sop
from engines.models import TaskRun
from engines.pages.batch import PAGE as BATCH
from engines.pages.decisions import RUN
from engines.pages.layout import render_page
from engines.sop.batches import CAP
from engines.sop.order_run import RecordNotFound, dry_run_for, start_batch_for, start_for
from projects.access import has_role
from projects.admin_base import ScopedAdmin
from projects.models import Project, Role
from skills import chat
from skills.models import Skill
from skills.validation import validate
from study.client import NotConfiguredError, why_unread

QC = "qc_process"
_SEPARATORS = re.compile(r"[\s,，、;；]+")


class OrderForm(forms.Form):
    """What to run on whom. `subjects` is cleaned to a list of record ids."""

    subjects = forms.CharField(max_length=20_000, required=False, label=_("subjects"))
    ask_llm = forms.BooleanField(required=False)

    def __init__(self, skills: QuerySet[Skill], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["skill"] = forms.ModelChoiceField(queryset=skills, label=_("skill"))

    def clean_subjects(self) -> list[str]:
        """The ids in the order they were typed, each once."""
        text: str = self.cleaned_data["subjects"]
        return [*dict.fromkeys(filter(None, _SEPARATORS.split(text)))]

    def clean(self) -> dict[str, Any]:
        """A trial takes one subject, a start names its own."""
        cleaned: dict[str, Any] = super().clean() or {}
        ids = cleaned.get("subjects", [])
        if "try" in self.data and len(ids) != 1:
            self.add_error("subjects", gettext("A trial takes exactly one subject."))
        if "start" in self.data and not ids:
            self.add_error("subjects", gettext("Name a subject, or choose “Start for all”."))
        return cleaned


def order_view(request: HttpRequest, page: ScopedAdmin) -> HttpResponse:
    """GET shows the form, POST tries (`try`), starts the named (`start`) or all visible subjects (`all`).

    `?project=CODE&subjects=IDS` fill the form in, with the study's quality control.
    """
    if not page.holders(request, sop.DECIDERS).exists() and not request.user.is_superuser:
        raise PermissionDenied
    skills = _skills(request, page)
    code, subjects = request.GET.get("project", ""), request.GET.get("subjects", "")
    control = skills.filter(project__code=code, skill_type=QC).first()
    initial = {"subjects": subjects, "skill": str(control.pk) if control else ""}
    form = OrderForm(skills, request.POST or None, initial=initial)
    shown: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        try:
            answer = _do(request, form)
        except RecordNotFound as missing:
            said = gettext("There is no such subject, or you may not see it.")
            form.add_error("subjects", f"{said} {missing}".strip())
        except (RedcapError, NotConfiguredError) as error:
            form.add_error(None, why_unread(error))
        except sop.SopError as error:
            form.add_error(None, str(error))
        else:
            if isinstance(answer, HttpResponse):
                return answer
            shown = answer
    title = gettext("Order a workflow")
    return render_page(request, "engines/order.html", title, TaskRun, form=form, **shown)


def _skills(request: HttpRequest, page: ScopedAdmin) -> QuerySet[Skill]:
    """Workflows that run on a subject, of studies where the user may order them."""
    skills = Skill.objects.for_user(request.user).filter(is_active=True)
    skills = skills.exclude(trigger_type=Skill.Trigger.CRON).exclude(skill_type=chat.TYPE)
    skills = skills.order_by("project__code", "name")
    if request.user.is_superuser:
        return skills
    return skills.filter(project__in=page.holders(request, sop.DECIDERS).values("project"))


def _do(request: HttpRequest, form: OrderForm) -> HttpResponse | dict[str, Any]:
    skill, ids = form.cleaned_data["skill"], form.cleaned_data["subjects"]
    if "try" in request.POST:
        asks = form.cleaned_data["ask_llm"]
        done = dry_run_for(request.user, skill.project, skill.config, ids[0], ask_llm=asks)
        return {"tried": done, **_told(skill.config, done)}
    if "start" in request.POST and len(ids) == 1:
        return redirect(RUN, start_for(request.user, skill.project, skill, ids[0]).pk)
    wanted = None if "all" in request.POST else ids
    return redirect(BATCH, start_batch_for(request.user, skill.project, skill, wanted, cap=CAP).pk)


@require_POST
def try_view(request: HttpRequest) -> HttpResponse:
    """A workflow that is being written (`config`, a JSON text), tried on one `subject`: a part of its page.

    As the API's `dry-run/` takes a configuration: for the administrators of the study. Raises PermissionDenied.
    """
    if not has_role(request.user, None, Role.ADMIN, of_site=True):
        raise PermissionDenied
    form = TryForm(Project.objects.for_user(request.user), request.POST)
    if not form.is_valid():
        wrong = [text for texts in form.errors.values() for text in texts]
        return render(request, "engines/tried.html", {"problems": wrong})
    project, config = form.cleaned_data["project"], form.cleaned_data["config"]
    if not has_role(request.user, project.pk, Role.ADMIN, of_site=True):
        raise PermissionDenied
    if any(not one.is_warning for one in validate(config, project)):
        told = gettext("The workflow has mistakes: they are listed below and stand at their nodes.")
        return render(request, "engines/tried.html", {"problems": [told]})
    subject, asks = form.cleaned_data["subject"], form.cleaned_data["ask_llm"]
    try:
        done = dry_run_for(request.user, project, config, subject, ask_llm=asks)
    except RecordNotFound:
        told = gettext("There is no such subject, or you may not see it.")
    except (RedcapError, NotConfiguredError) as error:
        told = why_unread(error)
    except sop.SopError as error:
        told = str(error)
    else:
        return render(request, "engines/tried.html", {"tried": done, **_told(config, done)})
    return render(request, "engines/tried.html", {"problems": [told]})


class TryForm(forms.Form):
    """A study, a configuration and whom it is tried on."""

    subject = forms.CharField(max_length=100, label=_("subject"))
    config = PrettyJsonField(label=_("configuration"))
    ask_llm = forms.BooleanField(required=False)

    def __init__(self, projects: QuerySet[Project], *args: Any) -> None:
        super().__init__(*args)
        missing = {"required": _("Choose the study first.")}
        self.fields["project"] = forms.ModelChoiceField(queryset=projects, error_messages=missing)
        self.fields["subject"].error_messages["required"] = _("Name a subject.")


def _told(config: dict[str, Any], done: sop.DryRun) -> dict[str, Any]:
    """The steps of a trial and its end in words."""
    steps = [_step(config, step) for step in done.steps]
    return {"steps": steps, "end": labels.name(labels.ENDS, done.end)}


def _step(config: dict[str, Any], step: sop.DryStep) -> dict[str, Any]:
    seen = [one for one in step.observations if one.outcome not in ("PASS", "NOT_APPLICABLE")]
    return {
        "key": step.node,
        "edge": step.edge,
        "target": step.target,
        "node": labels.node_title(config, step.node),
        "kind": labels.name(labels.NODES, step.kind),
        "outcome": labels.name(labels.OUTCOMES, step.outcome),
        "message": step.message,
        "seen": [(labels.name(labels.VERDICTS, one.outcome), one) for one in seen],
    }
