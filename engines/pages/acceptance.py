"""A model's acceptance: its report as a page and as PDF, and the signature under it."""

from __future__ import annotations

from itertools import islice
from typing import Any

from django.contrib import messages
from django.contrib.auth.models import AbstractBaseUser
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.text import get_valid_filename
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_GET, require_POST

from core.house.db import atomic
from core.house.paper import as_pdf
from core.house.paper.typesetting import TypesetError
from core.llm import acceptance
from core.llm.models import ModelAcceptance
from engines.pages import decisions
from engines.papers.acceptance import paper_of
from engines.sop import SopError
from projects import audit, switcher
from projects.access import has_role
from projects.downloads import file_of
from projects.models import Project, Role

VIEWERS = (Role.PI, Role.ADMIN, Role.AUDITOR)
MOST_ABOVE = 20
_PAGE = "admin:llm_modelacceptance_change"


def may_sign(request: HttpRequest, row: ModelAcceptance) -> bool:
    """The PI or an administrator of the whole study."""
    return has_role(request.user, row.project_id, *acceptance.SIGNERS)


def context(request: HttpRequest, row: ModelAcceptance) -> dict[str, Any]:
    """What the page of one acceptance shows."""
    return {
        "paper": paper_of(row),
        "row": row,
        "may_sign": row.is_passed and not row.signed_at and may_sign(request, row),
        "is_of_today": acceptance.is_of_today(row),
        "pdf": reverse("admin:engines_modelacceptance_pdf", args=[row.pk]),
    }


def above(request: HttpRequest) -> list[tuple[Project, list[str]]]:
    """The reader's studies whose answers are plain, with why: the chosen one, or the first MOST_ABOVE."""
    chosen = switcher.chosen(request)
    mine = [chosen] if chosen else switcher.studies(request.user)
    shown = (one for one in mine if has_role(request.user, one.pk, *VIEWERS))
    told = ((one, acceptance.why_plain(one)) for one in shown)
    return [*islice(((one, why) for one, why in told if why), MOST_ABOVE)]


@require_POST
@sensitive_post_parameters("password")
def sign_view(request: HttpRequest, pk: int) -> HttpResponse:
    """Sign with the password what was passed."""
    row = _row(request, pk)
    user = request.user
    if not (isinstance(user, AbstractBaseUser) and may_sign(request, row)):
        messages.error(request, _("You may look on."))
        return redirect(_PAGE, pk)
    try:
        decisions.signature(request).check(user)
    except SopError as error:
        messages.error(request, str(error))
        return redirect(_PAGE, pk)
    if acceptance.sign(row, user, user.get_username()):
        messages.success(request, _("Signed. The study's answers may be chosen by this model now."))
    else:
        messages.error(
            request, _("It was not passed, is signed already, or is not as it was made.")
        )
    return redirect(_PAGE, pk)


@require_GET
def pdf_view(request: HttpRequest, pk: int) -> HttpResponse:
    """The report as PDF/A; the trail says that it left."""
    row = _row(request, pk)
    try:
        content = as_pdf.as_pdf(paper_of(row))
    except TypesetError:
        messages.error(request, _("The file could not be made. Please try it again."))
        return redirect(_PAGE, pk)
    told = {"model": "paper.acceptance", "rows": row.total, "filter": {"form": "pdf"}}
    with atomic():
        audit.record("rows.export", actor=request.user, project=row.project, new=told)
    name = get_valid_filename(f"{row.project.code}_acceptance_{row.ended_at:%Y-%m-%d}.pdf")
    return file_of(content, name, as_pdf.CONTENT_TYPE)


def _row(request: HttpRequest, pk: int) -> ModelAcceptance:
    """Raises Http404: for nobody's row as for one that is not theirs."""
    row = ModelAcceptance.objects.select_related("project").filter(pk=pk).first()
    if row is None or not has_role(request.user, row.project_id, *VIEWERS):
        raise Http404
    return row
