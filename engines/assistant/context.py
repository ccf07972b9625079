"""The one place where a prompt is put together (design.md 4; decisions.md, "prompt layout").

system prompt → chat skill → [Hot Memory] → own facts → session memory → question, with its numbered lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from core.integrations import tokens
from core.integrations.llm import Message
from core.llm import prompts
from core.llm.prompts import Prompt
from core.privacy.gate import Deidentified, Gate
from skills.chat import ChatSkill


@dataclass(frozen=True)
class Material:
    """What comes with a prompt beside its own text; the gate is passed on the way in."""

    skill: ChatSkill = field(default_factory=ChatSkill)
    hot: str = ""
    facts: str = ""
    session: str = ""


@dataclass(frozen=True)
class Assembled:
    """Messages ready to send, with the tokens of each part and the versions of the templates."""

    messages: list[Message]
    parts: dict[str, int]
    version: str

    @property
    def tokens(self) -> int:
        """All parts together."""
        return sum(self.parts.values())


_watching: ContextVar[list[Assembled] | None] = ContextVar("watching", default=None)


@contextmanager
def watched() -> Iterator[list[Assembled]]:
    """Every prompt put together by this thread inside the block (the console's "what would be sent?")."""
    seen: list[Assembled] = []
    token = _watching.set(seen)
    try:
        yield seen
    finally:
        _watching.reset(token)


def assemble(
    *, gate: Gate, system: Prompt, question: Deidentified, material: Material
) -> Assembled:
    """The prompt of one call of the chat: `system` says what is to be done, `question` what it is about."""
    skill = material.skill
    head = [("system", system)]
    if skill.system_prompt:
        said = prompts.load_prompt("chat_skill", prompt=skill.system_prompt)
        head.append(("skill", Prompt(said.text, f"{said.version}+{skill.version}")))
    if material.hot:
        head.append(("hot", prompts.load_prompt("hot", hot=material.hot)))
    if material.facts:
        head.append(("facts", prompts.load_prompt("facts", facts=material.facts)))
    messages = [Message("system", gate.blocks([block.text for _part, block in head]))]
    if material.session:
        head.append(("session", prompts.load_prompt("session", session=material.session)))
        messages.append(Message("system", gate.text(head[-1][1].text)))
    messages.append(Message("user", question))
    parts = {part: tokens.count(block.text) for part, block in head}
    done = Assembled(
        messages,
        parts | {"question": tokens.count(question)},
        "+".join(dict.fromkeys(block.version for _part, block in head)),
    )
    if (seen := _watching.get()) is not None:
        seen.append(done)
    return done
