"""What the router gives back to a channel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from engines.assistant.say.answer import Table
from engines.assistant.tools import ToolResult
from projects.models import Project


@dataclass(frozen=True)
class ChatReply:
    """The final answer and what it rests on; `project` None: no study was chosen.

    `calls`: of a model. `table`: the whole of what the text shows a part of. `order`: what it offers to start
    (id, title, subjects); a yes starts it. `asked_back`: it is a question to the reader. `choices`: what
    it numbers, as (label, message that it stands for).
    """

    text: str
    project: Project | None = None
    intents: list[str] = field(default_factory=list)
    record_ids: list[str] = field(default_factory=list)
    task_run_ids: list[str] = field(default_factory=list)
    tokens: int = 0
    calls: int = 0
    sources: list[dict[str, Any]] = field(default_factory=list)
    conversation_id: str | None = None
    refused: bool = False
    outside_down: bool = False
    table: Table | None = None
    order: dict[str, Any] | None = None
    asked_back: bool = False
    choices: tuple[tuple[str, str], ...] = ()


@dataclass
class Outcome:
    """One task of a message done: its text, or `finish`, which writes in the last transaction.

    `guided`: nothing was done, the reader is told what to do. `asks`: the text is a question to the reader.
    `choices`: as in the reply.
    """

    text: str = ""
    finish: Callable[[], str] | None = None
    guided: bool = False
    asks: bool = False
    choices: tuple[tuple[str, str], ...] = ()
    results: list[ToolResult] = field(default_factory=list)
    table: Table | None = None
