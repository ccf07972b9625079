"""The kill switch and "what would be sent?" in the console (seed 000, 5.3)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import ImproperlyConfigured, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from house.stored_labels import name
from integrations import tokens
from integrations.redcap import RedcapError
from memory.hot import (
    edit,
    injection,
    meter,
    past,
    preview,
    proposals,
    save,
)
from memory.hot.text import Line, lines
from memory.labels import INTENTS
from memory.models import ProjectMemory, ProjectMemoryVersion
from memory.versioned_admin import edits, posted_version
from projects import actors
from projects.models import Member, Role
from projects.scoping import User, memberships
from study.client import NotConfiguredError

PAGE = "admin:memory_projectmemory_change"
_LONGEST = 2000


def previews(user: User) -> bool:
    """Whether the page "What would be sent?" opens for the user: administrators."""
    return memberships(user).filter(role=Role.ADMIN).exists()


def _mine(request: HttpRequest, pk: UUID) -> ProjectMemory:
    memory = get_object_or_404(ProjectMemory.objects.for_user(request.user), pk=pk)
    if not edits(request.user, memory.project_id):
        raise Http404
    return memory


def page(memory: ProjectMemory) -> dict[str, Any]:
    """What the page of a hot memory shows its editors beside form and versions."""
    count = tokens.count(memory.content)
    versions = past.newest(memory)
    return {
        "hot": memory,
        "hot_lines": _shown(memory, versions),
        "hot_removed": [
            {"row": row, "author": actors.told(row.author)}
            for row in past.removed(memory, versions)
        ],
        "hot_oldest": past.MOST,
        "hot_waiting": proposals.waiting(memory.project),
        "hot_over": count if count > injection.LIMIT else 0,
        "hot_limit": injection.LIMIT,
    }


def _shown(memory: ProjectMemory, versions: list[ProjectMemoryVersion]) -> list[dict[str, Any]]:
    """The lines, each with where it comes from."""
    known = past.origins(memory, versions)
    told = [line for line in lines(memory.content) if line.is_content]
    return [_with_origin(line, known.get(past.place(line))) for line in told]


def _with_origin(line: Line, origin: past.Origin | None) -> dict[str, Any]:
    """Who brought the line in, in words; of a proposal, who made it, who accepted it and on what."""
    proposal = origin.proposal if origin else None
    return {
        "line": line,
        "origin": origin,
        "author": actors.told(origin.author) if origin else "",
        "proposer": actors.told(proposal.author) if proposal else "",
    }


@staff_member_required
@require_POST
def meter_view(request: HttpRequest) -> HttpResponse:
    """How many tokens the text in the editor has, part by part; for those who edit."""
    if not edits(request.user):
        raise PermissionDenied
    if "content" not in request.POST:
        return HttpResponseBadRequest()
    text = request.POST["content"].replace("\r\n", "\n")
    return render(request, "memory/_meter.html", {"gauges": meter.gauges(text)})


@require_POST
def retire_view(request: HttpRequest, pk: UUID) -> HttpResponse:
    """停用: the line is gone with the next message, and no job brings it back."""
    memory = _mine(request, pk)
    line = _line(memory, request.POST.get("number", ""), request.POST.get("line", ""))
    if line is None:
        messages.error(request, _("This line is not there any more."))
        return redirect(PAGE, pk)
    try:
        save.save_memory(
            project=memory.project,
            content=edit.remove(
                memory.content, line=line.text, kind=line.kind, user_id=line.profile
            ),
            actor=request.user,
            base_version=posted_version(request),
        )
    except (save.MemoryConflict, save.MemoryTooLarge) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("The line is out of use."))
    return redirect(PAGE, pk)


@require_POST
def return_view(request: HttpRequest, pk: UUID, number: int) -> HttpResponse:
    """A person takes back what was removed: it stands in its place again, and jobs may say it again."""
    memory = _mine(request, pk)
    version = get_object_or_404(memory.versions, version=number)
    line = _line(version, request.POST.get("number", ""), request.POST.get("line", ""))
    if line is None:
        messages.error(request, _("This line is not there any more."))
        return redirect(PAGE, pk)
    try:
        save.save_memory(
            project=memory.project,
            content=edit.put_back(
                memory.content, line, name=proposals.name_of(memory.project, line.profile)
            ),
            actor=request.user,
            base_version=posted_version(request),
            reason=_("A removed line taken back"),
        )
    except (save.MemoryConflict, save.MemoryTooLarge) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("The line is in use again."))
    return redirect(PAGE, pk)


def _line(memory: ProjectMemory | ProjectMemoryVersion, number: str, text: str) -> Line | None:
    """The line that was clicked; the same words may stand in two profiles."""
    found = [line for line in lines(memory.content) if line.is_content]
    at = int(number) if number.isdecimal() and len(number) < 6 else -1
    return found[at] if 0 <= at < len(found) and found[at].text == text else None


@staff_member_required
def sent_view(request: HttpRequest) -> HttpResponse:
    """What would be sent to the LLM for a question of the user, part by part with tokens."""
    held = list(memberships(request.user).filter(role=Role.ADMIN))
    if not held:
        raise Http404
    code, question = request.POST.get("project", ""), request.POST.get("question", "")[:_LONGEST]
    member = next((m for m in held if m.project.code == code), held[0])
    context: dict[str, Any] = admin.site.each_context(request) | {
        "title": _("What would be sent?"),
        "projects": held,
        "member": member,
    }
    if request.method == "POST" and question.strip():
        context |= {"question": question, **_preview(member, question)}
    return render(request, "memory/sent.html", context)


def _preview(member: Member, question: str) -> dict[str, Any]:
    try:
        shown = preview.preview(member, question)
    except (RedcapError, NotConfiguredError, ImproperlyConfigured):
        return {"problem": _("REDCap cannot be read at the moment. Please try again later.")}
    return {"preview": shown, "intents": [(one, name(INTENTS, one)) for one in shown.intents]}
