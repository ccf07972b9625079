"""The page of the standard checks of a study: what each looks for, on or off, and what it would find now."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods

from core.integrations.redcap import RedcapError
from engines.models import PendingAction
from engines.pages.evidence import place_of
from engines.pages.layout import render_page
from engines.sop.checks import adverse, switch
from engines.sop.checks.dictionary import unread_bounds
from engines.sop.checks.kinds import HELP, PROPOSED, Kind
from projects import reads
from projects.models import Project, Role
from projects.scoping import memberships
from skills.services import SkillChanged
from study import dictionary, records
from study.blinding.mask import unnamed_for_all
from study.client import NotConfiguredError, why_unread
from study.design import context_of
from study.dictionary import KnownNames, name_refusal

PAGE = "admin:engines_pendingaction_checks"
MOST_SUBJECTS, MOST_SHOWN = 500, 100
Stored = Mapping[str, Mapping[str, Any]]
_PARAMETERS: dict[Kind, tuple[str, ...]] = {
    Kind.LAB_AE: ("times", "days", "words"),
    Kind.AE_MEDICATION: ("ae_field", "ae_medication"),
    Kind.PROHIBITED: ("names", "field"),
}
_OWN: dict[str, tuple[str, ...]] = {
    Kind.LAB_AE: ("times", "days", "words"),
    Kind.AE_MEDICATION: ("field", "medication"),
    Kind.PROHIBITED: ("names", "field"),
}
"""What of a stored check the boxes stand for; its other settings are the workflow's."""
MOST_WORDS, MOST_CHARS = 200, 100
_LIST = re.compile(r"[,;、，；\n]+")


class ChecksForm(forms.Form):
    """A box for each check `on_<kind>`; `checks()` gives what a workflow stores."""

    times = forms.DecimalField(min_value=1, max_value=1000, label=_("times the upper limit"))
    days = forms.IntegerField(min_value=0, max_value=365, label=_("days around"))
    words = forms.CharField(
        max_length=4000, label=_("Words of adverse events for a lab, a line each: alt: ALT, liver")
    )
    names = forms.CharField(max_length=8000, label=_("Prohibited medications"))
    field = forms.CharField(max_length=100, label=_("Field that names medications"))
    ae_field = forms.CharField(
        max_length=100, label=_("Field of the adverse event that names a medication")
    )
    ae_medication = forms.CharField(max_length=100, label=_("Field that names medications"))
    read = forms.CharField(widget=forms.HiddenInput)

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known = KnownNames.of(project)
        self._unnamed = unnamed_for_all(project)
        for kind in Kind:
            self.fields[f"on_{kind}"] = forms.BooleanField(
                label=str(kind.label), help_text=str(HELP[kind])
            )
        for one in self.fields.values():
            one.required = False

    @classmethod
    def initial_of(cls, checks: Mapping[str, Mapping[str, Any]], running: bool) -> dict[str, Any]:
        """What the form opens with; where nothing was ever saved, what is proposed."""
        lab, cm, ae = (
            checks.get(kind) or {} for kind in (Kind.LAB_AE, Kind.PROHIBITED, Kind.AE_MEDICATION)
        )
        words = [f"{name}: {', '.join(told)}" for name, told in (lab.get("words") or {}).items()]
        return {
            "times": lab.get("times", adverse.TIMES),
            "days": lab.get("days", adverse.DAYS),
            "words": "\n".join(words),
            "names": "\n".join(cm.get("names") or ()),
            "field": cm.get("field", ""),
            "ae_field": ae.get("field", ""),
            "ae_medication": ae.get("medication", ""),
            **{f"on_{kind}": running and kind in checks for kind in Kind},
            **({} if checks else {f"on_{kind}": True for kind in PROPOSED}),
        }

    def _refusal(self, name: str) -> str:
        return name_refusal(name, self._known.fields, unnamed=self._unnamed)

    def clean_words(self) -> dict[str, list[str]]:
        """{lab field: words}. A line names a field of the dictionary."""
        found: dict[str, list[str]] = {}
        for line in filter(str.strip, self.cleaned_data["words"].splitlines()):
            name, _colon, told = line.replace("：", ":").partition(":")
            if why := self._refusal(name := name.strip()):
                raise forms.ValidationError(why)
            if name in found:
                raise forms.ValidationError(gettext("%s stands on two lines.") % name)
            if not (words := _several(told)):
                raise forms.ValidationError(gettext("No words stand beside %s.") % (name or ":"))
            found[name] = words
        return found

    def clean_names(self) -> list[str]:
        """Each once, as typed."""
        return _several(self.cleaned_data["names"])

    def clean(self) -> dict[str, Any]:
        """Fields are the dictionary's; the list is what the check of prohibited medication is about."""
        cleaned: dict[str, Any] = super().clean() or {}
        for key in ("field", "ae_field", "ae_medication"):
            if why := self._refusal(cleaned.get(key, "")):
                self.add_error(key, why)
        if cleaned.get(f"on_{Kind.PROHIBITED}") and not cleaned.get("names"):
            self.add_error("names", gettext("Name at least one medication."))
        for key in ("times", "days"):
            is_blank = cleaned.get(key, "") is None
            if cleaned.get(f"on_{Kind.LAB_AE}") and is_blank:
                self.add_error(key, self.fields[key].error_messages["required"])
        return cleaned

    def checks(self, stored: Stored) -> dict[str, dict[str, Any]]:
        """What is ticked, with what it is told; what is `stored` and has no box here stays."""
        said = self.cleaned_data
        told: dict[str, dict[str, Any]] = {
            Kind.LAB_AE: {
                "times": None if said["times"] is None else float(said["times"]),
                "days": said["days"],
                "words": said["words"],
            },
            Kind.PROHIBITED: {"names": said["names"], "field": said["field"]},
            Kind.AE_MEDICATION: {"field": said["ae_field"], "medication": said["ae_medication"]},
        }
        found = {kind: {**one} for kind, one in stored.items() if kind not in Kind.values}
        for kind in (str(one) for one in Kind if said.get(f"on_{one}")):
            own, before = _OWN.get(kind, ()), stored.get(kind) or {}
            found[kind] = {name: one for name, one in before.items() if name not in own}
            given = told.get(kind, {}).items()
            found[kind] |= {name: one for name, one in given if one or one == 0}
        return found


def _several(text: str) -> list[str]:
    """Each part once. Raises ValidationError where there are too many, or one is too long."""
    parts = [*dict.fromkeys(filter(None, map(str.strip, _LIST.split(text))))]
    if len(parts) > MOST_WORDS or any(len(part) > MOST_CHARS for part in parts):
        told = gettext("At most %(words)d entries, none longer than %(chars)d characters.")
        raise forms.ValidationError(told % {"words": MOST_WORDS, "chars": MOST_CHARS})
    return parts


@require_http_methods(["GET", "POST"])
def checks_view(request: HttpRequest) -> HttpResponse:
    """GET shows the form, POST saves it (`save`) or shows what the ticked would find (`preview`)."""
    mine, wanted = administered(request), request.GET.get("project", "")
    project = next((one for one in mine if wanted in ("", str(one.pk))), None)
    if project is None:
        raise PermissionDenied
    before, running = switch.saved_checks(project)
    initial = ChecksForm.initial_of(before, running) | {"read": switch.as_read(project)}
    form = ChecksForm(project, request.POST or None, initial=initial)
    found: dict[str, Any] = {}
    if request.method == "POST" and form.is_valid():
        if "preview" in request.POST:
            found = _preview(request, project, form, before)
        elif _saved(request, project, form, before):
            return redirect(f"{reverse(PAGE)}?project={project.pk}")
    elif request.method == "GET" and not before and dictionary.stored(project) is not None:
        # Nothing was ever decided: what is proposed is shown with what it would find.
        form = ChecksForm(project, {name: one for name, one in initial.items() if one})
        found = _preview(request, project, form, before) if form.is_valid() else {}
    return render_page(
        request,
        "engines/findings/checks.html",
        gettext("Standard checks"),
        PendingAction,
        project=project,
        projects=mine,
        form=form,
        lines=[
            {
                "kind": kind,
                "box": form[f"on_{kind}"],
                "fields": [form[name] for name in _PARAMETERS.get(kind, ())],
                "count": found["counts"][kind] if found else None,
            }
            for kind in Kind
        ],
        unread=_unread(project),
        running=running,
        proposed=not before,
        **found,
    )


def administered(request: HttpRequest) -> list[Project]:
    """Studies whose checks the person may switch: as an administrator of all its sites."""
    projects = Project.objects.for_user(request.user).order_by("code")
    if request.user.is_superuser:
        return [*projects]
    held = memberships(request.user).filter(role=Role.ADMIN, site="")
    return [*projects.filter(pk__in=held.values("project"))]


def _unread(project: Project) -> list[dict[str, str]]:
    """The bounds of the dictionary that can't be read, so that nobody takes them for checked."""
    if dictionary.stored(project) is None:
        return []
    metadata = dictionary.load(project)
    context = context_of(metadata, project.timezone, int(project.anchor_is_day))
    return [
        {"field": name, "label": metadata.label(name), "text": text}
        for name, text in unread_bounds(metadata, context)
    ]


def _saved(request: HttpRequest, project: Project, form: ChecksForm, stored: Stored) -> bool:
    checks = form.checks(stored)
    try:
        switch.switch(
            project=project, checks=checks, actor=request.user, read=form.cleaned_data["read"]
        )
    except ValidationError as error:
        form.add_error(None, error.messages)
        return False
    except SkillChanged as error:
        form.add_error(None, str(error))
        return False
    on = gettext("%d standard checks are on and run on all subjects now.") % len(checks)
    messages.success(request, on if checks else gettext("All are off."))
    return True


def _preview(
    request: HttpRequest, project: Project, form: ChecksForm, stored: Stored
) -> dict[str, Any]:
    """What would be found, counted by kind; the first are shown one by one."""
    checks = form.checks(stored)
    if not checks:
        form.add_error(None, gettext("Tick at least one check."))
        return {}
    try:
        metadata = dictionary.load(project)
        read = records.read_records(project=project)[:MOST_SUBJECTS]
        found = switch.preview(project=project, checks=checks, records=read, metadata=metadata)
    except (RedcapError, NotConfiguredError) as error:
        form.add_error(None, why_unread(error))
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
    return {
        "record_id": one.record_id,
        "rule": one.kind.label if one.kind else one.seen.rule_key,
        "place": place_of(metadata, one.seen.event, "", one.seen.instance) or "-",
        "message": one.seen.message,
    }
