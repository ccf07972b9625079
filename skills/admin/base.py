"""The pages of this app where a study's administrator confirms what is proposed, and it is stored."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from django import forms
from django.contrib import messages
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.validators import MaxLengthValidator
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core.integrations.redcap import RedcapError
from projects.admin_base import ScopedAdmin
from projects.models import Project, Role
from study.client import NotConfiguredError
from study.protocol import index
from study.protocol.index import DocumentError

ADMIN = (Role.ADMIN,)
UNREAD = (RedcapError, NotConfiguredError)
Offer = Callable[[HttpRequest, Project], dict[str, Any]]
Apply = Callable[[HttpRequest, Project], str]


def administered(page: ScopedAdmin, request: HttpRequest) -> QuerySet[Project]:
    """Studies that the user administers, by code."""
    projects: QuerySet[Project] = Project.objects.for_user(request.user).order_by("code")
    if request.user.is_superuser:
        return projects
    return projects.filter(pk__in=page.holders(request, ADMIN).values("project"))


def confirm_page(
    page: ScopedAdmin,
    request: HttpRequest,
    *,
    name: str,
    title: str,
    template: str,
    offer: Offer,
    apply: Apply,
    confirms: str = "",
) -> HttpResponse:
    """The page at `name` of one study: shows what `offer` finds; a POST (with `confirms`) is applied.

    `apply` stores and returns what is told of it, or raises ValidationError and has stored nothing. What
    REDCap does not tell is said by `failed` in the page. Raises PermissionDenied.
    """
    projects = administered(page, request)
    given = request.POST if request.method == "POST" else request.GET
    asked = projects.filter(code=given["project"]) if "project" in given else projects
    project = asked.first()
    if project is None:
        raise PermissionDenied
    problem = ""
    if request.method == "POST" and (not confirms or confirms in request.POST):
        try:
            told = apply(request, project)
        except UNREAD:
            problem = gettext("REDCap could not be read.")
        except ValidationError as error:
            problem = " ".join(error.messages)
        else:
            messages.success(request, told)
            return redirect(f"{reverse(name)}?project={project.code}")
    try:
        offered = offer(request, project)
    except UNREAD:
        offered = {"failed": True}
    shown = {
        "title": title,
        "opts": page.opts,
        "project": project,
        "projects": projects,
        "problem": problem,
    }
    return render(request, template, page.admin_site.each_context(request) | shown | offered)


class GivenForm(forms.Form):
    """A study and what it takes in, as a text or a file; cleaned to `text`."""

    needed = _("Give a file or a text, one of the two.")
    most: ClassVar[int]

    text = forms.CharField(
        required=False,
        strip=False,
        widget=forms.Textarea(
            attrs={"rows": 18, "class": "iit-input iit-code", "spellcheck": "false"}
        ),
    )
    file = forms.FileField(required=False)

    def __init__(self, projects: QuerySet[Project], request: HttpRequest) -> None:
        first = projects.first()
        if first is None:
            raise PermissionDenied
        initial = {"project": request.GET.get("project") or first.code}
        super().__init__(request.POST or None, request.FILES or None, initial=initial)
        self.fields["text"].validators.append(MaxLengthValidator(self.most))
        self.fields["project"] = forms.ModelChoiceField(
            queryset=projects, label=_("project"), to_field_name="code"
        )

    def is_given(self, cleaned: dict[str, Any]) -> bool:
        """Whether there is anything to take in."""
        return bool((cleaned.get("text") or "").strip())

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        if file := cleaned.get("file"):
            try:
                cleaned["text"] = index.decoded_document(file.read(index.MAX_BYTES + 1))
            except DocumentError as error:
                self.add_error("file", str(error))
        if not self.errors and not self.is_given(cleaned):
            self.add_error("text", self.needed)
        return cleaned
