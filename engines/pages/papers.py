"""Reports and lists of one study of the reader's: as a page, as a Word file and as PDF/A."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from typing import Any

from django.contrib import messages
from django.contrib.admin.views.decorators import staff_member_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.http import urlencode
from django.utils.text import get_valid_filename
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from core.house import clock
from core.house.db import atomic
from core.house.paper import as_docx, as_pdf
from core.house.paper.typesetting import TypesetError
from core.house.paper.value import Paper
from engines.pages.layout import UNREADABLE, render_page, why_unreadable
from engines.papers import make
from engines.papers.figures import Span
from memory.reports.weeks import DAYS
from projects import audit, reads, switcher
from projects.access import reads_as
from projects.downloads import file_of
from projects.models import Project
from study.admin.export import Unread
from study.dictionary import load

_FORMS: dict[str, tuple[str, Callable[[Paper], bytes]]] = {
    "docx": (as_docx.CONTENT_TYPE, as_docx.as_docx),
    "pdf": (as_pdf.CONTENT_TYPE, as_pdf.as_pdf),
}
_LISTS = (make.SUBJECTS, make.FINDINGS)


@require_GET
@staff_member_required
def papers_view(request: HttpRequest) -> HttpResponse:
    """A paper of the study that the address names, or (`form`) its file; the trail says that it left."""
    projects = switcher.studies(request.user)
    turned_to = switcher.chosen(request)
    code = request.GET.get("project", turned_to.code if turned_to else "")
    project = next((one for one in projects if code in ("", one.code)), None)
    if project is None:
        raise Http404
    wish = _wish(request.GET, project)
    chosen = _query(project, wish)
    shown: dict[str, Any] = {
        "project": project,
        "projects": projects,
        "wish": wish,
        "has_span": wish.kind not in _LISTS,
        "kinds": [
            (kind, title, _query(project, make.Wish(kind, _usual(kind, project))))
            for kind, title in make.titles().items()
        ],
        "forms": [(form.upper(), f"{chosen}&form={form}") for form in _FORMS],
    }
    try:
        shown["sites"] = _sites(request, project)
        made = make.make(project, request.user, wish)
    except Unread:
        shown["problem"] = _("REDCap could not be read.")
    except UNREADABLE as error:
        shown["problem"] = why_unreadable(error)
    else:
        reads.note(actor=request.user, project=project, record_ids=made.subjects, door="console")
        if request.GET.get("form") in _FORMS:
            return _file(request, project, wish, made, chosen)
        shown["paper"] = made.paper
    return render_page(request, "engines/papers/page.html", _("Reports and lists"), **shown)


def _file(
    request: HttpRequest, project: Project, wish: make.Wish, made: make.Made, back: str
) -> HttpResponse:
    """The paper as a file; the reader is told where it could not be made."""
    form = request.GET["form"]
    content_type, render = _FORMS[form]
    try:
        content = render(made.paper)
    except TypesetError:
        messages.error(
            request, _("The file could not be made. Try it again, or take the Word file.")
        )
        return redirect(f"{request.path}{back}")
    about: dict[str, Any] = {"form": form, "number": made.number, "site": made.site}
    if wish.kind not in _LISTS:
        about["days"] = wish.span.ends
    with atomic():
        told = {"model": f"paper.{wish.kind}", "rows": len(made.subjects), "filter": about}
        audit.record("rows.export", actor=request.user, project=project, new=told)
    name = get_valid_filename(f"{project.code}_{made.paper.title}_{wish.span.last}")
    return file_of(content, f"{name}.{form}", content_type)


def _wish(given: Mapping[str, str], project: Project) -> make.Wish:
    """What the address asks for; what it says wrongly is what is usual."""
    kind = given.get("kind", "")
    kind = kind if kind in make.titles() else make.WEEK
    usual = _usual(kind, project)
    try:
        first = date.fromisoformat(given.get("from", ""))
        last = date.fromisoformat(given.get("to", ""))
    except ValueError:
        first, last = usual.first, usual.last
    span = Span(first, last) if first <= last and first.year > 1900 else usual
    return make.Wish(kind, span, given.get("site", "") if kind in _LISTS else "")


def _usual(kind: str, project: Project) -> Span:
    """The last whole week of the study, the last whole month, the last year."""
    today = clock.today(project.timezone)
    if kind == make.WEEK:
        over = max((today - project.start_date).days // DAYS, 1)
        first = project.start_date + timedelta(days=DAYS * (over - 1))
        return Span(first, first + timedelta(days=DAYS - 1))
    if kind == make.MONTH:
        last = today.replace(day=1) - timedelta(days=1)
        return Span(last.replace(day=1), last)
    return Span(today - timedelta(days=364), today)


def _query(project: Project, wish: make.Wish) -> str:
    """The address's query for a paper."""
    asked = {"project": project.code, "kind": wish.kind}
    if wish.kind not in _LISTS:
        asked |= {"from": wish.span.ends[0], "to": wish.span.ends[1]}
    elif wish.site:
        asked["site"] = wish.site
    return f"?{urlencode(asked)}"


def _sites(request: HttpRequest, project: Project) -> list[tuple[str, str]]:
    """The sites that a reader of all may choose from."""
    member = reads_as(request.user, project.pk)
    return [] if member and member.site else [*load(project).sites.items()]
