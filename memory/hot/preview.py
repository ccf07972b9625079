"""What would be sent to the LLM for a question: shown in the console, made by whoever assembles prompts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.core.exceptions import ImproperlyConfigured

from projects.models import Member


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


Previewer = Callable[[Member, str], Preview]
_previewers: list[Previewer] = []


def register(previewer: Previewer) -> None:
    """Set the one assembler of the house."""
    _previewers[:] = [previewer]


def preview(member: Member, question: str) -> Preview:
    """What `member` asking `question` would send; nothing is sent or written. Raises ImproperlyConfigured."""
    if not _previewers:
        raise ImproperlyConfigured("no prompt assembler is registered")
    return _previewers[0](member, question)
