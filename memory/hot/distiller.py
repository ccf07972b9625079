"""The small model's part in hot memory: changes that a day asks for, and lines said shorter.

A model only proposes; `memory.hot.distill` and `memory.hot.prune` check what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic, TypeVar

from pydantic import BaseModel, Field

from core.integrations.llm import Message
from core.language.values import PLACEHOLDER
from core.llm import prompts
from core.llm.job_llm import form_of, llm_session, valid_rows
from core.llm.prompts import marked
from memory.hot.proposals import Change
from memory.hot.text import Kind, Line, lines
from projects.models import Project
from study.request_cache import Reader

MAX_TOKENS = 1000
T = TypeVar("T")


@dataclass(frozen=True)
class Item:
    """One stored statement of the day, or a user's feedback counts (id `feedback:…`).

    `is_own`: about the user; otherwise for others to decide.
    """

    id: str
    user_id: str
    text: str
    field: str
    is_own: bool
    at: datetime

    def is_own_of(self, profile: str) -> bool:
        """Whether the user of a profile said it about themselves."""
        return self.is_own and self.user_id.casefold() == profile.casefold()


@dataclass(frozen=True)
class Said(Generic[T]):
    """What a model proposes; `save` writes its usage in the job's transaction."""

    found: Sequence[T]
    save: Callable[[], None]


class Summary(BaseModel):
    """A line that says shorter what `of` (numbers from 1 of the lines handed over) say together."""

    text: str
    of: list[int]


class _Proposed(BaseModel):
    """One change as the model writes it: numbers for lines and evidence."""

    action: str
    section: str
    user_id: str = ""
    line: int = 0
    new: str = ""
    evidence: list[int] = Field(default_factory=list)


CHANGES = form_of(
    "changes",
    action={"type": "string", "enum": ["add", "change", "retire"]},
    section={"type": "string", "enum": ["profiles", "current", "faq", "rules"]},
    user_id={"type": "string"},
    line={"type": "integer"},
    new={"type": "string"},
    evidence={"type": "array", "items": {"type": "integer"}},
)
SHORTER = form_of(
    "summaries", text={"type": "string"}, of={"type": "array", "items": {"type": "integer"}}
)


def propose(project: Project, content: str, items: Sequence[Item]) -> Said[Change]:
    """The well-formed changes that the model makes of a day's statements. Raises ModelDown."""
    there = lines(content)
    told = "\n".join(
        f"[{n}] {item.user_id}({'本人' if item.is_own else '提议'}): {item.text}"
        for n, item in enumerate(items, 1)
    )
    memory = "\n".join(f"{n}: {line.text}" for n, line in enumerate(there, 1))
    said, save = _ask(project, "distill", "distil", CHANGES, memory=memory, items=told)
    rows = valid_rows(_Proposed, said.get("changes"))
    return Said([made for row in rows if (made := _change(row, items, there))], save)


def shorten(project: Project, texts: Sequence[str]) -> Said[Summary]:
    """The model's summaries of these lines. Raises ModelDown."""
    numbered = "\n".join(f"{n}: {text}" for n, text in enumerate(texts, 1))
    said, save = _ask(project, "shorten", "shorten", SHORTER, lines=numbered)
    rows = valid_rows(Summary, said.get("summaries"))
    return Said([row for row in rows if not PLACEHOLDER.search(row.text)], save)


def _ask(
    project: Project, template: str, purpose: str, schema: dict[str, Any], **texts: str
) -> tuple[Mapping[str, Any], Callable[[], None]]:
    """The model's answer to a template filled with de-identified texts, and what writes its usage."""
    with llm_session(Reader(project)) as (llm, gate):
        masked: dict[str, Any] = {name: marked(gate.text(text)) for name, text in texts.items()}
        prompt = prompts.load_prompt(template, **masked)
        done = llm.ask(
            [Message("user", gate.text(prompt.text))],
            purpose=purpose,
            version=prompt.version,
            schema=schema,
            temperature=0,
            max_tokens=MAX_TOKENS,
        )
        return done.json(), llm.save


def _change(row: _Proposed, items: Sequence[Item], there: Sequence[Line]) -> Change | None:
    """The change with line and evidence resolved; None where these, or a masked identifier, mean nothing."""
    if PLACEHOLDER.search(row.new) or any(n not in range(1, len(items) + 1) for n in row.evidence):
        return None
    is_add = row.action == "add"
    old = there[row.line - 1] if not is_add and 0 < row.line <= len(there) else None
    section = Kind(row.section) if row.section in set(Kind) else Kind.OTHER
    kind = old.kind if old else section
    profile = old.profile if old else row.user_id.strip()
    return Change(
        action=row.action,
        kind=kind,
        old=old.text if old else "",
        new="" if row.action == "retire" else row.new,
        profile=profile if kind is Kind.PROFILES else "",
        evidence=tuple(dict.fromkeys(items[n - 1].id for n in row.evidence)),
    )
