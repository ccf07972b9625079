"""Checking the chain of a trail by a button: part by part, so that it shows how far it is and can be left."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from projects import audit
from projects.admin_base import ScopedAdmin
from projects.models import Project

PART = 2000
_SHOWN = 50
FAULTS: dict[str, Promise] = {
    "changed": _("changed afterwards"),
    "missing": _("missing"),
    "inserted": _("inserted"),
    "not as anchored": _("not as anchored outside of the database"),
}


def check_view(request: HttpRequest, page: ScopedAdmin) -> HttpResponse:
    """GET shows the button; POST checks the next part of a chain (`chain`, `first`) and how it stands.

    Nothing is kept on the server between two parts: leaving the page ends the check.
    """
    if not page.has_view_permission(request):
        raise PermissionDenied
    chains = _chains(request, page)
    context: dict[str, Any] = page.admin_site.each_context(request) | {
        "title": gettext("Check the chain"),
        "opts": page.model._meta,
        "chains": chains.items(),
    }
    if request.method == "POST":
        chain = request.POST.get("chain", "")
        if chain not in chains:
            raise PermissionDenied
        context |= {"chain": chain, "called": chains[chain], **_part(request, chain)}
    return render(request, "study/trail_check.html", context)


def _chains(request: HttpRequest, page: ScopedAdmin) -> dict[str, str]:
    """{chain: name} of the studies whose trail the reader sees; a superuser's: the house's, too."""
    projects = Project.objects.order_by("code")
    if not request.user.is_superuser:
        held = page.holders(request, page.view_roles).values("project")
        projects = projects.filter(pk__in=held)
    found = {str(one.pk): f"{one.code} {one.name}" for one in projects}
    return {**found, audit.HOUSE: gettext("The house")} if request.user.is_superuser else found


def _part(request: HttpRequest, chain: str) -> dict[str, Any]:
    first = _number(request.POST.get("first", ""), least=1)
    faults = _number(request.POST.get("faults", ""), least=0)
    found, length = audit.verify_part(chain, first=first, most=PART)
    done = min(first + PART - 1, length)
    total = faults + len(found)
    return {
        "faults": [(one.number, FAULTS.get(one.what, one.what)) for one in found[:_SHOWN]],
        "fault_count": total,
        "length": length,
        "done": done,
        "next": done + 1 if done < length else 0,
    }


def _number(text: str, *, least: int) -> int:
    return (
        max(least, int(text)) if text.isascii() and text.isdecimal() and len(text) < 16 else least
    )
