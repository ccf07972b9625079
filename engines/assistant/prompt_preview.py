"""What would be sent for a question: the chat's own router up to each task's first call, which is not made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from django.utils.timezone import now

from engines.assistant import context
from engines.assistant.chat.prepare import prepare
from engines.assistant.chat.service import routed
from integrations import tokens
from integrations.llm import Completion, LlmError, Message
from llm.asking import Llm, TokenCapReached
from llm.providers import clients_for
from memory.hot.preview import Part, Preview, Prompt
from privacy.outbound_policy import PrivacyError
from projects.models import Member


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
        intents=list(turn.detection.intents), prompts=silent.sent, left_out=turn.hot.left_out
    )
