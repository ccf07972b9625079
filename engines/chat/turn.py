"""The state of one message on its way through the router."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from engines.intents import Detection, Part
from engines.llm import Llm
from engines.tools import ToolContext, ToolResult
from engines.tools.fields import FieldNames, field_names
from integrations.privacy import Deidentified, Gate
from memory import hot, session
from memory.agent import book
from memory.models import MemoryQuestion
from memory.visibility import Scope
from projects.models import Member, Project

LIMIT = 150


@dataclass
class Turn:
    """Everything that one message needs; made by the router, read by the handlers.

    `answered`: our question about the reader that the message answers, and the value it gives.
    """

    project: Project
    member: Member
    text: str
    detection: Detection
    gate: Gate
    llm: Llm
    context: ToolContext
    scope: Scope
    names: dict[str, list[str]]
    session: session.Session
    hot: hot.Injection
    facts: str
    limit: int
    at: datetime
    trace: list[dict[str, Any]] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    task_runs: list[str] = field(default_factory=list)
    outside_down: bool = False
    success: bool = True
    answered: tuple[MemoryQuestion, book.Detail] | None = None

    @cached_property
    def fields(self) -> FieldNames:
        """The names of the study's fields."""
        return field_names(self.context.metadata, self.context.aliases)

    def question(self, part: Part) -> Deidentified:
        """The task as it may go out: names already turned into record ids, identifiers masked."""
        return self.gate.text(self.resolved(part.text), own=True)

    def resolved(self, text: str) -> str:
        """Names of subjects the reader may see, replaced by their record ids (E47)."""
        return resolve(text, self.names)

    def note(self, what: str, **more: Any) -> None:
        """Add an item to the trace, de-identified."""
        item = {"iteration": len(self.trace), "thought": what}
        self.trace.append(
            item | {key: str(self.gate.text(str(v)))[:200] for key, v in more.items()}
        )

    def read(self, result: ToolResult) -> ToolResult:
        """Keep what a tool gave back; its identifiers are masked from now on."""
        self.gate.learn(result.secrets)
        self.results.append(result)
        self.outside_down |= result.outside_down
        return result


def resolve(text: str, names: dict[str, list[str]]) -> str:
    """`text` with subjects' names replaced by their record ids; longer names first."""
    for name, ids in sorted(names.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(name, "、".join(ids))
    return text
