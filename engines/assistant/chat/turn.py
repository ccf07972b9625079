"""The state of one message on its way through the router."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db.models import Max
from django.utils.timezone import localtime

from engines.assistant.intents import Detection, Part
from engines.assistant.tools import ToolContext, ToolResult
from engines.assistant.understand import State
from engines.models import Review
from engines.models.traces import OPEN
from language.values import PLACEHOLDER
from llm.asking import Llm
from memory import session
from memory.hot import injection
from memory.models import MemoryQuestion
from memory.people import fact_store
from memory.visibility import Scope
from privacy.gate import Deidentified, Gate
from projects.endpoints import Purpose
from projects.models import Member, Project
from skills.chat import ChatSkill
from study import terms
from study.blinding import veil
from study.design import StudyDesign
from study.designs import design_of, genes
from study.request_cache import Reader, Roster

LIMIT = 150


@dataclass
class Turn:
    """Everything that one message needs; made by the router, read by the handlers.

    `answered`: our question about the reader that the message answers, and the value it gives. `talk`: what
    follow-ups refer to; `is_open`: it was asked back, or the study does not collect what was asked for.
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
    hot: injection.Injection
    facts: str
    limit: int
    at: datetime
    skill: ChatSkill = field(default_factory=ChatSkill)
    answer_id: UUID | None = None
    trace: list[dict[str, Any]] = field(default_factory=list)
    versions: list[str] = field(default_factory=list)
    results: list[ToolResult] = field(default_factory=list)
    task_runs: list[str] = field(default_factory=list)
    outside_down: bool = False
    success: bool = True
    answered: tuple[MemoryQuestion, fact_store.Detail] | None = None
    talk: State = field(default_factory=State)
    is_open: bool = False

    @property
    def has_model(self) -> bool:
        """Whether the study lets a model word answers."""
        return self.skill.switches.model

    @property
    def engines(self) -> Llm:
        """The model of the engines, for answers in several steps."""
        return self.llm.of(Purpose.ENGINES)

    @cached_property
    def roster(self) -> Roster:
        """The stored roster with what this reader may see of it."""
        reader = self.context.reader or Reader(self.project, self.member)
        return reader.roster

    @cached_property
    def withheld(self) -> frozenset[str]:
        """Fields of genes: nothing the assistant says tells them (redcap_dify.md 5.2); and what is blinded."""
        hidden = veil.of_member(self.project, self.member).fields
        return genes(self.context.metadata) | hidden

    @cached_property
    def design(self) -> StudyDesign:
        """The study as this reader's questions may speak of it."""
        return design_of(self.project, self.withheld)

    @cached_property
    def sites(self) -> Mapping[str, str]:
        """The sites that the reader may see: code -> label."""
        known, own = self.context.metadata.sites, self.member.site
        return {own: known.get(own, own)} if own else known

    @cached_property
    def terms(self) -> Mapping[str, frozenset[str]]:
        """What the rows that the reader may see are called."""
        return terms.of_members(self.project, self.design, self.member)

    @cached_property
    def reviewed(self) -> str:
        """When the last review of the reader's subjects was decided (ISO, the study's zone), "" for never."""
        mine = Review.objects.filter(project=self.project, record_id__in=self.roster.present)
        at = mine.aggregate(last=Max("decided_at"))["last"]
        here = localtime(at, ZoneInfo(self.project.timezone)) if at else None
        return here.replace(tzinfo=None).isoformat("T", "seconds") if here else ""

    def keep(self, talk: State) -> None:
        """What the next message may refer to; nothing where it names somebody."""
        kept = json.dumps(talk.as_json(), ensure_ascii=False)
        self.talk = talk if self.tells_nobody(kept) else State()

    def plain(self, text: str) -> str:
        """De-identified, only the kind of what was masked is told: also what the reader typed stays masked."""
        return PLACEHOLDER.sub(lambda found: f"[{found[1]}]", str(self.gate.text(text)))

    def tells_nobody(self, text: str) -> bool:
        """Whether the privacy gate has nothing to mask in a text."""
        return str(self.gate.text(text)) == text

    def question(self, part: Part) -> Deidentified:
        """The task as it may go out: names already turned into record ids, identifiers masked."""
        return self.gate.text(self.resolved(part.text), own=True)

    def resolved(self, text: str) -> str:
        """Names of subjects the reader may see, replaced by their record ids (E47)."""
        return resolve(text, self.names)

    def note(self, what: str, *, spans: Sequence[Mapping[str, Any]] = (), **more: Any) -> None:
        """Add an item to the trace, de-identified; `spans`: of an answer, with the lines behind them."""
        item: dict[str, Any] = {"iteration": len(self.trace), "thought": what}
        item |= {key: str(self.gate.text(str(v)))[:200] for key, v in more.items()}
        self.trace.append(item | ({"spans": json.loads(self.gate.data(spans))} if spans else {}))

    def not_understood(self, words: Iterable[str]) -> None:
        """Keep the question for those who teach the house the study's words."""
        self.is_open = True
        for word in words:
            self.note(OPEN, observation=word)

    def read(self, result: ToolResult) -> ToolResult:
        """Keep what a tool gave back."""
        self.results.append(result)
        self.outside_down |= result.outside_down
        return result


def resolve(text: str, names: dict[str, list[str]]) -> str:
    """`text` with subjects' names replaced by their record ids; longer names first."""
    for name, ids in sorted(names.items(), key=lambda pair: -len(pair[0])):
        text = text.replace(name, "、".join(ids))
    return text
