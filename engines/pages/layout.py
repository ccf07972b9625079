"""What all pages of the console are made with."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.core.paginator import Page, Paginator
from django.db.models import Model
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from pydantic import ValidationError

from core.integrations.redcap import RedcapError
from projects import switcher
from projects.access import reads_as
from projects.models import Member, Project
from study.client import NeverReadError, NotConfiguredError, why_unread

UNREADABLE = (RedcapError, NotConfiguredError, NeverReadError, ValidationError)
"""What reading a study's visits raises where nothing was ever read, or nobody could follow its plan."""


def why_unreadable(error: Exception) -> str:
    """One of `UNREADABLE` for the reader."""
    if isinstance(error, ValidationError):
        return _(
            "The visit plan cannot be followed: visits are unknown. "
            "Please have it corrected in the console."
        )
    return why_unread(error)


def study_of(request: HttpRequest) -> tuple[list[Project], Project, Member | None]:
    """The reader's studies, the one that the address names, else the one turned to or the first, and as whom.

    As nobody's member: a superuser. Raises Http404: for nobody's study as for one that is not theirs.
    """
    projects = [*Project.objects.for_user(request.user).order_by("code")]
    turned_to = switcher.chosen(request)
    code = request.GET.get("project", turned_to.code if turned_to else "")
    project = next((one for one in projects if code in ("", one.code)), None)
    if project is None:
        raise Http404
    return projects, project, reads_as(request.user, project.pk)


def render_page(
    request: HttpRequest,
    template: str,
    title: Any,
    model: type[Model] | None = None,
    **shown: Any,
) -> HttpResponse:
    """A page within the console; `model`: of the table that it belongs to, for its menu and path."""
    context = admin.site.each_context(request) | {"title": title, **shown}
    return render(request, template, context | ({"opts": model._meta} if model else {}))


def paged(request: HttpRequest, rows: Any, size: int = 50) -> Page:
    """The rows of the page that the address names (`p`)."""
    return Paginator(rows, size).get_page(request.GET.get("p"))
