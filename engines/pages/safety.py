"""Serious events on pages: the settings of a study, and its clocks in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from core.house import clock
from engines import safety
from engines.models import SafetyClock
from engines.pages.checks import administered
from engines.pages.layout import render_page
from engines.sop.checks.serious import HOURS, Recipient
from projects.models import Member, Project
from projects.scoping import User
from skills.mapping import aliases
from study import dictionary, proposals
from study.blinding.mask import unnamed_for_all
from study.dictionary import KnownNames, name_refusal

PAGE = "admin:engines_safetyclock_settings"
_CHOICES = ("checkbox",)


class ReportsForm(forms.Form):
    """Which fields tell of a serious event, and for each recipient the field of its report and the hours."""

    is_on = forms.BooleanField(label=gettext_lazy("The clocks run"))
    serious = forms.CharField(
        max_length=100, label=gettext_lazy("Field that says that an event is serious")
    )
    code = forms.CharField(max_length=100, label=gettext_lazy("Its value for serious"))
    known = forms.CharField(max_length=100, label=gettext_lazy("Field of when it became known"))

    def __init__(self, project: Project, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._known = KnownNames.of(project)
        self._unnamed = unnamed_for_all(project)
        self._mapped = aliases(project)
        self._stored = dictionary.load(project) if dictionary.stored(project) else None
        for who in Recipient:
            self.fields[f"field_{who}"] = forms.CharField(
                max_length=100, label=_("Field of the report date")
            )
            self.fields[f"hours_{who}"] = forms.IntegerField(
                min_value=1, max_value=8760, label=_("Hours allowed")
            )
        for one in self.fields.values():
            one.required = False

    @classmethod
    def initial_of(cls, project: Project) -> dict[str, Any]:
        """What the form opens with; where nothing was ever saved, what the dictionary suggests."""
        told, is_on = safety.saved(project)
        if not told and dictionary.stored(project) is not None:
            serious, code = proposals.serious_field(dictionary.load(project))
            told = {"serious": serious, "code": code}
        reports: Mapping[str, Any] = told.get("reports") or {}
        return {
            "is_on": is_on,
            **{name: told.get(name, "") for name in ("serious", "code", "known")},
            **{f"field_{who}": reports.get(who, {}).get("field", "") for who in Recipient.values},
            **{
                f"hours_{who}": reports.get(who, {}).get("hours", HOURS) for who in Recipient.values
            },
        }

    def clean(self) -> dict[str, Any]:
        """Names are fields of the dictionary or mapped to one; clocks that run have what they need."""
        cleaned: dict[str, Any] = super().clean() or {}
        reported = [f"field_{who}" for who in Recipient.values]
        for key in ("serious", "known", *reported):
            if why := self._refusal(cleaned.get(key, "")):
                self.add_error(key, why)
        if cleaned.get("is_on"):
            for key in ("serious", "code"):
                if not cleaned.get(key) and key not in self.errors:
                    self.add_error(key, _("Please fill this in, or switch the clocks off."))
            if not any(cleaned.get(key) for key in reported) and not self.errors:
                told = _("Name the report date of at least one recipient.")
                self.add_error(reported[0], told)
        return cleaned

    def _refusal(self, name: str) -> str:
        actual = self._mapped.get(name, name)
        if why := name_refusal(actual, self._known.fields, unnamed=self._unnamed):
            return why
        row = self._stored.fields.get(actual) if self._stored and actual else None
        if row and row["field_type"] in _CHOICES:
            return _("A field of several ticks cannot be used here: choose one with one value.")
        if self._stored and actual in self._stored.identifier_fields:
            return _(
                "This field identifies a person: its values are not kept, so no clock reads them."
            )
        return ""

    def told(self) -> dict[str, Any]:
        """What the workflow stores; {} where the clocks are off."""
        said = self.cleaned_data
        if not said["is_on"]:
            return {}
        reports = {
            who: {"field": said[f"field_{who}"], "hours": said[f"hours_{who}"] or HOURS}
            for who in Recipient.values
            if said[f"field_{who}"]
        }
        known = {"known": said["known"]} if said["known"] else {}
        return {"serious": said["serious"], "code": said["code"], **known, "reports": reports}


@require_http_methods(["GET", "POST"])
def settings_view(request: HttpRequest) -> HttpResponse:
    """GET shows the settings of a study, POST saves them; by administrators of all its sites."""
    mine, wanted = administered(request), request.GET.get("project", "")
    project = next((one for one in mine if wanted in ("", str(one.pk))), None)
    if project is None:
        raise PermissionDenied
    given = request.POST if request.method == "POST" else None
    form = ReportsForm(project, given, initial=ReportsForm.initial_of(project))
    if request.method == "POST" and form.is_valid() and _saved(request, project, form):
        return redirect(f"{reverse(PAGE)}?project={project.pk}")
    return render_page(
        request,
        "engines/safety/settings.html",
        _("Reports of serious events"),
        SafetyClock,
        project=project,
        projects=mine,
        form=form,
        fields=[form[name] for name in ("serious", "code", "known")],
        reports=[(who.label, [form[f"field_{who}"], form[f"hours_{who}"]]) for who in Recipient],
        running=safety.saved(project)[1],
        known=_known(project),
    )


def _known(project: Project) -> list[tuple[str, str]]:
    """The study's fields with their labels, and the names that are mapped to one, to choose from."""
    if dictionary.stored(project) is None:
        return []
    metadata = dictionary.load(project)
    shown = metadata.fields.keys() - metadata.identifier_fields
    fields = [(name, metadata.label(name)) for name in metadata.fields if name in shown]
    mapped = [
        (one, metadata.label(name)) for one, name in aliases(project).items() if name in shown
    ]
    return fields + mapped


def _saved(request: HttpRequest, project: Project, form: ReportsForm) -> bool:
    told = form.told()
    try:
        safety.switch(project=project, told=told, actor=request.user)
    except ValidationError as error:
        form.add_error(None, error.messages)
        return False
    text = _("The clocks run; those of events that were read show within a minute.")
    messages.success(request, text if told else _("The clocks are off."))
    return True


@dataclass(frozen=True)
class Shown:
    """A clock in words: state with its colour, and times in the study's zone."""

    clock: SafetyClock
    state: str
    colour: str
    due: str
    started: str
    page: int | None = None


def clocks_of(
    project: Project, member: Member | None, user: User, *, record_id: str = ""
) -> list[SafetyClock]:
    """The clocks that a reader of a study sees: of one subject all, else those that run."""
    rows = SafetyClock.objects.filter(project=project)
    rows = rows.for_member(member) if member else rows.for_user(user)
    found = [*(rows.filter(record_id=record_id) if record_id else rows.running())]
    for one in found:
        one.project = project
    return found


def shown(clocks: Iterable[SafetyClock], pages: Mapping[str, int] | None = None) -> list[Shown]:
    """The clocks as a page shows them; `pages`: subject -> key of its page."""
    return [_shown(one, (pages or {}).get(one.record_id)) for one in clocks]


def _shown(one: SafetyClock, page: int | None) -> Shown:
    zone = ZoneInfo(one.project.timezone)
    state, colour = state_words(one)
    due, started = (
        moment.astimezone(zone).strftime("%Y-%m-%d %H:%M")
        for moment in (one.due_at, one.started_at)
    )
    return Shown(one, state, colour, due, started, page)


def state_words(one: SafetyClock) -> tuple[str, str]:
    """What became of a clock, with its colour; a report after its time says so."""
    if one.is_overdue(clock.now()):
        told, colour = _("Report overdue"), "danger"
    else:
        told = one.get_state_display()
        colour = SafetyClock.COLOURS[SafetyClock.State(one.state)]
    if safety.is_late(one):
        return _("Reported late"), "danger"
    if one.is_unreadable and one.state == SafetyClock.State.RUNNING:
        told = _("%(state)s; the report date is unreadable") % {"state": told}
    return told, colour
