"""Project → Blinding: fields that unblind, who is unblinded, and breaking the code of one subject."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.contrib.admin import ModelAdmin
from django.core.exceptions import PermissionDenied, ValidationError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods

from core.integrations.redcap import RedcapError
from projects import reads
from projects.access import member_in
from projects.login import signing
from projects.models import Member, Project, Role
from projects.scoping import memberships
from study import dictionary, door
from study.blinding import services
from study.client import NotConfiguredError
from study.facts import Fact
from study.models import BlindedField, CodeBreak, Subject

PAGE = "admin:projects_project_blinding"
VIEWERS = (Role.ADMIN, Role.PI, Role.AUDITOR)
BREAKERS = (Role.ADMIN, Role.PI)
SPARE = 3
"""Empty rows for further fields."""


@sensitive_post_parameters("password")
@require_http_methods(["GET", "POST"])
def blinding_view(request: HttpRequest, page: ModelAdmin, object_id: str) -> HttpResponse:
    """The page; what a form of it sends is done and told. Raises Http404."""
    project: Project | None = page.get_object(request, object_id)
    if project is None or not _holds(request, project, *VIEWERS):
        raise Http404
    refused: dict[str, Any] = {}
    if request.method == "POST":
        done = _done(request, project)
        if isinstance(done, HttpResponse):
            return done
        refused = done
    context = page.admin_site.each_context(request) | _context(request, project) | refused
    return render(request, "study/blinding.html", context | {"opts": page.model._meta})


def _holds(request: HttpRequest, project: Project, *roles: str, whole: bool = False) -> bool:
    if request.user.is_superuser:
        return True
    held = memberships(request.user).filter(project=project, role__in=roles)
    return (held.filter(site="") if whole else held).exists()


def _require_administrator(request: HttpRequest, project: Project) -> None:
    """Who sets blinding up sees all sites: it holds for all of them."""
    if not _holds(request, project, Role.ADMIN, whole=True):
        raise PermissionDenied


def _context(request: HttpRequest, project: Project) -> dict[str, Any]:
    rows = [*BlindedField.objects.filter(project=project)]
    me = member_in(request.user, project.pk)
    found = dictionary.stored(project)
    metadata = dictionary.load(project) if found else None
    people = Member.objects.filter(project=project, is_active=True).select_related("person__user")
    visible = Subject.objects.for_user(request.user).filter(project=project)
    breaks = CodeBreak.objects.filter(
        project=project, record_id__in=visible.values("record_id")
    ).select_related("member__person")
    mine = [row.record_id for row in breaks if me and row.member_id == me.pk]
    shown = request.GET.get("subject", "")
    return {
        "title": _("Blinding"),
        "project": project,
        "rows": [*rows, *[BlindedField() for _n in range(SPARE)]],
        "kinds": BlindedField.Kind.choices,
        "fields": metadata.labels.items() if metadata else (),
        "administers": _holds(request, project, Role.ADMIN, whole=True),
        "people": people.order_by("role", "display_name"),
        "me": me,
        "may_break": bool(me and me.role in BREAKERS and project.blinded_since),
        "breaks": breaks,
        "mine": mine,
        "shown": shown if shown in mine else "",
        "facts": _values(request, project, me, rows, shown) if me and shown in mine else (),
    }


def _values(
    request: HttpRequest, project: Project, me: Member, rows: list[BlindedField], record_id: str
) -> tuple[Fact, ...]:
    """What the blinded fields of one subject hold, read through the door as everything is."""
    reads.note(actor=request.user, project=project.pk, record_ids=[record_id], door="console")
    query = {"subjects": [record_id], "select": [row.field for row in rows]}
    try:
        return door.ask_one(project, me, query).facts
    except (RedcapError, NotConfiguredError):
        messages.error(request, _("REDCap could not be read."))
        return ()


def _done(request: HttpRequest, project: Project) -> HttpResponse | dict[str, Any]:
    """Where to go on; for fields that are refused what was typed, so that it is mended where it stands."""
    told: dict[str, Callable[[HttpRequest, Project], str]] = {
        "fields": _switch_on,
        "members": _choose,
        "off": _switch_off,
        "break": _break,
    }
    do = told.get(request.POST.get("do", ""))
    if do is None:
        raise Http404
    address = redirect(PAGE, project.pk)
    try:
        messages.success(request, do(request, project))
    except ValidationError as error:
        for why in error.messages:
            messages.error(request, why)
        if do is _switch_on:
            return {"rows": [*_typed(request), *[BlindedField() for _n in range(SPARE)]]}
    except (RedcapError, NotConfiguredError):
        messages.error(request, _("REDCap could not be read."))
    else:
        if do is _break:
            address["Location"] += f"?subject={request.POST['record_id'].strip()}"
    return address


def _switch_on(request: HttpRequest, project: Project) -> str:
    _require_administrator(request, project)
    rows = _typed(request)
    if {row.kind for row in rows} - {*BlindedField.Kind.values}:
        raise ValidationError(_("Please choose what each field is."))
    if len({row.field for row in rows}) < len(rows):
        raise ValidationError(_("A field is named twice."))
    services.switch_on(project=project, fields=rows, actor=request.user)
    return _("The study is blinded.")


def _typed(request: HttpRequest) -> list[BlindedField]:
    """The rows that name a field, not stored."""
    sent = (request.POST.getlist(name) for name in ("field", "kind", "words"))
    return [
        BlindedField(field=field.strip(), kind=kind, words=words.replace("\r", "").strip())
        for field, kind, words in zip(*sent, strict=False)
        if field.strip()
    ]


def _choose(request: HttpRequest, project: Project) -> str:
    _require_administrator(request, project)
    services.choose_unblinded(
        project=project, unblinded=request.POST.getlist("unblinded"), actor=request.user
    )
    return _("Saved.")


def _switch_off(request: HttpRequest, project: Project) -> str:
    _require_administrator(request, project)
    _check_signature(request)
    services.switch_off(project=project, actor=request.user, reason=request.POST.get("reason", ""))
    return _("The study is open.")


def _break(request: HttpRequest, project: Project) -> str:
    me = member_in(request.user, project.pk)
    if me is None or me.role not in BREAKERS:
        raise PermissionDenied
    _check_signature(request)
    record_id = request.POST.get("record_id", "").strip()
    services.break_code(
        member=me, record_id=record_id, reason=request.POST.get("reason", ""), actor=request.user
    )
    return _("The code of %(subject)s is open to you.") % {"subject": record_id}


def _check_signature(request: HttpRequest) -> None:
    """The password once more, or the code of the app. Raises ValidationError."""
    user: Any = request.user
    if refusal := signing.refusal(request, user, request.POST.get("password", "")):
        raise ValidationError(refusal)
