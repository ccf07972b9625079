"""The one place where a prompt is put together (design.md 4; decisions.md, "prompt layout").

system prompt → chat skill → [Hot Memory] → [History Context] → data and documents → session memory → question.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field

from django.utils.crypto import salted_hmac

from integrations import tokens
from integrations.llm import Message
from llm import prompts
from privacy.gate import Deidentified, Gate
from skills.chat import ChatSkill

QC = "qc_task"
HISTORY_TASKS = frozenset({"query_history", "analyze_trend"})


@dataclass(frozen=True)
class Material:
    """Everything a prompt may hold, sources as numbered lines; the gate is passed on the way in."""

    skill: ChatSkill = field(default_factory=ChatSkill)
    hot: str = ""
    facts: str = ""
    history: str = ""
    data: str = ""
    documents: str = ""
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


@dataclass
class _Builder:
    gate: Gate
    messages: list[Message] = field(default_factory=list)
    parts: dict[str, int] = field(default_factory=dict)
    versions: list[str] = field(default_factory=list)

    def template(self, part: str, name: str, **values: object) -> str:
        prompt = prompts.load(name, 0, **values)
        self.versions.append(prompt.version)
        self.parts[part] = self.parts.get(part, 0) + tokens.count(prompt.text)
        return prompt.text

    def add(self, raw: str) -> None:
        self.messages.append(Message("system", self.gate.text(raw)))


def assemble(
    *,
    gate: Gate,
    task: str,
    question: Deidentified,
    limit: int,
    material: Material,
    system: str = "system",
    **values: object,
) -> Assembled:
    """The prompt of one call. History goes in only for history and trend questions, never for QC."""
    build = _Builder(gate)
    head = [build.template("system", system, limit=limit, **values)]
    if material.skill.system_prompt:
        head.append(build.template("skill", "chat_skill", prompt=material.skill.system_prompt))
        build.versions.append(material.skill.version)
    if material.hot:
        head.append(build.template("hot", "hot", hot=material.hot))
    if material.facts:
        head.append(build.template("facts", "facts", facts=material.facts))
    if material.history and task in HISTORY_TASKS and task != QC:
        head.append(build.template("history", "history", history=material.history))
    build.messages.append(Message("system", gate.blocks(head)))
    if material.data:
        build.add(build.template("data", "data", data=marked(material.data)))
    if material.documents:
        build.add(build.template("documents", "documents", documents=marked(material.documents)))
    if material.session:
        build.add(build.template("session", "session", session=material.session))
    build.parts["question"] = tokens.count(question)
    build.messages.append(Message("user", question))
    done = Assembled(build.messages, build.parts, "+".join(dict.fromkeys(build.versions)))
    if (seen := _watching.get()) is not None:
        seen.append(done)
    return done


def marked(text: str) -> str:
    """Text as data between marks that nobody can foresee, so that nothing in it can pretend to be outside.

    The same text has the same marks: two people who may see the same are shown the same.
    """
    mark = salted_hmac("engines.assistant.context.marked", text).hexdigest()[:6]
    return f"<data {mark}>\n{text}\n</data {mark}>"
