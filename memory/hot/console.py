"""The kill switch and "what would be sent?" in the console (seed 000, 5.3)."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.contrib import admin, messages
from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import ImproperlyConfigured
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from house.stored_labels import name
from integrations import tokens
from integrations.redcap import RedcapError
from memory.hot import (
    edit,
    injection,
    preview,
    proposals,
    save,
)
from memory.hot.text import Line, lines
from memory.labels import INTENTS
from memory.models import ProjectMemory
from memory.versioned_admin import edits, posted_version
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
    return {
        "hot": memory,
        "hot_lines": [line for line in lines(memory.content) if line.is_content],
        "hot_waiting": proposals.waiting(memory.project),
        "hot_over": count if count > injection.LIMIT else 0,
        "hot_limit": injection.LIMIT,
    }


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


def _line(memory: ProjectMemory, number: str, text: str) -> Line | None:
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
