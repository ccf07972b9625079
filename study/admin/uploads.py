"""Pages of uploaded files: sent, watched while they are read, looked at, put in force."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any, cast

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods
from unfold.widgets import (
    UnfoldAdminSelectWidget,
    UnfoldAdminSingleDateWidget,
    UnfoldAdminTextInputWidget,
)

from projects.access import has_role
from projects.models import Project, Role
from study.models import ProtocolDocument, ProtocolUpload
from study.protocol import index, uploads
from study.protocol.changes import changed_sections, names_in_force
from study.protocol.index import DocumentError
from study.protocol.rules import RuleIndex, rule_lines
from study.protocol.units import units

SHOWN = 50
State = ProtocolUpload.State
NEW, REPLACES = "new", "of "
"""What is sent for a new document, and before the name of one that is replaced."""


class PublishForm(forms.Form):
    """Which document the file becomes, and from which day it holds: what `uploads.publish` takes.

    `names`: of the documents in force. Which of them a file is a version of its own name does not say.
    """

    document = forms.ChoiceField(
        label=gettext_lazy("This file"),
        widget=UnfoldAdminSelectWidget,
        help_text=gettext_lazy("The version that is replaced is kept, and no longer searched."),
    )
    name = forms.CharField(
        label=gettext_lazy("name of a new document"),
        max_length=200,
        required=False,
        widget=UnfoldAdminTextInputWidget,
    )
    version = forms.CharField(
        label=gettext_lazy("version"),
        max_length=64,
        required=False,
        widget=UnfoldAdminTextInputWidget,
    )
    effective_on = forms.DateField(
        label=gettext_lazy("in force since"),
        required=False,
        widget=UnfoldAdminSingleDateWidget(attrs={"type": "date"}),
        help_text=gettext_lazy("Blank: today. On a later day the version before holds until then."),
    )
    read = forms.CharField(widget=forms.HiddenInput, required=False)

    def __init__(self, names: Sequence[str], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._names = names
        if not names:
            del self.fields["document"]
            return
        replaced = [(f"{REPLACES}{one}", _("replaces “%s”") % one) for one in names]
        document = cast(forms.ChoiceField, self.fields["document"])
        document.choices = [("", "—"), *replaced, (NEW, _("is a new document"))]

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if self.errors:
            return cleaned
        document = cleaned.pop("document", NEW)
        if document != NEW:
            cleaned["name"] = document.removeprefix(REPLACES)
        elif not cleaned["name"].strip():
            self.add_error("name", _("Please give the document a name."))
        elif cleaned["name"].strip() in self._names:
            told = _("A document of this name is in force: choose that it is replaced.")
            self.add_error("name", told)
        return cleaned


def _started(upload: ProtocolUpload, names: Sequence[str]) -> dict[str, Any]:
    """What the form opens with: of a version that waits for its day what was chosen, else no document."""
    started = {
        "name": upload.name,
        "version": upload.version,
        "effective_on": upload.effective_on,
        "read": uploads.as_read(upload),
    }
    if upload.state == State.SCHEDULED:
        started["document"] = f"{REPLACES}{upload.name}" if upload.name in names else NEW
    return started


def _projects(request: HttpRequest) -> list[Project]:
    """Those whose documents the reader may add. Raises PermissionDenied where there is none."""
    held = Project.objects.for_user(request.user).order_by("code")
    mine = [one for one in held if has_role(request.user, one.pk, Role.ADMIN)]
    if not mine:
        raise PermissionDenied
    return mine


def _context(request: HttpRequest, title: str, **shown: Any) -> dict[str, Any]:
    return admin.site.each_context(request) | {
        "title": title,
        "opts": ProtocolDocument._meta,
        **shown,
    }


@require_http_methods(["GET", "POST"])
def upload_view(request: HttpRequest) -> HttpResponse:
    """GET shows the files on their way; POST takes one or several (`files`) for a study (`project`).

    `too_large`: names of files that the browser did not send, to be refused in the same words.
    """
    mine = _projects(request)
    code = request.POST.get("project") or request.GET.get("project")
    # A study that is named and not the reader's is none: a file must not come to another one.
    project = next((one for one in mine if code in (None, "", one.code)), None)
    if project is None:
        raise Http404
    if request.method == "POST":
        sent, kept_back = request.FILES.getlist("files"), request.POST.getlist("too_large")
        refused = uploads.refusal_words("size", uploads.MAX_FILE // uploads.MB)
        for name in kept_back:
            messages.error(request, f"{name[:255]}: {refused}")
        if not sent and not kept_back:
            messages.error(request, _("Choose at least one file."))
        for file in sent:
            _take(request, project, file)
        return redirect(f"{request.path}?project={project.code}")
    rows = ProtocolUpload.objects.filter(project=project).defer("raw", "text")[:SHOWN]
    shown = [_row(one) for one in rows]
    context = _context(
        request,
        _("Upload files"),
        projects=mine,
        project=project,
        rows=shown,
        goes_on=any(one["goes_on"] for one in shown),
        most=uploads.MAX_FILE // uploads.MB,
        most_bytes=uploads.MAX_FILE,
    )
    return render(request, "study/upload.html", context)


def _take(request: HttpRequest, project: Project, file: Any) -> None:
    try:
        uploads.take_file(
            project=project,
            filename=file.name or "",
            raw=file.read(uploads.MAX_FILE + 1),
            actor=request.user,
        )
        messages.success(request, _("%(file)s was taken.") % {"file": file.name})
    except DocumentError as error:
        messages.error(request, f"{file.name}: {error}")


def _row(upload: ProtocolUpload) -> dict[str, Any]:
    return {
        "upload": upload,
        "colour": ProtocolUpload.COLOURS[State(upload.state)],
        "goes_on": upload.state in (State.WAITING, State.READING),
        "refusal": uploads.refusal_words(upload.refusal, upload.refusal_number)
        if upload.refusal
        else "",
    }


@require_http_methods(["GET", "POST"])
def preview_view(request: HttpRequest, protocolupload: int) -> HttpResponse:
    """What was read of a file; POST puts it in force (`publish`) or throws it away (`discard`)."""
    mine = _projects(request)
    upload = get_object_or_404(
        ProtocolUpload.objects.select_related("project", "document"),
        pk=protocolupload,
        project__in=mine,
    )
    names = names_in_force(upload.project)
    form = PublishForm(names, initial=_started(upload, names))
    if request.method == "POST" and "discard" in request.POST:
        uploads.discard(upload=upload, actor=request.user)
        messages.success(request, _("%(file)s was thrown away.") % {"file": upload.filename})
        return redirect("admin:study_protocoldocument_upload")
    if request.method == "POST":
        form = PublishForm(names, request.POST)
        if form.is_valid() and (answer := _published(request, upload, form)):
            return answer
    asked = request.GET.get("q", "").strip()[:500]
    own = units([(upload.name, upload.text)]) if upload.text else []
    context = _context(
        request,
        upload.filename,
        upload=upload,
        row=_row(upload),
        form=form,
        warnings=[uploads.warning_words(code, number) for code, number in upload.warnings],
        sections=[
            {"heading": heading, "lines": rule_lines(group)}
            for heading, group in (
                (key[1], [*found]) for key, found in groupby(own, lambda u: (u.section, u.heading))
            )
        ],
        changed=changed_sections(upload.project, upload.name, upload.text),
        may_publish=upload.state in (State.READ, State.SCHEDULED),
        asked=asked,
        **(_found(upload, asked) if asked and own else {}),
    )
    return render(request, "study/upload_preview.html", context)


def _published(
    request: HttpRequest, upload: ProtocolUpload, form: PublishForm
) -> HttpResponse | None:
    """Where to go once it is in force or scheduled; None where it is refused."""
    try:
        document = uploads.publish(upload=upload, actor=request.user, **form.cleaned_data)
    except DocumentError as error:
        messages.error(request, str(error))
        return None
    if document is None:
        day = form.cleaned_data["effective_on"]
        messages.success(request, _("It takes effect on %(day)s.") % {"day": day})
    else:
        messages.success(request, _("%(name)s is in force.") % {"name": document.name})
    return redirect("admin:study_protocoldocument_preview", upload.pk)


def _found(upload: ProtocolUpload, asked: str) -> dict[str, Any]:
    """What a question finds in this text alone."""
    rules = RuleIndex([(upload.name, upload.text)])
    ranked = rules.ranked(asked, index.own_synonyms(upload.project))[:5]
    return {
        "found": [
            {
                "heading": unit.heading,
                "text": f"{unit.lead}{unit.text}",
                "share": round(100 * min(1, score)),
            }
            for score, unit in ranked
        ],
    }
