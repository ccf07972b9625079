"""What would be sent for a question, in the console (seed 000, 5.3).

The chat's own router up to each task's first call, which is not made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.contrib import admin
from django.contrib.admin.views.decorators import staff_member_required
from django.core.exceptions import ImproperlyConfigured
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.timezone import now
from django.utils.translation import gettext as _

from core.house.stored_labels import name
from core.integrations import tokens
from core.integrations.llm import Completion, LlmError, Message
from core.integrations.redcap import RedcapError
from core.llm.asking import Llm, TokenCapReached
from core.llm.providers import clients_for
from core.privacy.outbound_policy import PrivacyError
from engines.assistant import context
from engines.assistant.chat.service import routed
from engines.assistant.chat.turn import prepare
from engines.assistant.read.intents import intents_of
from engines.labels import INTENTS
from projects.models import Member, Role
from projects.scoping import memberships
from study.client import NotConfiguredError

_LONGEST = 2000


@dataclass(frozen=True)
class Part:
    """One part of a prompt with its tokens, counted offline."""

    name: str
    tokens: int


@dataclass(frozen=True)
class Prompt:
    """One assembled prompt: its parts, its messages (role, text), the versions of its templates, who is asked.

    `purpose` names which of the study's models (projects.endpoints.Purpose); `provider` and `model` are blank
    where none is configured.
    """

    parts: Sequence[Part]
    messages: Sequence[tuple[str, str]]
    version: str
    purpose: str = ""
    provider: str = ""
    model: str = ""

    @property
    def tokens(self) -> int:
        """All parts together."""
        return sum(part.tokens for part in self.parts)


@dataclass(frozen=True)
class Preview:
    """What one question would send, and the lines of hot memory that were left out."""

    intents: Sequence[str]
    prompts: Sequence[Prompt]
    left_out: Sequence[dict[str, str]]


@dataclass
class _Silent(Llm):
    """Takes the place of the study's LLM: keeps what it is asked and refuses, so that nothing else is asked."""

    sent: list[Prompt] = field(default_factory=list)
    seen: list[context.Assembled] = field(default_factory=list)

    @property
    def has_tools(self) -> bool:
        try:
            return super().has_tools
        except (LlmError, PrivacyError):
            return True

    def may(self, ability: str) -> bool:
        """Whatever it may be asked for is shown."""
        return True

    def ask(self, messages: Sequence[Message], *, version: str, **options: Any) -> Completion:
        self.sent.append(self._prompt(list(messages), version))
        # As if the budget were used up: the one failure that leads to no other question.
        raise TokenCapReached(0, "only shown, not sent")

    def _prompt(self, messages: list[Message], version: str) -> Prompt:
        texts = [(message.role, str(message.content or "")) for message in messages]
        made = next((one for one in self.seen if one.messages == messages), None)
        parts = made.parts if made else {role: tokens.count(text) for role, text in texts}
        try:
            client = clients_for(self.project, self.model_purpose)[0]
            provider, model = client.preset, client.model
        except (LlmError, PrivacyError):
            provider = model = ""
        shown = [Part(name, count) for name, count in parts.items()]
        return Prompt(shown, texts, version, str(self.model_purpose), provider, model)


def preview(member: Member, question: str) -> Preview:
    """The prompts of a question as `member`; reads as an answer does, sends and writes nothing.

    Raises integrations.redcap.RedcapError where the study was never read.
    """
    turn = prepare(member.project, member, question, now())
    with context.watched() as seen:
        silent = _Silent(member.project, user_id=member.identity, seen=seen)
        turn.llm = silent
        routed(turn)
    return Preview(
        intents=intents_of(turn.reading.tasks), prompts=silent.sent, left_out=turn.hot.left_out
    )


@staff_member_required
def sent_view(request: HttpRequest) -> HttpResponse:
    """What would be sent to the LLM for a question, part by part; for administrators of all sites."""
    # What the gate replaces tells who is in the study: nothing for who sees one site.
    held = list(memberships(request.user).filter(role=Role.ADMIN, site=""))
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
        context["question"] = question
        try:
            shown = preview(member, question)
        except (RedcapError, NotConfiguredError, ImproperlyConfigured):
            context["problem"] = _("REDCap cannot be read at the moment. Please try again later.")
        else:
            context["preview"] = shown
            context["intents"] = [(one, name(INTENTS, one)) for one in shown.intents]
    return render(request, "engines/sent.html", context)
