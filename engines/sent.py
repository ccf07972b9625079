"""What would be sent for a question: the router's own path up to the first call, which is not made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.utils.timezone import now

from engines import context
from engines.chat import prepare as preparing
from engines.chat.handlers import HANDLERS, PREFETCH
from engines.chat.service import merged
from engines.llm import Llm
from integrations.llm import Completion, LlmUnavailable, Message
from memory.hot_preview import Part, Preview, Prompt
from projects.models import Member


class _Silent(Llm):
    """Takes the place of the study's LLM: refuses every call, so that answers fall back."""

    @property
    def has_tools(self) -> bool:
        return True

    def ask(self, messages: Sequence[Message], **options: Any) -> Completion:
        raise LlmUnavailable(0, "only shown, not sent")


def preview(member: Member, question: str) -> Preview:
    """The prompts of a question as `member`; reads as an answer does, sends and writes nothing.

    Raises integrations.redcap.RedcapError where the study was never read.
    """
    turn = preparing.prepare(member.project, member, question, now())
    turn.llm = _Silent(member.project, user_id=member.identity)
    with context.watched() as seen:
        for part in merged(turn.detection.parts, turn.resolved(question)):
            read = PREFETCH.get(part.intent)
            HANDLERS[part.intent](turn, part, read(turn, part) if read else [], turn.limit)
    return Preview(
        intents=list(turn.detection.intents),
        prompts=[_shown(prompt) for prompt in seen],
        left_out=turn.hot.left_out,
    )


def _shown(prompt: context.Assembled) -> Prompt:
    parts: Mapping[str, int] = prompt.parts
    return Prompt(
        parts=[Part(name, count) for name, count in parts.items()],
        messages=[(message.role, str(message.content or "")) for message in prompt.messages],
        version=prompt.version,
    )
